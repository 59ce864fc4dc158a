"""Everything that the report reads. A file that an unfinished build lacks is named in the report, not an error."""

from __future__ import annotations

import csv
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from cares.core.canonical import Json, read_json, read_jsonl
from cares.core.errors import InputError
from cares.core.record import Record, iter_records
from cares.core.record_file import LazyMapping, RecordFile
from cares.records.answer import Answer
from cares.records.bank import Take
from cares.records.dialogue import Attempt, Dialogue
from cares.records.item import Item
from cares.records.scene import Scene
from cares.records.speech import SceneAlignment, SceneSpeech, Word
from cares.records.timeline import Clip, MixedScene, PlacedGap, Timeline
from cares.report.audit_inputs import AuditFigures, read_audit

R = TypeVar("R", bound=Record)
ALIGNMENT = "data/alignment.jsonl"
SCENES = "data/scenes/scenes.jsonl"
TIMELINES = "data/timelines.jsonl"
SHOWN_TASK = "reactions-time_and_name"
REPEATS = "metrics/plots/repeated_phrases.csv"


@dataclass
class Inputs:
    """The records of one build below `root`.

    A large set has too many words to be held: `scenes` are without words and transcript, `mixed` reads a scene as it
    is, and `gaps` and `voice_clips` (the speech) read its timeline, when they are asked for. `items` and `answers` are
    those of `SHOWN_TASK`, `repeats` rows of repeated_phrases.csv, `missing` the files that were not there.
    """

    scenes: list[MixedScene]
    allocated: list[Scene]
    dialogues: list[Dialogue]
    attempts: list[Attempt]
    repeats: list[dict[str, str]]
    calibration: Json
    speech: list[SceneSpeech]
    takes: list[Take]
    items: list[Item]
    answers: dict[str, list[Answer]]
    gaps: Mapping[str, tuple[PlacedGap, ...]]
    metrics: dict[str, Json]
    bench: dict[str, Json]
    models: Json
    leaderboard: Json
    audit: AuditFigures = field(default_factory=AuditFigures)
    missing: list[str] = field(default_factory=list)
    root: Path = Path()
    voice_clips: Mapping[str, tuple[Clip, ...]] = field(default_factory=dict)
    mixed: Mapping[str, MixedScene] = field(default_factory=dict)


def read_inputs(root: Path) -> Inputs:
    """Read the build under `root`.

    Raises:
        InputError: scenes.jsonl is missing, or any file that is there is not as it should be.
    """
    missing: list[str] = []

    def optional(kind: type[R], name: str, wanted: Callable[[R], bool] = lambda _: True) -> list[R]:
        if (root / name).is_file():
            return [record for record in iter_records(kind, root / name) if wanted(record)]
        missing.append(name)
        return []

    def lines(kind: type[R], name: str) -> Mapping[str, R]:
        if (root / name).is_file():
            return RecordFile(kind, root / name)
        missing.append(name)
        return {}

    def folder(name: str, suffix: str) -> list[Path]:
        files = sorted((root / name).glob(f"*{suffix}"))
        if not files:
            missing.append(f"{name}/*{suffix}")
        return files

    def value(name: str) -> Json:
        if (root / name).is_file():
            return read_json(root / name)
        missing.append(name)
        return None

    if not (root / ALIGNMENT).is_file():
        missing.append(ALIGNMENT)
    timelines = lines(Timeline, TIMELINES)
    return Inputs(
        scenes=_wordless(root / SCENES),
        allocated=optional(Scene, "data/allocation/scenes.jsonl"),
        dialogues=optional(Dialogue, "data/dialogues/accepted.jsonl"),
        attempts=optional(Attempt, "data/dialogues/attempts.jsonl"),
        repeats=_repeats(root / REPEATS, missing),
        calibration=value("data/calibration.json"),
        speech=optional(SceneSpeech, "data/speech/speech.jsonl"),
        takes=optional(Take, "data/sounds/bank.jsonl"),
        items=(items := optional(Item, "data/bench/items.jsonl", lambda item: item.group == SHOWN_TASK)),
        answers={
            path.stem: _answers(path, {item.item_id for item in items})
            for path in folder("data/bench/answers", ".jsonl")
        },
        gaps=LazyMapping(timelines, lambda timeline: timeline.gaps),
        metrics={path.stem: read_json(path) for path in folder("metrics", ".json")},
        bench={path.stem: read_json(path) for path in folder("metrics/bench", ".json")},
        models=value("data/models.json"),
        leaderboard=value("data/bench/leaderboard/leaderboard.json"),
        audit=read_audit(root, missing),
        missing=missing,
        root=root,
        voice_clips=LazyMapping(
            timelines, lambda timeline: tuple(clip for clip in timeline.clips if clip.track in ("A", "B"))
        ),
        mixed=RecordFile(MixedScene, root / SCENES),
    )


def _wordless(path: Path) -> list[MixedScene]:
    """All finished scenes without words and transcript."""
    return [scene.model_copy(update={"words": (), "transcript": ""}) for scene in iter_records(MixedScene, path)]


def _answers(path: Path, asked: Container[str]) -> list[Answer]:
    """The answers to some items."""
    return [answer for answer in iter_records(Answer, path) if answer.item_id in asked]


def read_words(root: Path, scene_ids: Container[str]) -> dict[str, tuple[Word, ...]]:
    """The aligned words of some scenes; only their lines become records, for a large set has millions of words.

    Raises:
        InputError: the file is damaged, or one of these lines is not as it should be.
    """
    path = root / ALIGNMENT
    if not path.is_file():
        return {}
    chosen = (
        SceneAlignment.parse(value, path, f"line {number}")
        for number, value in enumerate(read_jsonl(path), 1)
        if not isinstance(value, Mapping) or value.get("scene_id") in scene_ids
    )
    return {scene.scene_id: scene.words for scene in chosen}


def _repeats(path: Path, missing: list[str]) -> list[dict[str, str]]:
    if not path.is_file():
        missing.append(REPEATS)
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if reader.fieldnames != ["kind", "words", "scenes"]:
            raise InputError(path, "line 1", reader.fieldnames, "kind,words,scenes")
        return list(reader)
