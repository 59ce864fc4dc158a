"""Pauses and interruptions are laid out to the sample, and the law at the sound knows nothing of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mix_world import MIX, RATE, SEED, TIMELINE, World, _spoken, make_take

from cares.audit.features import SOUND, measure
from cares.core.pcm import read_samples
from cares.core.record import read_records
from cares.mix.backend import NumpyBackend
from cares.mix.exports import to_audacity, to_jams
from cares.mix.params import to_samples
from cares.mix.pieces import Piece, build_strip
from cares.mix.placement import Placement, Placer
from cares.mix.plots import gap_values, spread_rows
from cares.mix.scenes import transcript
from cares.mix.sources import Sources
from cares.mix.timeline import SceneInputs, build_timeline
from cares.records.dialogue import Dialogue, Segment, Turn
from cares.records.scene import Composition, Event, Scene
from cares.records.timeline import Timeline

DATA = Path(__file__).parents[1] / "data"
CUT = Segment(text="so we could take the", delivery="cut", spoken_as="so we could take the train to town")
FORMS = {
    "break_restart": ((CUT, Segment(event=0), Segment(text="so we could take the train to town")),),
    "break_hesitation": (
        (
            CUT,
            Segment(event=0),
            Segment(text="um well"),
            Segment(text="take the", delivery="cut", spoken_as="take the train to town", pause_ms=431),
            Segment(text="take the train to town", pause_ms=612),
        ),
    ),
    "break_interrupted": (
        (CUT, Segment(event=0), Segment(text="so we could", delivery="cut", spoken_as="so we could take the train")),
        (Segment(text="sorry go on", overlap_ms=233),),
        (Segment(text="so we could take the train to town"),),
    ),
    "ambient_run_on": (
        (Segment(text="so we could take the"), Segment(event=0), Segment(text="train to town", delivery="joined")),
    ),
}
PLAIN = "this is what was said about it before"


def broken(root: Path, register: str, n_turns: int = 7) -> SceneInputs:
    """A scene of one sound in its second turn, and speech for it."""
    scene = read_records(Scene, DATA / "scenes_small.jsonl")[0]
    reaction = "ambient" if register.startswith("ambient") else "behavioral"
    event = Event(sound=scene.events[0].sound, reaction=reaction, register_id=register, slot=1)
    counts = Composition(
        pivot=0, verbal=0, behavioral=int(reaction == "behavioral"), ambient=int(reaction == "ambient")
    )
    scene = scene.model_copy(
        update={"events": (event,), "composition": counts, "scene_id": f"s-{register}", "n_turns": n_turns}
    )
    turns = [Turn(speaker="A", segments=(Segment(text=PLAIN),))]
    turns += [Turn(speaker="BA"[n % 2], segments=part) for n, part in enumerate(FORMS[register])]
    turns += [Turn(speaker="AB"[n % 2], segments=(Segment(text=PLAIN),)) for n in range(n_turns - 2)]
    dialogue = Dialogue(
        scene_id=scene.scene_id,
        topic="t",
        attempt=0,
        writer="",
        evaluator="",
        topic_similarity=0.0,
        turns=tuple(turns),
    )
    return _spoken(root, scene, dialogue, 5)


@pytest.fixture(scope="module")
def made(world: World) -> dict[str, SceneInputs]:
    return {register: broken(world.root, register) for register in FORMS}


def place(world: World, item: SceneInputs, seed: int = 1, length: int = RATE) -> Placement:
    samples = read_samples(world.root / item.speech.path)
    strip = build_strip(item.dialogue, item.speech, item.alignment, samples)
    return Placer(item.scene, [length], TIMELINE, seed).place(strip, samples)


def ends(placed: Placement) -> list[tuple[Piece, int, int]]:
    return [(piece, start, start + piece.n_samples) for piece, start in zip(placed.pieces, placed.starts, strict=True)]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9), st.integers(50, 200_000))
def test_pauses_and_overlaps_are_exact_and_nobody_overlaps_himself(
    world: World, made: dict[str, SceneInputs], seed: int, length: int
) -> None:
    for item in made.values():
        placed = place(world, item, seed, length)
        spans = ends(placed)
        for speaker in "AB":
            own = [(start, end) for piece, start, end in spans if piece.speaker == speaker]
            assert all(end <= start for (_, end), (start, _) in pairwise(own))
        for gap, (before, _, end), (_, start, _) in zip(placed.gaps, spans[:-1], spans[1:], strict=True):
            if gap.joint.kind == "pause":
                assert start - end == gap.joint.length > 0
            elif gap.joint.kind == "overlap":
                assert end - start == min(gap.joint.length, before.n_samples // 2) > 0
            else:
                assert gap.start >= end and gap.end == start
        assert placed.n_samples > max(end for _, _, end in spans)


def test_each_pause_and_overlap_of_the_dialogue_is_there(world: World, made: dict[str, SceneInputs]) -> None:
    found = {
        register: [gap.joint.length for gap in place(world, item).gaps if gap.joint.kind in ("pause", "overlap")]
        for register, item in made.items()
    }
    assert found == {
        "break_restart": [],
        "break_hesitation": [to_samples(431), to_samples(612)],
        "break_interrupted": [to_samples(233)],
        "ambient_run_on": [],
    }


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9), st.integers(50, 200_000))
def test_the_gap_at_the_sound_is_the_same_for_every_register(
    world: World, made: dict[str, SceneInputs], seed: int, length: int
) -> None:
    found = []
    for item in made.values():
        # keyed by the scene, whose id the registers must share for their draws to be the same
        scene = item.scene.model_copy(update={"scene_id": "one"})
        samples = read_samples(world.root / item.speech.path)
        placed = Placer(scene, [length], TIMELINE, seed).place(
            build_strip(item.dialogue, item.speech, item.alignment, samples), samples
        )
        gap = next(gap for gap in placed.gaps if gap.joint.event == 0)
        span = placed.spans[0]
        found.append((gap.end - gap.start, gap.start - span.start, span.end - span.start))
    assert len(set(found)) == 1


def test_no_decoy_lies_in_a_reaction(world: World, made: dict[str, SceneInputs]) -> None:
    for register, item in made.items():
        reacting = set(range(1, 1 + len(FORMS[register])))
        for seed in range(20):
            placed = place(world, item, seed)
            assert placed.decoys == 1
            parted = [gap.joint.kind == "word" and gap.joint.event is None for gap in placed.gaps]
            cut = [piece.turn for piece, decoy in zip(placed.pieces, parted, strict=False) if decoy]
            assert not reacting & set(cut)


@pytest.fixture(scope="module")
def timelines(world: World, made: dict[str, SceneInputs]) -> dict[str, Timeline]:
    for item in made.values():
        event = item.scene.events[0]
        make_take(world.root, "event", event.sound, item.scene.split, 2 * RATE)
    return {
        register: build_timeline(
            item, world.bank.for_scene(item.scene), TIMELINE, MIX, SEED, Sources(world.root), NumpyBackend()
        ).timeline
        for register, item in made.items()
    }


def test_turns_are_numbered_as_in_the_dialogue(timelines: dict[str, Timeline], made: dict[str, SceneInputs]) -> None:
    for register, timeline in timelines.items():
        assert timeline.events[0].turn == 1
        turns = made[register].dialogue.turns
        assert {word.turn for word in timeline.words} == set(range(len(turns)))
        assert all(word.speaker == turns[word.turn].speaker for word in timeline.words)


def test_gaps_are_annotated_and_none_is_negative(timelines: dict[str, Timeline]) -> None:
    for timeline in timelines.values():
        assert all(gap.start_sample < gap.end_sample for gap in timeline.gaps)
    kinds = {register: [gap.kind for gap in timeline.gaps].count("pause") for register, timeline in timelines.items()}
    assert kinds["break_hesitation"] == 2 and sum(kinds.values()) == 2
    rows = spread_rows(gap_values([timelines["break_hesitation"]]))
    pauses = [(row["count"], row["lowest"], row["median"], row["highest"]) for row in rows if row["kind"] == "pause"]
    assert pauses == [(2, 0.431, 0.5215, 0.612)]


def test_only_the_voice_of_the_turn_ducks(timelines: dict[str, Timeline]) -> None:
    for timeline in timelines.values():
        assert [duck for duck in timeline.ducks["A"] if duck.reason == "event"] == []


def test_exports_take_an_overlap(timelines: dict[str, Timeline], made: dict[str, SceneInputs]) -> None:
    timeline = timelines["break_interrupted"]
    rows = [line.split("\t") for line in to_audacity(timeline).splitlines()]
    said = {label: (float(start), float(end)) for start, end, label in rows}
    assert said["A: sorry go on"][0] < said["B: so we could take the so we could"][1]
    assert all(float(row[0]) <= float(row[1]) for row in rows)
    spans = next(a for a in to_jams(timeline)["annotations"] if a["sandbox"]["about"] == "turns")["data"]
    assert all(span["duration"] >= 0 for span in spans)
    lines = transcript(made["break_interrupted"].speech).splitlines()
    assert lines[1:4] == [
        "B: so we could take the so we could",
        "A: sorry go on",
        "B: so we could take the train to town",
    ]


def test_the_audit_counts_overlapping_words_once(timelines: dict[str, Timeline]) -> None:
    timeline = timelines["break_interrupted"]
    event = timeline.events[0]
    words = [w for w in timeline.words if w.turn in (1, 2)]
    over = next(w.start_sample for w in words if w.turn == 2), max(w.end_sample for w in words if w.turn == 1)
    assert over[0] < over[1]
    longer = timeline.model_copy(update={"events": (event.model_copy(update={"end_sample": over[1]}),)})
    samples = np.random.default_rng(1).integers(-1000, 1000, timeline.n_samples).astype(np.int16)
    measured = dict(zip(SOUND, measure(longer, samples, 1500)[0].measured, strict=False))
    heard = np.zeros(timeline.n_samples, bool)
    for word in words:
        heard[word.start_sample : word.end_sample] = True
    assert measured["words_over_s"] == pytest.approx(heard[event.start_sample : over[1]].sum() / RATE)
