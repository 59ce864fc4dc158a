"""Random timelines against a plain reading of the rules, with Python's own whole numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from fixed_scene import RULES, fixed_scene, whole_noise
from hypothesis import given, settings
from hypothesis import strategies as st
from mix_world import reference

from cares.core.pcm import samples_digest, write_samples
from cares.mix.backend import NumpyBackend, make_backend
from cares.mix.engine import EXACT_BITS
from cares.mix.render import render, render_batch, render_exact, stem_names
from cares.mix.tables import FADE_BITS, GAIN_BITS, duck_table, fade_table, gain_multiplier
from cares.records.timeline import Clip, Duck, Timeline

SOURCE = whole_noise(11, 2_000, 13)
RESPONSES = np.array([1 << 20, *(whole_noise(12, 700, 17).astype(int) * 4 + (1 << 12)), 0, 0, 0], np.int32)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("random timelines")
    write_samples(folder / "source.flac", SOURCE)
    (folder / "data/rooms").mkdir(parents=True)
    np.save(folder / "data/rooms/responses.npy", RESPONSES)
    return folder


@st.composite
def clips(draw: st.DrawFn, n_samples: int, track: str, event: int | None) -> Clip:
    length = draw(st.integers(1, min(len(SOURCE), n_samples)))
    fade_in = draw(st.integers(0, length))
    response = None
    if track != "ambience" and draw(st.booleans()):
        taps = draw(st.integers(1, len(RESPONSES)))
        response = reference(RESPONSES, draw(st.integers(0, len(RESPONSES) - taps)), taps)
    return Clip(
        track=track,  # type: ignore[arg-type]
        event=event,
        path="source.flac",
        pcm_sha256=samples_digest(SOURCE),
        source_start=draw(st.integers(0, len(SOURCE) - length)),
        n_samples=length,
        at_sample=draw(st.integers(0, n_samples - length)),
        gain_cdb=draw(st.integers(-6_000, -1_800)),
        fade_in=fade_in,
        fade_out=draw(st.integers(0, length)),
        response=response,
    )


@st.composite
def random_timelines(draw: st.DrawFn) -> Timeline:
    n_samples = draw(st.integers(1, 3_000))
    tracks = draw(st.lists(st.sampled_from(["A", "B", "ambience"]), max_size=4))
    drawn = [draw(clips(n_samples, track, None)) for track in tracks]
    drawn += [draw(clips(n_samples, "event", event)) for event in range(draw(st.integers(0, 3)))]
    ducks = []
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, n_samples - 1))
        end = draw(st.integers(start + 1, n_samples))
        depth, ramp = draw(st.integers(0, 1_200)), draw(st.integers(0, 400))
        ducks.append(Duck(start_sample=start, end_sample=end, depth_cdb=depth, ramp_samples=ramp, reason="peak"))
    return Timeline(
        scene_id="t00000-0", template_id="t00000", split="train", location="park", genders=("F", "M"),
        n_samples=n_samples, room_id="r", ambience_take="a", clips=tuple(drawn), ducks={"A": tuple(ducks), "B": ()},
        master_gain_cdb=draw(st.integers(-2_000, 300)), master_lufs_cdb=0, words=(), events=(), gaps=(), rules=RULES,
    )  # fmt: skip


def halved(value: int, bits: int) -> int:
    """Half to even, by Python's rule for fractions."""
    return round(Fraction(value, 1 << bits))


def plain(timeline: Timeline) -> list[int]:
    """The order of operations of docs/mixing.md, one sample after the other."""
    total = [0] * timeline.n_samples
    for track in ("A", "B", "event", "ambience"):
        stem = [0] * timeline.n_samples
        for clip in timeline.clips:
            if clip.track == track:
                for at, value in enumerate(plain_clip(clip), clip.at_sample):
                    if at < len(stem):
                        stem[at] += value
        for duck in timeline.ducks.get(track, ()):  # type: ignore[call-overload]
            table = duck_table(duck.end_sample - duck.start_sample, duck.depth_cdb, duck.ramp_samples)
            for at in range(duck.start_sample, duck.end_sample):
                stem[at] = halved(stem[at] * int(table[at - duck.start_sample]), GAIN_BITS)
        total = [one + other for one, other in zip(total, stem, strict=True)]
    return [value * gain_multiplier(timeline.master_gain_cdb) for value in total]


def plain_clip(clip: Clip) -> list[int]:
    samples = [int(value) for value in SOURCE[clip.source_start :][: clip.n_samples]]
    for at in range(clip.fade_in):
        samples[at] = halved(samples[at] * int(fade_table(clip.fade_in)[at]), FADE_BITS)
    for at in range(clip.fade_out):
        place = clip.n_samples - 1 - at
        samples[place] = halved(samples[place] * int(fade_table(clip.fade_out)[at]), FADE_BITS)
    heard = [value << 12 for value in samples]
    if clip.response:
        taps = RESPONSES[clip.response.offset :][: clip.response.n_samples].astype(np.int64)
        heard = [halved(int(value), 8) for value in np.convolve(np.array(samples, np.int64), taps)]
    return [halved(value * gain_multiplier(clip.gain_cdb), GAIN_BITS) for value in heard]


@settings(max_examples=60, deadline=None)
@given(timeline=random_timelines(), window=st.integers(1, 3_000))
def test_engine_reads_the_rules_as_they_are_written(root: Path, timeline: Timeline, window: int) -> None:
    backend = NumpyBackend()
    backend.window_samples = window
    exact = render_exact("t00000-0", [timeline], root, backend)
    assert exact.tolist() == plain(timeline)
    finished = render("t00000-0", [timeline], root, make_backend("torch-cpu"))
    assert finished.tolist() == [halved(value, EXACT_BITS) for value in exact.tolist()]


@settings(max_examples=30, deadline=None)
@given(timeline=random_timelines())
def test_stems_and_counterfactuals_of_random_timelines(root: Path, timeline: Timeline) -> None:
    one = ("t00000-0", [timeline], root, NumpyBackend())
    exact = render_exact(*one)
    assert np.array_equal(sum(render_exact(*one, stem=name) for name in stem_names(timeline)), exact)
    for clip in timeline.clips:
        if clip.event is not None:
            changed = np.flatnonzero(render_exact(*one, muted=[clip.event]) != exact)
            tail = clip.response.n_samples - 1 if clip.response else 0
            assert all(clip.at_sample <= at < clip.at_sample + clip.n_samples + tail for at in changed)


@settings(max_examples=15, deadline=None)
@given(scenes=st.lists(random_timelines(), min_size=1, max_size=5))
def test_batches_of_random_timelines(root: Path, scenes: list[Timeline]) -> None:
    batch = render_batch(scenes, root, make_backend("torch-cpu"))
    for timeline, samples in zip(scenes, batch, strict=True):
        assert np.array_equal(samples, render("t00000-0", [timeline], root, NumpyBackend()))


@pytest.mark.parametrize("taps", ["one sample", "10 s", "silence", "a later echo only"])
def test_responses_of_every_kind(tmp_path: Path, taps: str) -> None:
    timeline = fixed_scene(tmp_path)
    response = {
        "one sample": np.array([1 << 19]),
        "10 s": np.concatenate([[1 << 20], whole_noise(21, 441_000, 14).astype(int) // 8]),
        "silence": np.zeros(5_000, int),
        "a later echo only": np.concatenate([np.zeros(4_999, int), [1 << 20]]),
    }[taps]
    np.save(tmp_path / "data/rooms/responses.npy", response.astype(np.int32))
    whole = reference(response, 0, len(response))
    alone = [clip.model_copy(update={"response": whole, "gain_cdb": -600}) for clip in timeline.clips[3:4]]
    scene = timeline.model_copy(update={"clips": tuple(alone), "master_gain_cdb": 0})
    samples = render("t00000-0", [scene], tmp_path, NumpyBackend())
    assert np.array_equal(samples, render("t00000-0", [scene], tmp_path, make_backend("torch-cpu")))
    first = alone[0].at_sample
    end = min(scene.n_samples, first + alone[0].n_samples + len(response) - 1)
    assert not samples[:first].any()
    assert not samples[end:].any()
    assert samples.any() == (taps != "silence")
    if taps == "10 s":
        assert samples[first + 3 * 44_100 :].any()
    if taps == "a later echo only":
        assert not samples[first : first + 4_999].any()
