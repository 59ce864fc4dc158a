"""The bank: takes of sounds and ambiences, rooms and their impulse responses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record
from cares.records.names import DataPath, Name
from cares.records.scene import Split

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Take(Record):
    """One recording or synthesis of a sound, or of a location's ambience.

    `name` is a sound id (kind "event") or a location id (kind "ambience"); a take belongs to one split only.
    """

    take_id: Name
    kind: Literal["event", "ambience"]
    name: str
    split: Split
    path: DataPath
    n_samples: Annotated[int, Field(ge=1)]
    pcm_sha256: Sha256
    source: str
    licence: str
    author: str
    url: str
    edits: tuple[str, ...] = ()


class Response(Record):
    """`n_samples` integers from `offset` in responses.npy, 20 fractional bits, no leading delay.

    place_mm: where the source is; None where that is not known, as of measured responses.
    distance_mm, level_cdb: from the listener, and the level of the direct sound against that at 1 m in hundredths of a
        decibel. It is not in the integers, whose direct sound is 1: a sound's level is set by the mix.
    air_cdb: what air takes of the direct sound at 8 kHz; it is in the integers.
    direct_to_reverberant_cdb: energy of the direct sound against all that follows.
    """

    role: Literal["A", "B", "event"]
    index: Annotated[int, Field(ge=0)]
    offset: Annotated[int, Field(ge=0)]
    n_samples: Annotated[int, Field(ge=1)]
    place_mm: tuple[int, int, int] | None = None
    distance_mm: int | None = None
    level_cdb: int | None = None
    air_cdb: int | None = None
    direct_to_reverberant_cdb: int | None = None


class Room(Record):
    """A simulated or measured room: sizes in millimetres, reverberation time in milliseconds (0 outdoors).

    size_mm: zeros where it is not known, as of measured rooms.
    rt60_ms: aimed, of a simulated room; measured, of a measured one.
    rt60_measured_ms: mean T20 of the octaves at 500 Hz and 1 kHz; None outdoors.
    rt60_bands_ms: T20 in the octaves from 125 Hz to 8 kHz; None where the decay is too small to be measured.
    materials: of its sides west, east, south, north, floor and ceiling; outdoors of the ground.
    licence, author, url: of measured responses.
    """

    room_id: str
    location: str
    split: Split
    source: str
    size_mm: tuple[int, int, int]
    rt60_ms: Annotated[int, Field(ge=0)]
    responses: tuple[Response, ...]
    listener_mm: tuple[int, int, int] | None = None
    rt60_measured_ms: int | None = None
    rt60_bands_ms: tuple[int | None, ...] = ()
    materials: tuple[str, ...] = ()
    licence: str = "CC0-1.0"
    author: str = ""
    url: str = ""
    edits: tuple[str, ...] = ()
