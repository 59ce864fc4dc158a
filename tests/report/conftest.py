"""A small finished build in a folder: the hand-written dialogues of tests/data, words and sounds at made-up times."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from cares.core.canonical import write_json
from cares.core.pcm import SAMPLE_RATE, encode
from cares.core.record import read_records, write_records
from cares.records.answer import Answer
from cares.records.bank import Take
from cares.records.dialogue import Attempt, Dialogue
from cares.records.item import Item, Reference
from cares.records.scene import REACTIONS, Scene
from cares.records.timeline import MixedScene, PlacedEvent, PlacedGap, PlacedWord, Rules, Timeline

DATA = Path(__file__).parents[1] / "data"
WORD, PAUSE, GAP = 13_230, 2_205, 30_870
SOUNDS = {
    "dog_bark": "dog bark",
    "bicycle_bell": "bicycle bell",
    "church_bell": "church bell",
    "train_horn": "train horn",
    "floor_creak": "floor creak",
    "doorbell_chime": "doorbell chime",
}
PLACES = {"public_park": "a public park", "train_station": "a train station", "home_indoor": "a home"}
CALIBRATION = {
    "evaluator": "classifier/some-encoder",
    "balanced_accuracy": 0.9018,
    "balanced_accuracy_low": 0.837,
    "balanced_accuracy_high": 0.9566,
    "test_sounds": 112,
    "writer_family": "qwen",
    "evaluator_families": "bert",
    "same_family": False,
}
CALIBRATED = {"evaluator": "classifier", "measured": {"classifier": {"accuracy": {"confidence": 0.9}}}}
COUNTS = {"events": 4, "accepted": 3, "first_accepted": 1, "judged": 5, "recovered": 4}
WORDS = {
    "scenes": 4,
    "accepted": 3,
    "first_attempt": {"scenes": 4, "as_written": 0.25, "after_repair": 0.5},
    "accepted_within": {
        "waves": {str(k): 0.75 for k in range(1, 9)},
        "candidates": {str(k): min(1.0, k / 8) for k in range(1, 9)},
    },
    "labels": {"ambient": COUNTS, "pivot": {**COUNTS, "judged": 0, "recovered": 0}},
    "registers": {"verbal_dry": COUNTS},
    "compositions": {"pivot1-ambient2": {"scenes": 2, "accepted": 1, "first_accepted": 1, "attempts": 5}},
    "tokens_per_accepted_scene": 812.3,
    "repetition": {
        "lines": 7,
        "lines_over_1_percent": 2,
        "most_frequent_line": 0.6667,
        "most_frequent_line_scenes": 2,
    },
    "diversity": {
        "words": 600,
        "bleu_lines": 40,
        "accepted": {"distinct_1": 0.3, "distinct_2": 0.8, "distinct_3": 0.9, "self_bleu": None},
        "probes": {"distinct_1": 0.4, "distinct_2": 0.9, "distinct_3": 0.95, "self_bleu": 10.5},
        "ratio": {"distinct_1": 0.75, "distinct_2": 0.889, "distinct_3": 0.947, "self_bleu": None},
    },
}


@dataclass
class Build:
    """The folder of a build and the records in it."""

    root: Path
    scenes: list[MixedScene]


def place(scene: Scene, dialogue: Dialogue, topic: str | None = None) -> tuple[MixedScene, Timeline]:
    """Words of 0.3 s, gaps of 0.7 s at turns and around sounds of 1 s."""
    words: list[PlacedWord] = []
    events: list[PlacedEvent] = []
    gaps: list[PlacedGap] = []
    at = SAMPLE_RATE
    for number, turn in enumerate(dialogue.turns):
        if number:
            gaps.append(PlacedGap(kind="turn", start_sample=at, end_sample=at + GAP))
            at += GAP
        for segment in turn.segments:
            if segment.event is not None:
                allocated = scene.events[segment.event]
                events.append(
                    PlacedEvent(
                        event=segment.event,
                        sound=allocated.sound,
                        reaction=allocated.reaction,
                        register_id=allocated.register_id,
                        take_id=f"{allocated.sound}-01",
                        turn=number,
                        start_sample=at + 4_410,
                        end_sample=at + SAMPLE_RATE,
                        gap_start=at,
                        gap_end=at + SAMPLE_RATE + 4_410,
                        level_cdb=-2_000,
                        margin_cdb=1_150,
                        peak_limited=False,
                        take_faded=False,
                        scene_extended=False,
                        drawn_level_cdb=-2_000,
                    )
                )
                end = at + SAMPLE_RATE + 4_410
                gaps.append(PlacedGap(kind="word", start_sample=at, end_sample=end, event=segment.event))
                at = end
                continue
            for word in segment.text.split():
                words.append(
                    PlacedWord(
                        turn=number,
                        speaker=turn.speaker,
                        word=word,
                        start_sample=at,
                        end_sample=at + WORD,
                        interpolated=False,
                    )
                )
                at += WORD + PAUSE
    common = {"scene_id": scene.scene_id, "template_id": scene.template_id, "split": scene.split}
    mixed = MixedScene(
        **common,
        path=f"data/scenes/{scene.scene_id}.wav",
        sha256=hashlib.sha256(scene.scene_id.encode()).hexdigest(),
        n_samples=at + SAMPLE_RATE,
        integrated_lufs_cdb=-2_300,
        true_peak_cdb=-287,
        location=scene.location,
        relation=scene.relation,
        roles=scene.roles,
        genders=scene.genders,
        voices=("jf_alpha", "jm_kumo"),
        topic=topic or dialogue.topic,
        transcript="",
        words=tuple(words),
        events=tuple(events),
    )
    timeline = Timeline(
        **common,
        location=scene.location,
        genders=scene.genders,
        n_samples=mixed.n_samples,
        room_id="park-train",
        ambience_take="amb-park-01",
        clips=(),
        ducks={"A": (), "B": ()},
        master_gain_cdb=0,
        master_lufs_cdb=-2_300,
        words=mixed.words,
        events=mixed.events,
        gaps=tuple(gaps),
        rules=Rules(
            placement="matched",
            decoys_wanted=0,
            decoys=0,
            duck_labels="behavioral",
            voice_cdb=-2_000,
            ambience_drawn_cdb=-3_200,
            ambience_lowered_cdb=0,
            margin_cdb=600,
            master_cdb=-2_300,
            true_peak_cdb=-100,
        ),
    )
    return mixed, timeline


def item_of(scene: MixedScene, event: PlacedEvent) -> Item:
    """The question about one event, options in their plain order."""
    return Item(
        item_id=f"reactions-time_and_name/{scene.scene_id}/{event.event}",
        task="reactions",
        level="time_and_name",
        scene_id=scene.scene_id,
        template_id=scene.template_id,
        split=scene.split,
        audio=scene.path,
        audio_sha256=scene.sha256,
        question="?",
        choices=REACTIONS,
        texts=("a", "b", "c", "d"),
        answer=event.reaction,
        order=(0, 1, 2, 3),
        event=event.event,
        time_ms=0,
        sound=event.sound,
        sound_name=SOUNDS[event.sound],
        references=(
            Reference(
                event=event.event, sound=event.sound, sound_name=SOUNDS[event.sound], label=event.reaction, time_ms=0
            ),
        ),
    )


def figures(system: str) -> dict[str, object]:
    """Figures of one system as metrics/bench holds them, by hand."""

    def figure(value: float | None) -> dict[str, object]:
        return {"value": value, "ci95": None if value is None else [0.1, 0.625]}

    each = {"pivot": figure(0.0), "verbal": figure(0.5), "behavioral": figure(None), "ambient": figure(1.0)}
    return {
        "n": 6,
        "chance": 0.25,
        "balanced_accuracy": figure(0.25),
        "accuracy_all": figure(0.3333),
        "accuracy_readable": figure(0.5),
        "recall": each,
        "precision": each,
        "unreadable": 2 if system == "oracle" else 0,
        "status": {"ok": 4, "empty": 2} if system == "oracle" else {"ok": 6},
        "collapse": {"top": "verbal", "top_share": 0.5, "entropy_bits": 1.0},
        "order_effect": {"chosen_at": {}, "accuracy_at": {}, "p": 0.04},
        "confusion": {
            "answers": [*REACTIONS, "unreadable"],
            "counts": {"ambient": [0, 0, 0, 9, 0], "pivot": [1, 2, 0, 0, 3]},
        },
    }


def attempt(scene_id: str, number: int, reason: str, detail: str = "") -> Attempt:
    """One attempt that ended for `reason`."""
    return Attempt(
        scene_id=scene_id,
        attempt=number,
        candidate=0,
        topic="x" * 8,
        seed=1,
        reason=reason,
        detail=detail,
        finish_reason="stop",
        completion_tokens=100,
        text="[]",
    )


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Three finished scenes of four allocated ones, in a folder with a space and letters outside ASCII."""
    return make_build(tmp_path / "ein Bündel")


def make_build(root: Path) -> Build:
    """The build of the fixture `build` in a folder of its own."""
    allocated = read_records(Scene, DATA / "scenes_small.jsonl")
    placed = [
        place(scene, dialogue)
        for scene, dialogue in zip(allocated, read_records(Dialogue, DATA / "dialogues_small.jsonl"), strict=True)
    ]
    scenes = [mixed for mixed, _ in placed]
    lost = allocated[0].model_copy(update={"scene_id": "t00003-0", "template_id": "t00003"})
    write_records(root / "data/allocation/scenes.jsonl", [*allocated, lost])
    write_records(root / "data/scenes/scenes.jsonl", scenes)
    write_records(root / "data/timelines.jsonl", [timeline for _, timeline in placed])
    write_records(
        root / "data/dialogues/attempts.jsonl",
        [
            *(attempt(scene.scene_id, 0, "accepted") for scene in scenes),
            attempt("t00003-0", 0, "label_not_recovered"),
            attempt("t00003-0", 1, "names_the_sound", "turn 3: dog"),
        ],
    )
    shutil.copy(DATA / "dialogues_small.jsonl", root / "data/dialogues/accepted.jsonl")
    write_json(root / "data/calibration.json", CALIBRATED)
    write_json(root / "metrics/calibration.json", CALIBRATION)
    write_json(root / "metrics/dialogues.json", WORDS)
    (root / "metrics/plots").mkdir()
    (root / "metrics/plots/repeated_phrases.csv").write_text("kind,words,scenes\nline,so that is what she said,2\n")
    items = [item_of(scene, event) for scene in scenes for event in scene.events]
    write_records(root / "data/bench/items.jsonl", items)
    for system, choices in (("majority", ["ambient"] * 6), ("oracle", ["verbal", None, "behavioral"] * 2)):
        answers = [
            Answer(
                item_id=item.item_id,
                system=system,
                text=choice or "",
                finish_reason="stop",
                status="ok" if choice else "empty",
                choice=choice,
            )
            for item, choice in zip(items, choices, strict=True)
        ]
        write_records(root / f"data/bench/answers/{system}.jsonl", answers)
        write_json(
            root / f"metrics/bench/{system}.json",
            {"system": system, "model": "some-model", "tasks": {"reactions-time_and_name": figures(system)}},
        )
    write_json(root / "metrics/wer.json", {"mix": {"word_error_rate": 0.0712}, "dry": {"word_error_rate": 0.0123}})
    write_json(root / "metrics/audit.json", {"balanced_accuracy": 0.27, "ci95": [0.18, 0.36]})
    takes = [
        Take(
            take_id=f"dog_bark-{number:02d}",
            kind="event",
            name="dog_bark",
            split="train",
            path="data/sounds/takes/x.flac",
            n_samples=1,
            pcm_sha256="0" * 64,
            source="procedural",
            licence="CC0-1.0",
            author="CARES",
            url="",
        )
        for number in range(3)
    ]
    write_records(root / "data/sounds/bank.jsonl", takes)
    tone = np.round(800 * np.sin(np.arange(SAMPLE_RATE) / 16)).astype(np.int16)
    for scene in scenes:
        (root / scene.path).write_bytes(encode(tone, container="WAV"))
    return Build(root, scenes)


@pytest.fixture(scope="session")
def new_build() -> Callable[[Path], Build]:
    """Makes such a build in a folder, for a fixture that several tests share."""
    return make_build


@pytest.fixture(scope="session")
def sounds() -> dict[str, str]:
    """Display names of sounds."""
    return SOUNDS


@pytest.fixture(scope="session")
def places() -> dict[str, str]:
    """Display names of locations."""
    return PLACES
