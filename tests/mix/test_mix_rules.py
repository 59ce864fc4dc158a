"""Each rule of placement and level is visible in the record, and switching it off changes what it should."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mix_world import MIX, SEED, TIMELINE, World

from cares.core.record import Record
from cares.mix.backend import NumpyBackend
from cares.mix.params import to_samples
from cares.mix.render import render
from cares.mix.sources import Sources
from cares.mix.timeline import build_timeline
from cares.records.timeline import Timeline


def build(world: World, index: int = 0, seed: int = SEED, **changes: Any) -> Timeline:
    """A scene's timeline with some params changed."""
    item = world.inputs[index]
    timeline = TIMELINE.model_copy(update={k: v for k, v in changes.items() if k in type(TIMELINE).model_fields})
    mix = MIX.model_copy(update={k: v for k, v in changes.items() if k in type(MIX).model_fields})
    bank = world.bank.for_scene(item.scene)
    if "rare" in changes:
        bank = replace(bank, rare=changes["rare"])
    return build_timeline(item, bank, timeline, mix, seed, Sources(world.root), NumpyBackend()).timeline


def gap_lengths(timeline: Timeline, *kinds: str) -> list[int]:
    return [gap.end_sample - gap.start_sample for gap in timeline.gaps if gap.kind in kinds]


def same_but(one: Record, other: Record, *fields: str) -> bool:
    """Whether two records differ in no other field."""
    return one.model_copy(update={name: getattr(other, name) for name in fields}) == other


def test_record_names_the_rules(world: World) -> None:
    for index, item in enumerate(world.inputs):
        timeline = build(world, index)
        rules = timeline.rules
        assert rules is not None
        assert (rules.placement, rules.duck_labels) == ("matched", "behavioral")
        assert (rules.voice_cdb, rules.margin_cdb, rules.master_cdb, rules.true_peak_cdb) == (-2000, 600, -2300, -100)
        assert -3500 <= rules.ambience_drawn_cdb <= -2900
        assert rules.decoys_wanted == len(item.scene.events)
        found = [gap for gap in timeline.gaps if gap.kind == "word" and gap.event is None]
        assert len(found) == rules.decoys <= rules.decoys_wanted
        for event in timeline.events:
            assert event.drawn_level_cdb in (-2000, -2300, -1700)
            assert event.peak_limited == (event.level_cdb < event.drawn_level_cdb)
        for ducks in timeline.ducks.values():
            for duck in ducks:
                assert (duck.reason == "event") == (duck.event is not None)


@pytest.mark.parametrize("milliseconds", [500, 700])
def test_gap_range(world: World, milliseconds: int) -> None:
    timeline = build(world, gap_ms=(milliseconds, milliseconds), event_gap_max_ms=milliseconds)
    assert set(gap_lengths(timeline, "turn", "word")) == {to_samples(milliseconds)}


def test_without_decoys_only_the_decoys_go(world: World) -> None:
    on, off = build(world), build(world, decoys=False)
    assert on.rules is not None
    assert off.rules is not None
    assert (on.rules.decoys, off.rules.decoys, off.rules.decoys_wanted) == (3, 0, 0)
    assert len(on.gaps) == len(off.gaps) + 3
    assert [gap.event for gap in on.gaps if gap.event is not None] == [0, 1, 2]
    assert gap_lengths(on, "turn") == gap_lengths(off, "turn")
    assert [word.word for word in on.words] == [word.word for word in off.words]
    assert [(e.end_sample - e.start_sample, e.drawn_level_cdb, e.take_id) for e in on.events] == [
        (e.end_sample - e.start_sample, e.drawn_level_cdb, e.take_id) for e in off.events
    ]


def test_placement_is_in_the_record_and_moves_events_only_by_label(world: World) -> None:
    matched, paper = build(world), build(world, placement="paper")
    assert matched.rules is not None
    assert paper.rules is not None
    assert (matched.rules.placement, paper.rules.placement) == ("matched", "paper")
    assert paper.rules.decoys_wanted == sum(event.reaction == "behavioral" for event in paper.events)
    low, high = to_samples(TIMELINE.onset_before_ms[0]), to_samples(TIMELINE.onset_before_ms[1])
    for event in matched.events:
        assert low <= event.gap_start - event.start_sample <= high
        assert event.gap_end > event.gap_start
    for event in paper.events:
        assert (event.gap_end == event.gap_start) == (event.reaction == "ambient")
        if event.reaction == "behavioral":
            assert to_samples(TIMELINE.release_ms[0]) <= event.gap_end - event.end_sample
            assert event.gap_end - event.end_sample <= to_samples(TIMELINE.release_ms[1])


def test_onset_lead_in_and_lead_out(world: World) -> None:
    timeline = build(world, onset_before_ms=(90, 90), lead_in_ms=(700, 700), lead_out_ms=(900, 900))
    assert all(event.gap_start - event.start_sample == to_samples(90) for event in timeline.events)
    pieces = [clip for clip in timeline.clips if clip.track in ("A", "B")]
    assert min(clip.at_sample for clip in pieces) == to_samples(700)
    last = max(
        clip.at_sample + clip.n_samples for clip in (*pieces, *[c for c in timeline.clips if c.track == "event"])
    )
    assert timeline.n_samples - last == to_samples(900)


def test_longest_event(world: World) -> None:
    on, off = build(world, event_max_ms=1000), build(world, event_max_ms=60_000, event_spacing_ms=0)
    assert all(event.take_faded and event.end_sample - event.start_sample == to_samples(1000) for event in on.events)
    assert not any(event.take_faded for event in off.events)


def test_what_is_said_next_to_a_sound_is_evened_out(world: World) -> None:
    on, off = build(world, even_out_db=5.0), build(world, even_out_db=0.0)
    for voice in ("A", "B"):
        gains = [[clip.gain_cdb for clip in timeline.clips if clip.track == voice] for timeline in (on, off)]
        assert len(set(gains[1])) <= 1, "without it a voice has one gain"
        assert max(gains[0], default=0) - min(gains[0], default=0) <= 1000
    assert any(len({clip.gain_cdb for clip in on.clips if clip.track == voice}) > 1 for voice in ("A", "B"))


def test_without_ducks_only_the_ducks_go(world: World) -> None:
    index = next(i for i, item in enumerate(world.inputs) if any(e.reaction == "behavioral" for e in item.scene.events))
    on, off = build(world, index, master_lufs=-23.0), build(world, index, duck_db=0.0)
    ducks = [duck for found in on.ducks.values() for duck in found]
    assert ducks
    assert not any(off.ducks.values())
    assert same_but(off, on, "ducks", "master_gain_cdb", "master_lufs_cdb", "rules")
    quiet = off.model_copy(update={"master_gain_cdb": on.master_gain_cdb})
    with_ducks = render(on.scene_id, [on], world.root, NumpyBackend())
    changed = np.flatnonzero(with_ducks != render(on.scene_id, [quiet], world.root, NumpyBackend()))
    assert len(changed)
    assert all(any(duck.start_sample <= at < duck.end_sample for duck in ducks) for at in changed)


def test_margin_off_leaves_the_ambience_as_drawn(world: World) -> None:
    high, off = build(world, margin_db=20.0), build(world, margin_db=0.0)
    assert high.rules is not None
    assert off.rules is not None
    assert off.rules.ambience_lowered_cdb == 0 < high.rules.ambience_lowered_cdb
    assert min(event.margin_cdb for event in high.events) == pytest.approx(2000, abs=1)
    gains = [{clip.gain_cdb for clip in t.clips if clip.track == "ambience"} for t in (high, off)]
    assert gains[1] == {gain + high.rules.ambience_lowered_cdb for gain in gains[0]}
    assert [c for c in high.clips if c.track != "ambience"] == [c for c in off.clips if c.track != "ambience"]


def test_ambience_offset(world: World) -> None:
    drawn = set()
    for seed in range(12):
        timeline = build(world, 1, seed)
        assert timeline.rules is not None
        drawn.add(timeline.rules.ambience_drawn_cdb)
    assert len(drawn) > 6
    fixed = build(world, ambience_offset_db=0.0).rules
    assert fixed is not None
    assert fixed.ambience_drawn_cdb == -3200


def test_event_levels_are_drawn_from_the_list_and_rare_ones_are_not(world: World) -> None:
    drawn = {event.drawn_level_cdb for seed in range(12) for event in build(world, 0, seed).events}
    assert drawn == {-2000, -2300}
    (rare,) = build(world, 1).events
    (common,) = build(world, 1, rare=frozenset()).events
    assert rare.drawn_level_cdb == -1700
    assert common.drawn_level_cdb in (-2000, -2300)


def test_true_peak_off_limits_nothing(world: World) -> None:
    tight, off = build(world, 2, true_peak_dbtp=-10.0), build(world, 2, true_peak_dbtp=0.0)
    lowered = [duck for ducks in tight.ducks.values() for duck in ducks if duck.reason == "peak"]
    assert lowered or any(event.peak_limited for event in tight.events)
    assert not any(event.peak_limited for event in off.events)
    assert not [duck for ducks in off.ducks.values() for duck in ducks if duck.reason == "peak"]


@pytest.mark.parametrize("voice_lufs", [-24.0, -20.0])
def test_voice_level_moves_both_voices_alike(world: World, voice_lufs: float) -> None:
    reference, moved = build(world, 2), build(world, 2, voice_lufs=voice_lufs)
    for voice in ("A", "B"):
        one, two = (next(c.gain_cdb for c in t.clips if c.track == voice) for t in (reference, moved))
        assert two - one == pytest.approx(round(voice_lufs * 100) + 2000, abs=1)
