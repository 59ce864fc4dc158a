"""Makes scenes of nothing but breaks and run-on turns, speaks and mixes them, and measures how audible the breaks are.

    python benchmarks/bench_breaks.py WORK [--scenes 48] [--minutes 120]

The sentences are those of the labelled probes, each used once, so no sentence tells the label; every register of a
break has as many turns, and there are as many run-on turns as broken ones, over the same voices. The sounds, rooms and
rules are those of the built data set (data/sounds, data/rooms, params.yaml). WORK gets data/ as the pipeline writes it
and breaks.json, the figures of `cares.speech.break_report`. Scenes are spoken one by one until the minutes are over.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from cares.catalog.load import load_catalog
from cares.core.params import Params
from cares.core.record import read_records, write_records
from cares.core.rng import KeyedRandom
from cares.dialogue.breaks import broken_turns, run_on_turn, split_sentences, turns_of
from cares.dialogue.lint import text_fault
from cares.dialogue.marked import Said
from cares.dialogue.probes import load_probes
from cares.mix.backend import backend_from_environment
from cares.mix.choices import BANK, ROOMS, Bank
from cares.mix.params import MixParams, TimelineParams
from cares.mix.plan import TimelineWork, join_inputs, plan_scenes
from cares.mix.scenes import join_timelines, mix_scenes
from cares.records.bank import Room, Take
from cares.records.dialogue import Dialogue, Segment, Turn
from cares.records.scene import Composition, Event, Reaction, Scene
from cares.records.speech import SceneAlignment, SceneSpeech
from cares.speech.break_params import BreakParams
from cares.speech.break_report import break_metrics
from cares.speech.params import AlignParams, SpeechParams
from cares.speech.work import align_scenes, speak_scenes

REGISTERS = ("break_restart", "break_lost_thread", "break_hesitation", "break_interrupted")
EVENTS = 3
GENDERS = (("F", "M"), ("M", "F"), ("F", "F"), ("M", "M"))


def sentences(seed: int) -> list[str]:
    """Whole sentences of 9 to 16 words from the probes, in keyed order, no two alike."""
    found = [
        sentence
        for probe in load_probes()
        for piece in probe.pieces
        if isinstance(piece, Said)
        for sentence in split_sentences(piece.text)
        if 9 <= len(sentence.split()) <= 16 and sentence[0].isupper() and sentence in piece.text
        and not any(mark in sentence for mark in "…—-\"()") and ".." not in piece.text and not text_fault(sentence)
    ]  # fmt: skip
    return KeyedRandom(seed, "bench_breaks").shuffled(sorted(set(found)))


def make(count: int, seed: int, sounds: Sequence[str], location: str) -> tuple[list[Scene], list[Dialogue]]:
    """Scenes of three sounds, half of them over broken turns, and their dialogues."""
    waiting = sentences(seed)
    kinds = [
        (reaction, register)
        for turn in range(count * EVENTS)
        for reaction, register in [
            ("behavioral", REGISTERS[turn // 2 % len(REGISTERS)]) if turn % 2 else ("ambient", "ambient_run_on")
        ]
    ]
    # shuffled, so that neither the place in the scene nor the speaker tells the label
    kinds = KeyedRandom(seed, "bench_kinds").shuffled(kinds)
    scenes, dialogues = [], []
    for number in range(count):
        name = f"b{number:05d}-0"
        turns: list[Turn] = [Turn(speaker="A", segments=(Segment(text=waiting.pop()),))]
        events = []
        for slot in range(1, EVENTS + 1):
            reaction, register = kinds[number * EVENTS + slot - 1]
            speaker, draw = "AB"[slot % 2], KeyedRandom(seed, "break", name, slot)
            made: list[Turn] = []
            while not made:
                text = waiting.pop()
                if reaction == "behavioral":
                    parts = broken_turns(text, register, slot - 1, draw)
                else:
                    run_on = run_on_turn(text, slot - 1, draw)
                    parts = None if run_on is None else (run_on,)
                made = turns_of("A" if speaker == "A" else "B", parts) if parts else []
            turns += made
            sound = KeyedRandom(seed, "bench_sound", name, slot).choice(sounds)
            events.append(Event(sound=sound, reaction=_reaction(reaction), register=register, slot=slot))
        scenes.append(_scene(name, number, location, events))
        dialogues.append(
            Dialogue(
                scene_id=name, topic="sentences", attempt=0, writer="", evaluator="", topic_similarity=0.0,
                turns=tuple(turns),
            )
        )  # fmt: skip
    return scenes, dialogues


def _reaction(name: str) -> Reaction:
    return "behavioral" if name == "behavioral" else "ambient"


def _scene(name: str, number: int, location: str, events: Sequence[Event]) -> Scene:
    counts = {kind: sum(event.reaction == kind for event in events) for kind in ("behavioral", "ambient")}
    first, second = GENDERS[number % len(GENDERS)]
    return Scene.parse(
        {
            "scene_id": name,
            "template_id": name.split("-")[0],
            "split": "train",
            "location": location,
            "relation": "neighbours",
            "roles": ["neighbour", "neighbour"],
            "genders": [first, second],
            "theme": "sentences",
            "n_turns": 6,
            "composition": Composition(pivot=0, verbal=0, **counts).to_json(),
            "events": [event.to_json() for event in events],
        },
        "bench_breaks",
    )


def build(work: Path, count: int, minutes: float) -> None:
    """Speak, align, place and mix; what is there already is taken from the item store."""
    began = time.monotonic()
    params, root = Params(), Path.cwd()
    takes, rooms = read_records(Take, Path(BANK)), read_records(Room, Path(ROOMS))
    location = next(room.location for room in rooms if room.split == "train")
    sounds = sorted({take.name for take in takes if take.kind == "event" and take.split == "train"})
    scenes, dialogues = make(count, params.seed, sounds, location)
    for folder in ("data/speech", "data/scenes"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    for shared in ("sounds", "rooms"):
        if not (work / "data" / shared).exists():
            (work / "data" / shared).symlink_to(root / "data" / shared)
    section, align = params.section("speech", SpeechParams), params.section("align", AlignParams)
    speech: list[SceneSpeech] = []
    aligned: list[SceneAlignment] = []
    for scene, dialogue in zip(scenes, dialogues, strict=True):
        if time.monotonic() - began > 60 * minutes:
            break
        folder, told = work / "data/speech", "data/speech"
        [spoken] = speak_scenes([scene], {scene.scene_id: dialogue}, section, params.seed, folder, told)
        record = spoken.record
        if record.failure:
            print(f"{record.scene_id}: {record.failure}")
            continue
        speech.append(record)
        aligned += align_scenes([record], align, work)
    good = {record.scene_id for record in speech}
    scenes, dialogues = [s for s in scenes if s.scene_id in good], [d for d in dialogues if d.scene_id in good]
    rare = frozenset(sound.id for sound in load_catalog().sounds.values() if sound.group == "rare")
    plans = TimelineWork(
        bank=Bank(tuple(takes), tuple(rooms), rare),
        timeline=params.section("timeline", TimelineParams),
        mix=params.section("mix", MixParams),
        seed=params.seed,
        backend=backend_from_environment(),
        root=work,
    )
    outcomes = plan_scenes(join_inputs(scenes, dialogues, speech, aligned), plans)
    timelines = [outcome.timeline for outcome in outcomes if outcome.timeline is not None]
    write_records(work / "data/dialogues.jsonl", dialogues)
    write_records(work / "data/speech/speech.jsonl", speech)
    write_records(work / "data/alignment.jsonl", aligned)
    write_records(work / "data/timelines.jsonl", timelines)
    mix_scenes(join_timelines(timelines, scenes, dialogues, speech), work / "data/scenes", work, plans.backend)


def main() -> None:
    """Build and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("work", type=Path)
    parser.add_argument("--scenes", type=int, default=48)
    parser.add_argument("--minutes", type=float, default=120.0)
    given = parser.parse_args()
    os.environ.setdefault("CARES_WORKERS", "1")
    build(given.work.absolute(), given.scenes, given.minutes)
    found = break_metrics(given.work.absolute(), Params().section("breaks", BreakParams), Params().seed)
    (given.work / "breaks.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    print(json.dumps(found, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
