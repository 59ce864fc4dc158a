"""What a system answered, kept raw."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from cares.core.record import Record

ParseStatus = Literal["ok", "unreadable", "empty", "truncated", "error"]


class Answer(Record):
    """One answer to one item; `choice` is None unless the status is ok.

    - `unreadable`: no label, or more than one, is meant;
    - `empty`: nothing but white space;
    - `truncated`: the text was cut before it came to a label;
    - `error`: the model gave no answer (`finish_reason` says why).
    """

    item_id: str
    system: str
    text: str
    finish_reason: str
    status: ParseStatus
    choice: str | None
    prompt_tokens: Annotated[int, Field(ge=0)] = 0
    completion_tokens: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _choice_when_ok(self) -> Self:
        if (self.status == "ok") != (self.choice is not None):
            raise ValueError(f"status {self.status!r} does not go with choice {self.choice!r}")
        return self
