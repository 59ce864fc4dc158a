"""The bank: takes of sounds and ambiences, rooms and their impulse responses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record
from cares.records.scene import Split

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Take(Record):
    """One recording or synthesis of a sound, or of a location's ambience.

    `name` is a sound id (kind "event") or a location id (kind "ambience"); a take belongs to one split only.
    """

    take_id: str
    kind: Literal["event", "ambience"]
    name: str
    split: Split
    path: str
    n_samples: Annotated[int, Field(ge=1)]
    pcm_sha256: Sha256
    source: str
    licence: str
    author: str
    url: str
    edits: tuple[str, ...] = ()


class Response(Record):
    """`n_samples` integers from `offset` in responses.npy, 20 fractional bits, no leading delay."""

    role: Literal["A", "B", "event"]
    index: Annotated[int, Field(ge=0)]
    offset: Annotated[int, Field(ge=0)]
    n_samples: Annotated[int, Field(ge=1)]


class Room(Record):
    """A simulated or measured room: sizes in millimetres, reverberation time in milliseconds (0 outdoors)."""

    room_id: str
    location: str
    split: Split
    source: str
    size_mm: tuple[int, int, int]
    rt60_ms: Annotated[int, Field(ge=0)]
    responses: tuple[Response, ...]
