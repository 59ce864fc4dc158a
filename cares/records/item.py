"""Frozen questions of the benchmark."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cares.core.record import Record
from cares.records.bank import Sha256
from cares.records.names import DataPath, Name
from cares.records.scene import REACTIONS, Reaction, Split

Task = Literal["scene", "sounds", "reactions", "grounding", "summary"]
TASKS: tuple[Task, ...] = ("scene", "sounds", "reactions", "grounding", "summary")
LEVELS: dict[Task, tuple[str, ...]] = {
    "scene": ("",),
    "sounds": ("",),
    "reactions": ("time", "time_and_name", "neither"),
    "grounding": ("original", "muted"),
    "summary": ("25", "75", "200"),
}
YES_NO = ("yes", "no")
LETTERS = "ABCD"
Count = Annotated[int, Field(ge=0)]
_CHOICES: dict[Task, int] = {"scene": 4, "sounds": 4, "reactions": 4, "grounding": 2, "summary": 0}


class Reference(Record):
    """An event of the scene, for scoring: never a part of the question."""

    event: Count
    sound: str
    sound_name: str
    label: Reaction
    time_ms: Count


class Item(Record):
    """One question about one recording.

    task, level: what is asked, and what is revealed (`reactions`), which half of a pair the recording is (`grounding`),
        or how long the answer is to be (`summary`).
    audio, audio_sha256: the recording, relative to the repository: the scene, or a counterfactual of it.
    question: the whole question as asked, options included.
    choices: ids in the order in which they are shown as A, B, C, D: locations, sounds, labels, or yes and no; none for
        `summary`. `texts` is what is shown for each, `answer` the right one ("" for `summary`).
    order: of each choice shown, its place in the canonical order: that of REACTIONS, of YES_NO, or of sorted ids.
    event, time_ms, sound, sound_name: what the question is about; None or "" for `scene` and `summary`. They say more
        than the question: `neither` reveals none of them.
    pair: of `grounding`, the same for both halves. words: of `summary`, the length that is asked for.
    added: the number of the batch with which its scene was added; left out for the scenes of the start.
    references: the event in question; for `summary` all events of the scene; none for `scene`.
    """

    item_id: str
    task: Task
    level: str = ""
    scene_id: Name
    template_id: Name
    split: Split
    audio: DataPath
    audio_sha256: Sha256
    question: Annotated[str, Field(min_length=1)]
    choices: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    answer: str = ""
    order: tuple[int, ...] = ()
    event: Count | None = None
    time_ms: Count | None = None
    sound: str = ""
    sound_name: str = ""
    pair: str = ""
    words: Annotated[int, Field(ge=1)] | None = None
    added: Count = Field(default=0, exclude_if=lambda value: value == 0)
    references: tuple[Reference, ...] = ()

    @property
    def group(self) -> str:
        """The task with its level, under which scores are reported: "sounds", "reactions-time", "summary-25"."""
        return f"{self.task}-{self.level}" if self.level else self.task

    @property
    def letters(self) -> str:
        """The letters of the choices, "" for `summary`."""
        return LETTERS[: len(self.choices)]

    @property
    def position(self) -> int:
        """The place of the right answer among the choices; ValueError for `summary`."""
        return self.choices.index(self.answer)

    @model_validator(mode="after")
    def _level_of_task(self) -> Self:
        if self.level not in LEVELS[self.task]:
            raise ValueError(f"task {self.task!r} has the levels {', '.join(LEVELS[self.task])}, not {self.level!r}")
        return self

    @model_validator(mode="after")
    def _one_answer(self) -> Self:
        if len(self.choices) != _CHOICES[self.task] or len(set(self.choices)) != len(self.choices):
            raise ValueError(f"{self.task} has {_CHOICES[self.task]} different choices, not {self.choices}")
        if len(self.texts) != len(self.choices) or len(set(self.texts)) != len(self.texts):
            raise ValueError(f"a text for each of the choices {self.choices}, each another, not {self.texts}")
        if not (self.answer in self.choices if self.choices else self.answer == ""):
            raise ValueError(f"choices {self.choices} must hold the answer {self.answer!r}")
        if tuple(sorted(self.order)) != tuple(range(len(self.choices))):
            raise ValueError(f"order {self.order} is no permutation of the {len(self.choices)} choices")
        canonical = canonical_order(self.task, self.choices)
        if tuple(canonical[place] for place in self.order) != self.choices:
            raise ValueError(f"order {self.order} of {canonical} does not give {self.choices}")
        return self

    @model_validator(mode="after")
    def _fields_of_task(self) -> Self:
        about_event = self.task in ("sounds", "reactions", "grounding")
        for name in ("event", "time_ms"):
            if about_event != (getattr(self, name) is not None):
                raise ValueError(f"{name} {getattr(self, name)} does not go with task {self.task!r}")
        for name in ("sound", "sound_name"):
            if about_event != bool(getattr(self, name)):
                raise ValueError(f"{name} {getattr(self, name)!r} does not go with task {self.task!r}")
        if (self.task == "grounding") != bool(self.pair):
            raise ValueError(f"pair {self.pair!r} does not go with task {self.task!r}")
        if self.words != (int(self.level) if self.task == "summary" else None):
            raise ValueError(f"words {self.words} do not go with {self.group!r}")
        if about_event and [(r.event, r.sound) for r in self.references] != [(self.event, self.sound)]:
            raise ValueError(f"references must hold event {self.event} ({self.sound}) alone")
        return self


def canonical_order(task: Task, choices: tuple[str, ...]) -> tuple[str, ...]:
    """The order that `order` counts in: labels as in REACTIONS, yes before no, other ids sorted.

    Raises:
        ValueError: labels or yes and no are not those of the task.
    """
    known: dict[str, tuple[str, ...]] = {"reactions": REACTIONS, "grounding": YES_NO}
    if task in known and sorted(choices) != sorted(known[task]):
        raise ValueError(f"choices {choices} of {task!r} are not {', '.join(known[task])}")
    return known.get(task, tuple(sorted(choices)))


class Counterfactual(Record):
    """One line of counterfactuals/manifest.jsonl: a scene without one of its events, all gains and ducks kept.

    `of_sha256` is the file of the whole scene; the samples of the two differ from `first_sample` to before `end_sample`
    only.
    """

    scene_id: Name
    event: Count
    split: Split
    path: DataPath
    sha256: Sha256
    of_sha256: Sha256
    n_samples: Annotated[int, Field(ge=1)]
    first_sample: Count
    end_sample: Annotated[int, Field(ge=1)]
