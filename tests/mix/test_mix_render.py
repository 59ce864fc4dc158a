"""Rendering: the same integers everywhere, stems that add up, exact counterfactuals."""

from __future__ import annotations

import numpy as np
import pytest
from mix_world import World

from cares.core.errors import CaresError
from cares.mix.backend import NumpyBackend, make_backend
from cares.mix.engine import TRACKS, Mixer
from cares.mix.render import render
from cares.mix.sources import Sources
from cares.records.timeline import Timeline


def test_backends_and_block_sizes_give_the_same_file(world: World, timelines: list[Timeline]) -> None:
    timeline = timelines[0]
    expected = render(timeline.scene_id, timelines, world.root, NumpyBackend())
    torch = make_backend("torch")
    assert np.array_equal(render(timeline.scene_id, timelines, world.root, torch), expected)
    for backend, size in ((NumpyBackend(), 1 << 12), (torch, 1 << 14)):
        mixer = Mixer(Sources(world.root), backend, size)
        assert np.array_equal(mixer.finish(mixer.total(timeline), timeline.master_gain_cdb), expected)


def test_stems_add_up_exactly_before_the_final_rounding(world: World, timelines: list[Timeline]) -> None:
    for timeline in timelines:
        mixer = Mixer(Sources(world.root), NumpyBackend())
        stems = [mixer.stem(timeline, track) for track in TRACKS]
        assert all(stem.any() for stem in stems)
        assert all(len(stem) == timeline.n_samples for stem in stems)
        assert np.array_equal(sum(stems), mixer.total(timeline))
        rounded = [render(timeline.scene_id, timelines, world.root, NumpyBackend(), stem=track) for track in TRACKS]
        mix = render(timeline.scene_id, timelines, world.root, NumpyBackend())
        assert np.abs(sum(stem.astype(int) for stem in rounded) - mix).max() <= 2


def test_muting_an_event_changes_only_where_it_sounded(world: World, timelines: list[Timeline]) -> None:
    timeline = timelines[0]
    mix = render(timeline.scene_id, timelines, world.root, NumpyBackend())
    for event in timeline.events:
        muted = render(timeline.scene_id, timelines, world.root, NumpyBackend(), mute_event=event.event)
        changed = np.flatnonzero(mix != muted)
        (clip,) = [clip for clip in timeline.clips if clip.event == event.event]
        assert clip.response is not None
        assert event.start_sample <= changed[0]
        assert changed[-1] < event.end_sample + clip.response.n_samples
        assert len(changed) > 0.9 * (event.end_sample - event.start_sample)


def test_unknown_scene_and_event_are_errors(world: World, timelines: list[Timeline]) -> None:
    with pytest.raises(CaresError, match=r"did you mean .*t00000-0"):
        render("t0000-0", timelines, world.root, NumpyBackend())
    with pytest.raises(CaresError, match=r"no event 3.*\[0, 1, 2\]"):
        render("t00000-0", timelines, world.root, NumpyBackend(), mute_event=3)


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
