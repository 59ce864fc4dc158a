"""Clips to samples: exact places, exact sums, and errors instead of damage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fixed_scene import fixed_scene
from hypothesis import given, settings
from hypothesis import strategies as st
from mix_world import reference

from cares.core.errors import CaresError, InputError
from cares.core.pcm import samples_digest, write_samples
from cares.mix.backend import NumpyBackend
from cares.mix.engine import STEM_BITS, Mixer, finish, parts_of
from cares.mix.render import render
from cares.mix.sources import Sources
from cares.records.timeline import Clip, Duck

SOURCE = np.random.default_rng(5).integers(-20_000, 20_000, 3000).astype(np.int16)
RESPONSES = np.array([1 << 20, 0, 1 << 19, 7], np.int32)
SCENE = 5000


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engine")
    write_samples(folder / "take.flac", SOURCE)
    (folder / "data/rooms").mkdir(parents=True)
    np.save(folder / "data/rooms/responses.npy", RESPONSES)
    return folder


def clip(**changes: object) -> Clip:
    values = {
        "track": "event",
        "event": 0,
        "path": "take.flac",
        "pcm_sha256": samples_digest(SOURCE),
        "source_start": 0,
        "n_samples": len(SOURCE),
        "at_sample": 0,
        "gain_cdb": 0,
    }
    return Clip.model_validate(values | changes)


def mixed(root: Path, *clips: Clip, ducks: tuple[Duck, ...] = ()) -> np.ndarray:
    for one in clips:
        if one.at_sample + one.n_samples > SCENE:
            raise AssertionError("use a timeline for clips that reach beyond the scene")
    return finish(Mixer(Sources(root), NumpyBackend()).stretch(clips, 0, SCENE, ducks), 0, NumpyBackend())


@pytest.mark.parametrize("at", [0, 1, SCENE - len(SOURCE)])
def test_first_and_last_sample_are_exact(root: Path, at: int) -> None:
    found = mixed(root, clip(at_sample=at))
    assert np.array_equal(found[at : at + len(SOURCE)], SOURCE)
    assert not found[:at].any()
    assert not found[at + len(SOURCE) :].any()


def test_response_is_applied_and_its_tail_ends_with_the_scene(root: Path) -> None:
    response = reference(RESPONSES, 0, 4)
    at = SCENE - len(SOURCE)
    found = mixed(root, clip(at_sample=at, response=response, gain_cdb=-600))
    exact = np.convolve(SOURCE.astype(np.int64), [1 << 20, 0, 1 << 19, 7])[: len(SOURCE)] / 2**20 * 10 ** (-6 / 20)
    assert np.abs(found[at:] - exact).max() <= 0.51


def test_clip_that_ends_after_the_scene_is_an_error(tmp_path: Path) -> None:
    timeline = fixed_scene(tmp_path)
    shorter = timeline.model_copy(update={"n_samples": timeline.n_samples - 1})
    with pytest.raises(CaresError, match="after the scene"):
        parts_of(shorter)


def test_overflow_is_an_error_not_a_wrap(root: Path) -> None:
    with pytest.raises(CaresError, match="overflows 16 bits"):
        mixed(root, clip(gain_cdb=600))
    with pytest.raises(CaresError, match="overflows"):
        finish(np.array([1 << 50]), 6000, NumpyBackend())


def test_final_rounding_is_half_to_even() -> None:
    half = 1 << (STEM_BITS - 1)
    values = np.array([half, 3 * half, -half, -3 * half, 5 * half])
    assert finish(values, 0, NumpyBackend()).tolist() == [0, 2, 0, -2, 2]


def test_fades_touch_only_the_ends(root: Path) -> None:
    found = mixed(root, clip(fade_in=100, fade_out=200))
    assert np.array_equal(found[100:2800], SOURCE[100:2800])
    assert abs(int(found[0])) <= abs(int(SOURCE[0])) * 0.01 + 1
    assert abs(int(found[2999])) <= abs(int(SOURCE[2999])) * 0.01 + 1
    with pytest.raises(CaresError, match="fade is longer"):
        mixed(root, clip(fade_in=3001))


def test_duck_changes_only_its_span(root: Path) -> None:
    duck = Duck(start_sample=500, end_sample=4999, depth_cdb=400, ramp_samples=100, reason="event")
    found = mixed(root, clip(), ducks=(duck,))
    assert np.array_equal(found[:500], SOURCE[:500])
    assert np.allclose(found[600:3000], SOURCE[600:] * 10 ** (-4 / 20), atol=0.51)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(-6000, -1500)), min_size=1, max_size=6))
def test_order_of_clips_changes_nothing(root: Path, places: list[tuple[int, int]]) -> None:
    clips = [clip(at_sample=at, gain_cdb=gain) for at, gain in places]
    assert np.array_equal(mixed(root, *clips), mixed(root, *reversed(clips)))


def test_changed_source_is_an_error(root: Path) -> None:
    with pytest.raises(InputError, match=r"take\.flac"):
        mixed(root, clip(pcm_sha256="0" * 64))


def test_missing_source_is_an_error(root: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.flac"):
        mixed(root, clip(path="gone.flac"))


def test_stretch_beyond_the_source_is_an_error(root: Path) -> None:
    with pytest.raises(CaresError, match="has 3000 samples"):
        mixed(root, clip(source_start=1))


def test_a_changed_response_is_an_error_that_names_its_file(tmp_path: Path) -> None:
    timeline = fixed_scene(tmp_path)
    path = tmp_path / "data/rooms/responses.npy"
    taps = np.load(path)
    taps[200] += 1
    np.save(path, taps)
    with pytest.raises(InputError, match=r"responses\.npy: room: 300 integers from 1: got '.*', expected SHA-256 "):
        render("t00000-0", [timeline], tmp_path, NumpyBackend())


def test_responses_that_are_short_or_of_another_type_are_errors(root: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"responses\.npy"):
        mixed(root, clip(response=reference(RESPONSES, 2, 3)))
    one = reference(RESPONSES, 0, 1)
    with pytest.raises(InputError, match="no such file"):
        Sources(tmp_path).taps(one)
    (tmp_path / "data/rooms").mkdir(parents=True)
    np.save(tmp_path / "data/rooms/responses.npy", np.zeros(3))
    with pytest.raises(InputError, match="int32"):
        Sources(tmp_path).taps(one)
    (tmp_path / "data/rooms/responses.npy").write_bytes(b"no array")
    with pytest.raises(InputError, match=r"\.npy file"):
        Sources(tmp_path).taps(one)
