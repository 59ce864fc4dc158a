"""The placement laws: gaps, positions, decoys, and that none of them knows the label."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mix_world import RATE, TIMELINE, World

from cares.core.errors import InputError
from cares.core.pcm import read_samples
from cares.mix.edges import WINDOW, quiet_point, spoken_span
from cares.mix.params import TimelineParams, to_samples
from cares.mix.pieces import Piece, PlacingError, boundaries, build_strip, settled_boundary
from cares.mix.placement import Placement, Placer
from cares.mix.timeline import SceneInputs
from cares.records.scene import Composition, Reaction, Scene
from cares.records.speech import Word


def place(
    world: World,
    item: SceneInputs,
    lengths: list[int],
    params: TimelineParams = TIMELINE,
    seed: int = 1,
    scene: Scene | None = None,
) -> Placement:
    samples = read_samples(world.root / item.speech.path)
    strip = build_strip(item.dialogue, item.speech, item.alignment, samples)
    return Placer(scene or item.scene, lengths, params, seed).place(strip, samples)


def relabelled(scene: Scene, labels: list[Reaction]) -> Scene:
    counts = {label: labels.count(label) for label in ("pivot", "verbal", "behavioral", "ambient")}
    events = [e.model_copy(update={"reaction": r}) for e, r in zip(scene.events, labels, strict=True)]
    return scene.model_copy(update={"events": tuple(events), "composition": Composition.model_validate(counts)})


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 2), st.lists(st.integers(50, 400_000), min_size=3, max_size=3))
def test_laws_hold(world: World, seed: int, which: int, lengths: list[int]) -> None:
    item = world.inputs[which]
    lengths = lengths[: len(item.scene.events)]
    placed = place(world, item, lengths, seed=seed)
    low, high = (to_samples(limit) for limit in TIMELINE.gap_ms)
    assert all(low <= gap.end - gap.start <= high for gap in placed.gaps)
    edges = [(start, start + piece.n_samples) for piece, start in zip(placed.pieces, placed.starts, strict=True)]
    for (_, end), gap, (start, _) in zip(edges[:-1], placed.gaps, edges[1:], strict=True):
        assert (gap.start, gap.end) == (end, start)
    assert sum(piece.turn != after.turn for piece, after in pairwise(placed.pieces)) == sum(
        gap.joint.kind == "turn" for gap in placed.gaps
    )
    spans = [placed.spans[event] for event in range(len(lengths))]
    for event, (span, length) in enumerate(zip(spans, lengths, strict=True)):
        gap = next(gap for gap in placed.gaps if gap.joint.event == event)
        assert gap.joint.kind == "word"
        assert 0 <= span.start < span.end <= placed.n_samples
        assert span.end - span.start == length or (span.faded and span.end - span.start < length)
        assert (
            to_samples(TIMELINE.onset_before_ms[0]) <= gap.start - span.start <= to_samples(TIMELINE.onset_before_ms[1])
        )
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert placed.n_samples > edges[-1][1]
    clear = to_samples(TIMELINE.decoy_clear_ms)
    decoys = [gap for gap in placed.gaps if gap.joint.kind == "word" and gap.joint.event is None]
    assert len(decoys) == placed.decoys <= placed.decoys_wanted == len(lengths)
    for gap in decoys:
        assert all(gap.end <= span.start - clear // 2 or gap.start >= span.end + clear // 2 for span in spans)


def test_decoys_are_as_many_as_events_where_there_is_room(world: World) -> None:
    for item in world.inputs:
        placed = place(world, item, [RATE] * len(item.scene.events))
        assert placed.decoys == len(item.scene.events)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.permutations(["pivot", "verbal", "behavioral"]))
def test_matched_placement_does_not_know_the_label(world: World, seed: int, labels: list[Reaction]) -> None:
    item = world.inputs[0]
    other = place(world, item, [RATE, 2 * RATE, 500], seed=seed, scene=relabelled(item.scene, labels))
    plain = place(world, item, [RATE, 2 * RATE, 500], seed=seed)
    assert (plain.spans, plain.starts, plain.n_samples) == (other.spans, other.starts, other.n_samples)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1000, 200_000))
def test_paper_placement_ends_a_behavioral_sound_before_speech_resumes(world: World, seed: int, length: int) -> None:
    item = world.inputs[0]
    params = TIMELINE.model_copy(update={"placement": "paper"})
    placed = place(world, item, [length] * 3, params, seed)
    gaps = {gap.joint.event: gap for gap in placed.gaps if gap.joint.event is not None}
    low, high = (to_samples(limit) for limit in TIMELINE.release_ms)
    assert low <= gaps[2].end - placed.spans[2].end <= high
    assert gaps[1].start == gaps[1].end
    assert placed.decoys_wanted == 1


def test_gap_grows_by_what_the_sound_needs_if_it_may(world: World) -> None:
    params = TIMELINE.model_copy(update={"event_gap_max_ms": 2000})
    placed = place(world, world.inputs[1], [RATE * 3 // 2], params)
    gap = next(gap for gap in placed.gaps if gap.joint.event == 0)
    assert to_samples(30) <= gap.end - placed.spans[0].end <= to_samples(120)
    longer = place(world, world.inputs[1], [RATE * 4], params)
    gap = next(gap for gap in longer.gaps if gap.joint.event == 0)
    assert gap.end - gap.start == to_samples(2000)


def test_event_longer_than_the_rest_extends_the_scene_then_is_faded(world: World) -> None:
    item = world.inputs[2]
    params = TIMELINE.model_copy(update={"event_max_ms": 60_000, "decoys": False})
    until_end = place(world, item, [RATE, RATE], params)
    last_word = until_end.starts[-1] + until_end.pieces[-1].n_samples
    rest = last_word - until_end.spans[1].start
    longer = place(world, item, [RATE, rest + RATE], params)
    assert longer.extended == {1}
    assert not longer.spans[1].faded
    assert longer.n_samples > longer.spans[1].end == last_word + RATE
    too_long = place(world, item, [RATE, rest + 10 * RATE], params)
    assert too_long.spans[1].faded
    assert too_long.spans[1].end == last_word + to_samples(TIMELINE.extension_max_ms)
    assert too_long.n_samples > too_long.spans[1].end


def test_joined_words_are_parted_at_the_planned_boundary(world: World) -> None:
    placed = place(world, world.inputs[2], [RATE] * 2)
    index = next(i for i, gap in enumerate(placed.gaps) if gap.joint.event == 0)
    assert placed.pieces[index].words[-1].word == "neighbours,"
    assert placed.pieces[index + 1].words[0].word == "and"


def test_a_boundary_without_times_gives_way_to_the_nearest(world: World) -> None:
    # "about 11:30, | because she": the time is interpolated, so the sound falls one word later
    placed = place(world, world.inputs[0], [RATE] * 3)
    index = next(i for i, gap in enumerate(placed.gaps) if gap.joint.event == 1)
    assert placed.pieces[index].words[-1].word == "because"
    assert placed.pieces[index + 1].words[0].word == "she"


def test_no_pause_of_the_speaker_is_left_at_a_gap(world: World) -> None:
    for item in world.inputs:
        placed = place(world, item, [RATE] * len(item.scene.events))
        for before, after in pairwise(placed.pieces):
            assert before.end - before.words[-1].end_sample <= 3 * WINDOW
            assert after.words[0].start_sample - after.start <= 3 * WINDOW


def test_a_gap_is_opened_where_the_voice_is_quiet() -> None:
    samples = np.full(RATE, 3000, np.int16)
    samples[29_900:30_300] = 0
    samples[9_900:10_300] = 300
    words = tuple(
        Word(
            utterance=0,
            word="la",
            start_sample=at,
            end_sample=at + 5_000,
            confidence=1.0,
            interpolated=False,
        )
        for at in range(0, 40_000, 5_000)
    )
    piece = Piece(0, "A", 0, 0, 40_000, words)
    assert settled_boundary(piece, 4, [2, 3, 4, 5, 6], samples) == 6
    assert settled_boundary(piece, 4, [2, 3, 4, 5], samples) == 2
    assert settled_boundary(piece, 5, [3, 4, 5], samples) == 3


def test_interpolated_words_place_nothing(world: World) -> None:
    item = world.inputs[2]
    words = tuple(word.model_copy(update={"interpolated": True}) for word in item.alignment.words)
    blind = SceneInputs(item.scene, item.dialogue, item.speech, item.alignment.model_copy(update={"words": words}))
    with pytest.raises(PlacingError, match="no word boundary"):
        place(world, blind, [RATE, RATE])
    one = world.inputs[1]
    words = tuple(word.model_copy(update={"interpolated": True}) for word in one.alignment.words)
    blind = SceneInputs(one.scene, one.dialogue, one.speech, one.alignment.model_copy(update={"words": words}))
    placed = place(world, blind, [RATE])
    assert (placed.decoys, placed.decoys_wanted) == (0, 1)


def test_boundaries_keep_two_timed_words_on_each_side(world: World) -> None:
    for piece in place(world, world.inputs[0], [RATE] * 3).pieces:
        for boundary in boundaries(piece):
            assert 2 <= boundary <= len(piece.words) - 2
            assert not piece.words[boundary - 1].interpolated
            assert not piece.words[boundary].interpolated


def test_records_of_different_runs_are_an_error(world: World) -> None:
    item = world.inputs[0]
    fewer = item.alignment.model_copy(update={"words": item.alignment.words[1:]})
    with pytest.raises(InputError, match=r"alignment.jsonl: t00000-0"):
        place(world, SceneInputs(item.scene, item.dialogue, item.speech, fewer), [RATE] * 3)
    speech = item.speech.model_copy(update={"utterances": item.speech.utterances[:-1]})
    words = tuple(word for word in item.alignment.words if word.utterance < len(speech.utterances))
    shorter = item.alignment.model_copy(update={"words": words})
    with pytest.raises(InputError, match=r"speech.jsonl: t00000-0"):
        place(world, SceneInputs(item.scene, item.dialogue, speech, shorter), [RATE] * 3)


def test_spoken_span_drops_silence_to_the_window() -> None:
    samples = np.zeros(RATE, np.int16)
    samples[10_000:20_000] = 3000
    samples[30_000] = 1
    start, end = spoken_span(samples)
    assert 10_000 - 441 < start <= 10_000
    assert 20_000 <= end < 20_000 + 441
    assert spoken_span(np.zeros(1000, np.int16)) == (0, 0)


def test_quiet_point_finds_the_dip_between_words() -> None:
    samples = np.full(RATE, 3000, np.int16)
    samples[20_400:21_000] = 0
    assert 20_400 <= quiet_point(samples, (15_000, 20_000), (21_500, 26_000))[0] <= 21_000
    assert quiet_point(samples, (15_000, 20_000), (20_000, 26_000))[0] in range(19_000, 21_000)
    assert 100 <= quiet_point(samples, (0, 200), (200, 400))[0] <= 300
