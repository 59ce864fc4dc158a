"""What a system answered, kept raw."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cares.core.record import Record

ParseStatus = Literal["ok", "refused", "loop", "truncated", "unreadable", "empty", "error"]
STATUSES: tuple[ParseStatus, ...] = ("ok", "refused", "loop", "truncated", "unreadable", "empty", "error")


class Answer(Record):
    """One answer to one item.

    `choice` is one of the item's choices, and None unless the status is ok; an item without choices (a summary) has
    none, and its text is what counts:

    - `ok`: exactly one choice is meant, or the text of a free answer is whole;
    - `refused`: the system says that it will not or cannot answer, and names no choice;
    - `loop`: the text goes round in circles;
    - `truncated`: the text was cut before it came to its answer;
    - `unreadable`: no choice, or more than one, is meant;
    - `empty`: nothing but white space;
    - `error`: the system gave no answer (`finish_reason` is "error", `text` says why).

    `constrained`: the system could write nothing but one of the choices. `repeat`: 0, or the number of the repetition
    for items that are asked several times, from which the flip rate is taken. How long it took is kept elsewhere,
    because it is not the same again.
    """

    item_id: str
    system: str
    text: str
    finish_reason: str
    status: ParseStatus
    choice: str | None
    constrained: bool = False
    repeat: Annotated[int, Field(ge=0)] = 0
    prompt_tokens: Annotated[int, Field(ge=0)] = 0
    completion_tokens: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _choice_only_when_ok(self) -> Self:
        if self.choice is not None and self.status != "ok":
            raise ValueError(f"status {self.status!r} does not go with choice {self.choice!r}")
        return self
