"""Frozen questions of the benchmark."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record
from cares.records.bank import Sha256
from cares.records.scene import Split


class Item(Record):
    """One question about one scene; `options` in the order in which they are shown, `answer` is one of them."""

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
    options: tuple[str, ...]
    answer: str
