"""Levels of whole scenes, by our meter and by a second one."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from mix_world import MIX, RATE, SEED, TIMELINE, World, make_world

from cares.core.errors import InputError
from cares.core.pcm import samples_digest, write_samples
from cares.mix.backend import NumpyBackend
from cares.mix.engine import STEM_BITS, Mixer
from cares.mix.loudness import integrated_lufs, level_lufs, to_float
from cares.mix.params import MixParams
from cares.mix.pieces import PlacingError
from cares.mix.render import render, select
from cares.mix.sources import Sources
from cares.mix.timeline import SceneInputs, build_timeline
from cares.mix.true_peak import true_peak_dbtp
from cares.records.bank import Take
from cares.records.scene import Composition, Reaction
from cares.records.timeline import Timeline


def build(world: World, index: int, mix: MixParams = MIX) -> Timeline:
    item = world.inputs[index]
    bank = world.bank.for_scene(item.scene)
    return build_timeline(item, bank, TIMELINE, mix, SEED, Sources(world.root), NumpyBackend()).timeline


def with_take(world: World, index: int, kind: str, samples: np.ndarray, path: str) -> World:
    """The world with the scene's takes of one kind replaced."""
    write_samples(world.root / path, samples)
    changes = {"path": path, "n_samples": len(samples), "pcm_sha256": samples_digest(samples)}
    split = world.inputs[index].scene.split

    def other(take: Take) -> Take:
        return take.model_copy(update=changes) if (take.kind, take.split) == (kind, split) else take

    return World(world.root, world.inputs, replace(world.bank, takes=tuple(map(other, world.bank.takes))))


def before_master(world: World, timeline: Timeline, stem: str) -> np.ndarray:
    """A stem before the master gain, full scale at 1.0."""
    total = Mixer(Sources(world.root), NumpyBackend()).total(select(timeline, stem=stem))
    return np.asarray(total / 2 ** (15 + STEM_BITS))


def second_meter(path: Path) -> tuple[float, float]:
    """Integrated loudness and true peak by ffmpeg's ebur128."""
    command = [
        imageio_ffmpeg.get_ffmpeg_exe(),
        "-nostats",
        "-i",
        str(path),
        "-af",
        "ebur128=peak=true",
        "-f",
        "null",
        "-",
    ]
    summary = subprocess.run(command, capture_output=True, text=True, check=True).stderr.split("Summary:")[1]
    loudness, peak = re.search(r"I:\s+(-?[\d.]+) LUFS", summary), re.search(r"Peak:\s+(-?[\d.]+) dBFS", summary)
    assert loudness
    assert peak
    return float(loudness[1]), float(peak[1])


def test_every_scene_holds_loudness_and_peak(world: World, timelines: list[Timeline], tmp_path: Path) -> None:
    for timeline in timelines:
        samples = render(timeline.scene_id, timelines, world.root, NumpyBackend())
        assert len(samples) == timeline.n_samples
        assert integrated_lufs(to_float(samples)) == pytest.approx(-23.0, abs=0.02)
        assert timeline.master_lufs_cdb == pytest.approx(-2300, abs=2)
        path = tmp_path / f"{timeline.scene_id}.wav"
        write_samples(path, samples)
        loudness, peak = second_meter(path)
        assert loudness == pytest.approx(-23.0, abs=0.1)
        assert peak <= -1.0


def test_voices_are_balanced_and_events_at_their_level(world: World, timelines: list[Timeline]) -> None:
    for timeline in timelines:
        for voice in ("A", "B"):
            stem = before_master(world, timeline.model_copy(update={"ducks": {}}), voice)
            assert integrated_lufs(stem) == pytest.approx(-20.0, abs=0.02)
        for event in timeline.events:
            heard = before_master(world, timeline, f"event:{event.event}")
            level = level_lufs(heard[event.start_sample : event.end_sample])
            assert level == pytest.approx(event.level_cdb / 100, abs=0.05)
            rare = event.sound == "train_horn"
            assert event.level_cdb in ((-1700,) if rare else (-2000, -2300))
            assert event.margin_cdb >= 600


def test_only_the_reacting_voice_ducks_under_a_behavioral_sound(timelines: list[Timeline]) -> None:
    for timeline in timelines:
        behavioral = [event for event in timeline.events if event.reaction == "behavioral"]
        ducks = [(voice, duck) for voice, ducks in timeline.ducks.items() for duck in ducks]
        assert len(ducks) == len(behavioral)
        for event, (voice, duck) in zip(behavioral, ducks, strict=True):
            assert {word.speaker for word in timeline.words if word.turn == event.turn} == {voice}
            assert event.start_sample <= duck.start_sample < duck.end_sample <= event.end_sample
            assert 200 <= duck.depth_cdb <= 400


def test_all_labels_duck_if_asked(world: World) -> None:
    timeline = build(world, 1, MIX.model_copy(update={"duck_labels": "all"}))
    assert len(timeline.ducks["B"]) == 1
    none = build(world, 0, MIX.model_copy(update={"duck_db": 0.0}))
    assert none.ducks == {"A": (), "B": ()}


def test_with_matched_placement_and_ducks_the_label_changes_no_sample(world: World) -> None:
    """Whatever the labels, the same words and sounds give the same mix: nothing else can give the labels away."""
    item = world.inputs[0]
    swapped: list[Reaction] = ["behavioral", "verbal", "ambient"]
    events = [e.model_copy(update={"reaction": r}) for e, r in zip(item.scene.events, swapped, strict=True)]
    scene = item.scene.model_copy(update={"events": tuple(events)})
    other = World(world.root, [replace(item, scene=scene)], world.bank)
    matched = MIX.model_copy(update={"duck_labels": "all"})
    one, two = build(world, 0, matched), build(other, 0, matched)
    assert (one.clips, one.ducks, one.gaps, one.master_gain_cdb) == (
        two.clips,
        two.ducks,
        two.gaps,
        two.master_gain_cdb,
    )


def test_a_scene_without_events_is_mixed(world: World) -> None:
    item = world.inputs[1]
    nothing = Composition(pivot=0, verbal=0, behavioral=0, ambient=0)
    scene = item.scene.model_copy(update={"events": (), "composition": nothing})
    turns = [
        turn.model_copy(update={"segments": tuple(s for s in turn.segments if s.text)}) for turn in item.dialogue.turns
    ]
    parts = {part.segment: place for place, part in enumerate(item.speech.utterances[3].segments)}
    assert parts == {0: 0}
    after = item.speech.utterances[4]
    moved = after.model_copy(update={"segments": (after.segments[0].model_copy(update={"segment": 1}),)})
    utterances = (*item.speech.utterances[:4], moved, *item.speech.utterances[5:])
    speech = item.speech.model_copy(update={"utterances": utterances})
    dialogue = item.dialogue.model_copy(update={"turns": tuple(turns)})
    quiet = World(world.root, [SceneInputs(scene, dialogue, speech, item.alignment)], world.bank)
    timeline = build(quiet, 0)
    assert timeline.events == ()
    assert {clip.track for clip in timeline.clips} == {"A", "B", "ambience"}
    assert timeline.master_lufs_cdb == pytest.approx(-2300, abs=2)


def test_margin_lowers_the_ambience(world: World) -> None:
    loud = MIX.model_copy(update={"ambience_lufs": -22.0, "ambience_offset_db": 0.0, "margin_db": 12.0})
    timeline = build(world, 0, loud)
    assert min(event.margin_cdb for event in timeline.events) == pytest.approx(1200, abs=1)
    plain = build(world, 0)
    assert {e.level_cdb for e in timeline.events} == {e.level_cdb for e in plain.events}


def test_peak_is_held_by_lowering_the_event_not_the_loudness(world: World) -> None:
    # a train of single clicks: a low level with very high peaks
    clicks = np.zeros(2 * RATE, np.int16)
    clicks[:: RATE // 20] = 30_000
    spiky = with_take(world, 1, "event", clicks, "data/sounds/takes/clicks.flac")
    timeline = build(spiky, 1)
    (event,) = timeline.events
    assert event.peak_limited
    assert event.level_cdb < -1700
    samples = render(timeline.scene_id, [timeline], world.root, NumpyBackend())
    assert true_peak_dbtp(to_float(samples)) <= -1.0
    assert integrated_lufs(to_float(samples)) == pytest.approx(-23.0, abs=0.05)


def test_voice_peak_is_ducked_and_named(world: World) -> None:
    timeline = build(world, 2, MIX.model_copy(update={"true_peak_dbtp": -10.0}))
    reasons = {duck.reason for ducks in timeline.ducks.values() for duck in ducks}
    assert "peak" in reasons
    samples = render(timeline.scene_id, [timeline], world.root, NumpyBackend())
    assert true_peak_dbtp(to_float(samples)) <= -10.0
    assert integrated_lufs(to_float(samples)) == pytest.approx(-23.0, abs=0.05)


def test_loudness_and_peak_that_exclude_each_other_fail_the_scene(world: World) -> None:
    with pytest.raises(PlacingError):
        build(world, 0, MIX.model_copy(update={"master_lufs": -6.0, "true_peak_dbtp": -6.0}))


@pytest.mark.parametrize("kind", ["event", "ambience"])
def test_silent_take_is_an_error_with_its_name(world: World, kind: str) -> None:
    silent = with_take(world, 1, kind, np.zeros(RATE, np.int16), f"data/sounds/takes/silent-{kind}.flac")
    with pytest.raises(InputError, match=f"silent-{kind}.flac"):
        build(silent, 1)


@pytest.mark.parametrize("milliseconds", [50, 200, 399])
def test_short_sounds_get_the_drawn_level(world: World, milliseconds: int) -> None:
    rng = np.random.default_rng(milliseconds)
    samples = np.round(rng.normal(size=milliseconds * RATE // 1000) * 2000).astype(np.int16)
    short = with_take(world, 1, "event", samples, f"data/sounds/takes/short{milliseconds}.flac")
    (event,) = build(short, 1).events
    assert event.level_cdb == -1700 or event.peak_limited
    assert event.end_sample - event.start_sample == len(samples)


@pytest.mark.parametrize("seconds", [0.3, 1.5, 9.0])
def test_short_ambience_has_no_gap_and_no_click(tmp_path: Path, seconds: float) -> None:
    world = make_world(tmp_path, ambience_samples=round(seconds * RATE))
    timeline = build(world, 0)
    clips = [clip for clip in timeline.clips if clip.track == "ambience"]
    assert clips[0].at_sample == 0
    assert clips[-1].at_sample + clips[-1].n_samples == timeline.n_samples
    for clip, after in pairwise(clips):
        assert clip.at_sample + clip.n_samples - after.at_sample == clip.fade_out == after.fade_in
    stem = before_master(world, timeline, "ambience")
    windows = np.sqrt(np.square(stem[: len(stem) // 4410 * 4410].reshape(-1, 4410)).mean(1))
    assert windows.min() > 0.5 * np.median(windows)
    assert windows.max() < 2 * np.median(windows)
    steps = np.abs(np.diff(stem))
    assert steps.max() < 8 * np.median(steps)


def test_long_ambience_is_a_drawn_stretch(tmp_path: Path) -> None:
    world = make_world(tmp_path, ambience_samples=70 * RATE)
    (clip,) = [clip for clip in build(world, 0).clips if clip.track == "ambience"]
    assert clip.source_start > 0


def test_missing_take_or_room_is_an_error(world: World) -> None:
    bare = World(world.root, world.inputs, replace(world.bank, takes=()))
    with pytest.raises(InputError, match=r"bank.jsonl.*dog_bark"):
        build(bare, 0)
    bare = World(world.root, world.inputs, replace(world.bank, rooms=()))
    with pytest.raises(InputError, match=r"rooms.jsonl.*public_park"):
        build(bare, 0)


def test_takes_of_another_split_are_never_drawn(world: World) -> None:
    moved = tuple(take.model_copy(update={"split": "test"}) for take in world.bank.takes)
    bare = World(world.root, world.inputs, replace(world.bank, takes=moved))
    with pytest.raises(InputError, match="train split"):
        build(bare, 0)


def test_failed_speech_is_a_reason(world: World) -> None:
    item = world.inputs[0]
    failed = item.speech.model_copy(update={"failure": "no voice", "utterances": (), "pcm_sha256": None})
    worse = World(world.root, [SceneInputs(item.scene, item.dialogue, failed, item.alignment)], world.bank)
    with pytest.raises(PlacingError, match="no voice"):
        build(worse, 0)
