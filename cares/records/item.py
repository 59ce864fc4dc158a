"""Frozen questions of the benchmark."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cares.core.record import Record
from cares.records.bank import Sha256
from cares.records.scene import Split

LETTERS = "ABCD"
Four = Annotated[tuple[str, ...], Field(min_length=4, max_length=4)]


class Item(Record):
    """One question about one scene.

    `options` are labels in the order in which they are shown, lettered A to D, and `definitions` says what each means;
    `answer` is one of the options. `sound` is the catalog's id, `sound_name` what the question calls it.
    """

    item_id: str
    task: Literal["reactions"]
    scene_id: str
    template_id: str
    split: Split
    audio: str
    audio_sha256: Sha256
    event: Annotated[int, Field(ge=0)]
    reveal: Literal["time_and_name"]
    time_ms: Annotated[int, Field(ge=0)]
    sound: str
    sound_name: str
    question: str
    options: Four
    definitions: Four
    answer: str

    @model_validator(mode="after")
    def _one_answer(self) -> Self:
        if len(set(self.options)) != 4 or self.answer not in self.options:
            raise ValueError(f"options {self.options} must differ and hold the answer {self.answer!r}")
        return self
