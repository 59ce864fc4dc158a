"""Allocated scenes: everything that is fixed before a word is written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cares.core.record import Record
from cares.records.names import Name

Reaction = Literal["pivot", "verbal", "behavioral", "ambient"]
REACTIONS: tuple[Reaction, ...] = ("pivot", "verbal", "behavioral", "ambient")
Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
Gender = Literal["F", "M"]
Speaker = Literal["A", "B"]
Count = Annotated[int, Field(ge=0)]
MOST_TURNS = 40


class Composition(Record):
    """How many events of each reaction a scene has: at most three, at most one of them a pivot."""

    pivot: Annotated[int, Field(ge=0, le=1)]
    verbal: Annotated[int, Field(ge=0, le=3)]
    behavioral: Annotated[int, Field(ge=0, le=3)]
    ambient: Annotated[int, Field(ge=0, le=3)]

    @model_validator(mode="after")
    def _at_most_three(self) -> Self:
        if self.total > 3:
            raise ValueError(f"at most 3 events, not {self.total}")
        return self

    @property
    def total(self) -> int:
        """Number of events."""
        return self.pivot + self.verbal + self.behavioral + self.ambient


class Event(Record):
    """One sound in a scene.

    `slot` is the index of the turn inside which the sound falls (0 is the first turn). Events are listed by slot.
    """

    sound: str
    reaction: Reaction
    register_id: str = Field(alias="register")
    slot: Count

    model_config = Record.model_config | {"populate_by_name": True, "serialize_by_alias": True}


class Scene(Record):
    """One line of scenes.jsonl.

    `length_s`, how long the scene should be, is left out where nothing is asked; `added`, the number of the batch with
    which the scene was added, for the scenes that were there from the start.
    """

    scene_id: Name
    template_id: Name
    split: Split
    location: str
    relation: str
    roles: tuple[str, str]
    genders: tuple[Gender, Gender]
    theme: str
    n_turns: Annotated[int, Field(ge=6, le=MOST_TURNS)]
    composition: Composition
    events: tuple[Event, ...]
    length_s: Annotated[float, Field(gt=0)] | None = Field(default=None, exclude_if=lambda value: value is None)
    added: Count = Field(default=0, exclude_if=lambda value: value == 0)

    @model_validator(mode="after")
    def _events_match(self) -> Self:
        for reaction in REACTIONS:
            found = sum(event.reaction == reaction for event in self.events)
            if found != getattr(self.composition, reaction):
                stated = getattr(self.composition, reaction)
                raise ValueError(f"composition says {stated} {reaction}, events hold {found}")
        slots = [event.slot for event in self.events]
        if slots != sorted(set(slots)) or any(not 1 <= slot < self.n_turns for slot in slots):
            raise ValueError(f"slots {slots} must rise within 1 and n_turns - 1")
        return self


def batches(scenes: Iterable[Scene]) -> list[list[Scene]]:
    """The scenes that were there from the start, then those of each batch that was added later."""
    found: dict[int, list[Scene]] = {}
    for scene in scenes:
        found.setdefault(scene.added, []).append(scene)
    return [found[number] for number in sorted(found)]


class Template(Record):
    """One line of templates.jsonl: scenes of one template share a theme and a split."""

    template_id: Name
    split: Split
    theme: str
    scene_ids: tuple[Name, ...]
