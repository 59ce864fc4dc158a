"""The interface of a source of sounds: what it offers, and one job for each take that the bank wants."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from cares.core.canonical import Json
from cares.records.scene import Split
from cares.sounds.signal import Signal

Kind = Literal["event", "ambience"]


class Wanted(NamedTuple):
    """A take that the bank asks for: take `number` of a sound (kind "event") or of a location's ambience.

    `shortest` and `longest` are its least and greatest length in samples.
    """

    kind: Kind
    name: str
    number: int
    split: Split
    shortest: int
    longest: int

    @property
    def take_id(self) -> str:
        """`dog_bark-00` for a sound, `amb-beach-00` for an ambience."""
        return f"{'amb-' if self.kind == 'ambience' else ''}{self.name}-{self.number:02d}"


class Provenance(NamedTuple):
    """Where a take is from: SPDX licence, author, address ("" where there is none), and what was done to it."""

    source: str
    licence: str
    author: str
    url: str
    edits: tuple[str, ...] = ()


class Job(Protocol):
    """One take to be made; it is sent to worker processes, so it must be picklable and small."""

    @property
    def wanted(self) -> Wanted:
        """What is to be made."""
        ...

    @property
    def origin(self) -> str:
        """The file by which a person would correct the take, as shown in error messages."""
        ...

    def inputs(self) -> Json:
        """All that the take depends on besides the code, as JSON: part of its key in the item store."""
        ...

    def make(self) -> tuple[Signal, Provenance]:
        """The take as float64 [T] at 44.1 kHz, one channel, full scale 1.0, and where it is from."""
        ...


class SoundSource(Protocol):
    """A source of takes, such as synthesis, a folder of recordings, or a service."""

    def offered(self, kind: Kind) -> tuple[str, ...]:
        """Ids of the sounds (or of the locations whose ambience) that it has, sorted."""
        ...

    def capacity(self, kind: Kind, name: str) -> int | None:
        """How many different takes it has of one of these; None when as many as wanted."""
        ...

    def job(self, wanted: Wanted) -> Job:
        """How to make one take."""
        ...
