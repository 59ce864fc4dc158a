"""What a system answered, kept raw."""

from __future__ import annotations

from typing import Literal

from cares.core.record import Record

ParseStatus = Literal["ok", "unreadable", "empty", "truncated", "error"]


class Answer(Record):
    """One answer to one item; `choice` is None unless the status is ok."""

    item_id: str
    system: str
    text: str
    finish_reason: str
    status: ParseStatus
    choice: str | None
