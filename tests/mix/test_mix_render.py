"""Rendering: the same integers everywhere, stems that add up, exact counterfactuals."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.fft
import torch
from fixed_scene import GOLDEN, fixed_scene
from mix_world import World

from cares.core.errors import CaresError
from cares.core.pcm import encode, samples_digest
from cares.mix.backend import Backend, NumpyBackend, make_backend
from cares.mix.engine import EXACT_BITS, Mixer
from cares.mix.render import render, render_batch, render_exact, select, stem_names
from cares.mix.sources import Sources
from cares.mix.tables import round_shift
from cares.records.timeline import Timeline

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["numpy", "torch-cpu"])
@pytest.mark.parametrize("size", [None, 1 << 11, 1 << 13, 1 << 16])
def test_whole_numbers_make_the_golden_scene(tmp_path: Path, name: str, size: int | None) -> None:
    """The sum was taken before the engine worked in windows, with parts of responses, and in batches."""
    timeline = fixed_scene(tmp_path)
    mixer = Mixer(Sources(tmp_path), make_backend(name), size)
    assert samples_digest(mixer.finished(select(timeline), timeline.master_gain_cdb)) == GOLDEN


@pytest.mark.parametrize("window", [1_000, 44_100, 1 << 20])
def test_the_window_changes_no_sample(tmp_path: Path, window: int) -> None:
    timeline, backend = fixed_scene(tmp_path), NumpyBackend()
    backend.window_samples = window
    assert samples_digest(render("t00000-0", [timeline], tmp_path, backend)) == GOLDEN


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_of_torch_change_no_sample(tmp_path: Path, threads: int) -> None:
    timeline, before = fixed_scene(tmp_path), torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert torch.get_num_threads() == threads
        assert samples_digest(render("t00000-0", [timeline], tmp_path, make_backend("torch-cpu"))) == GOLDEN
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_of_scipy_change_no_sample(tmp_path: Path, threads: int) -> None:
    timeline = fixed_scene(tmp_path)
    with scipy.fft.set_workers(threads):
        assert samples_digest(render("t00000-0", [timeline], tmp_path, NumpyBackend())) == GOLDEN


@pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device")
@pytest.mark.parametrize("size", [None, 1 << 11, 1 << 16])
def test_the_golden_scene_on_cuda(tmp_path: Path, size: int | None) -> None:
    timeline, backend = fixed_scene(tmp_path), make_backend("torch-cuda")
    mixer = Mixer(Sources(tmp_path), backend, size)
    assert samples_digest(mixer.finished(select(timeline), timeline.master_gain_cdb)) == GOLDEN
    batch = render_batch([timeline] * 3, tmp_path, backend)
    assert [samples_digest(samples) for samples in batch] == [GOLDEN] * 3


@pytest.mark.skipif("CARES_OTHER_PYTHON" not in os.environ, reason="CARES_OTHER_PYTHON names no other environment")
def test_another_version_of_numpy_makes_the_same_scene() -> None:
    done = subprocess.run(
        [os.environ["CARES_OTHER_PYTHON"], str(HERE / "fixed_scene.py")],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"numpy {np.__version__}," not in done.stdout
    assert GOLDEN in done.stdout


def test_backends_and_block_sizes_give_the_same_file(world: World, timelines: list[Timeline]) -> None:
    timeline = timelines[0]
    expected = encode(render(timeline.scene_id, timelines, world.root, NumpyBackend()), container="WAV")
    torch = make_backend("torch")
    assert encode(render(timeline.scene_id, timelines, world.root, torch), container="WAV") == expected
    backends: tuple[tuple[Backend, int], ...] = ((NumpyBackend(), 1 << 12), (torch, 1 << 14), (NumpyBackend(), 1 << 17))
    for backend, size in backends:
        mixer = Mixer(Sources(world.root), backend, size)
        finished = mixer.finished(select(timeline), timeline.master_gain_cdb)
        assert encode(finished, container="WAV") == expected


@pytest.mark.parametrize("name", ["numpy", "torch-cpu"])
def test_a_batch_of_scenes_equals_one_by_one(world: World, timelines: list[Timeline], name: str) -> None:
    backend = make_backend(name)
    batch = render_batch(timelines, world.root, backend)
    for timeline, samples in zip(timelines, batch, strict=True):
        alone = render(timeline.scene_id, timelines, world.root, NumpyBackend())
        assert np.array_equal(samples, alone)
    assert render_batch([], world.root, backend) == []


def test_stems_add_up_exactly_before_the_final_rounding(world: World, timelines: list[Timeline]) -> None:
    for timeline in timelines:
        one = (timeline.scene_id, timelines, world.root, NumpyBackend())
        stems = [render_exact(*one, stem=name) for name in stem_names(timeline)]
        assert len(stems) == 3 + len(timeline.events)
        assert all(stem.any() and len(stem) == timeline.n_samples for stem in stems)
        exact = render_exact(*one)
        assert np.array_equal(sum(stems), exact)
        assert np.array_equal(round_shift(exact, EXACT_BITS), render(*one))
        assert np.array_equal(render_exact(*one, stem="event"), sum(stems[2:-1]))
        rounded = [render(*one, stem=name).astype(int) for name in stem_names(timeline)]
        assert np.abs(sum(rounded) - render(*one)).max() <= (len(stems) + 1) / 2


def test_muting_events_changes_only_where_they_sounded(world: World, timelines: list[Timeline]) -> None:
    for timeline in timelines:
        one = (timeline.scene_id, timelines, world.root, NumpyBackend())
        mix, numbers = render(*one), [event.event for event in timeline.events]
        for muted in [*([number] for number in numbers), numbers]:
            without = render(*one, muted=muted)
            sounding = np.zeros(timeline.n_samples, bool)
            for clip in timeline.clips:
                if clip.event in muted:
                    assert clip.response is not None
                    sounding[clip.at_sample :][: clip.n_samples + clip.response.n_samples - 1] = True
            changed = mix != without
            assert not changed[~sounding].any()
            assert changed.sum() > 0.8 * sum(
                event.end_sample - event.start_sample for event in timeline.events if event.event in muted
            )
        exact = render_exact(*one) - render_exact(*one, muted=numbers)
        assert np.array_equal(exact, render_exact(*one, stem="event"))


def test_unknown_scene_event_and_stem_are_errors(world: World, timelines: list[Timeline]) -> None:
    with pytest.raises(CaresError, match=r"did you mean .*t00000-0"):
        render("t0000-0", timelines, world.root, NumpyBackend())
    with pytest.raises(CaresError, match=r"no event 3.*\[0, 1, 2\]"):
        render("t00000-0", timelines, world.root, NumpyBackend(), muted=[0, 3])
    with pytest.raises(CaresError, match=r"no stem 'C'; it has A, B, event:0, event:1, event:2, ambience"):
        render("t00000-0", timelines, world.root, NumpyBackend(), stem="C")


def test_annotations_lie_inside_the_file(timelines: list[Timeline]) -> None:
    for timeline in timelines:
        ends = [0]
        for word in timeline.words:
            assert 0 <= word.start_sample <= word.end_sample <= timeline.n_samples
            assert word.start_sample >= ends[-1]
            ends.append(word.end_sample)
        for event in timeline.events:
            assert 0 <= event.start_sample < event.end_sample <= timeline.n_samples
            assert event.gap_end <= timeline.n_samples


def test_annotated_words_are_where_their_energy_is(world: World, timelines: list[Timeline]) -> None:
    timeline = timelines[1]
    voices = [render(timeline.scene_id, timelines, world.root, NumpyBackend(), stem=voice) for voice in ("A", "B")]
    loud = sum(np.square(voice.astype(float)) for voice in voices)
    running = np.concatenate(([0.0], np.cumsum(loud)))
    inside = sum(running[word.end_sample] - running[word.start_sample] for word in timeline.words)
    assert inside > 0.9 * running[-1]
