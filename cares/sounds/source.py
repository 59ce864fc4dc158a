"""The interface of a source of sounds: what it offers, and one job for each take that the bank wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

from cares.core.canonical import Json
from cares.records.scene import Split
from cares.sounds.params import TakeCounts
from cares.sounds.signal import Signal

Kind = Literal["event", "ambience"]
KINDS: tuple[Kind, Kind] = ("ambience", "event")


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


class Ask(NamedTuple):
    """What the bank asks a source for: takes per split of each kind, leaving out recordings found unusable."""

    counts: Mapping[Kind, TakeCounts]
    without: frozenset[str] = frozenset()


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
    def source(self) -> str:
        """The name of its source."""
        ...

    @property
    def origin(self) -> str:
        """The file, and where there is one the line, by which a person would correct the take; for messages."""
        ...

    @property
    def recording(self) -> str:
        """SHA-256 of the recording's file, or "" for a take that is synthesised."""
        ...

    @property
    def code(self) -> tuple[str, ...]:
        """The modules that decide its samples: part of its key in the item store."""
        ...

    def inputs(self) -> Json:
        """All that the take depends on besides the code, as JSON: part of its key in the item store."""
        ...

    def make(self) -> tuple[Signal, Provenance]:
        """The take as float64 [T] at 44.1 kHz, one channel, full scale 1.0, and where it is from.

        Raises:
            UnusableError: the recording cannot be read, or has faults that only the file as it was shows.
        """
        ...


class SoundSource(Protocol):
    """A source of takes, such as synthesis, a folder of recordings, or a service."""

    @property
    def name(self) -> str:
        """The name by which `sounds.source` asks for it."""
        ...

    def offered(self, kind: Kind) -> tuple[str, ...]:
        """Ids of the sounds (or of the locations whose ambience) that it has, sorted."""
        ...

    def jobs(self, kind: Kind, name: str, seconds: tuple[float, float], ask: Ask) -> list[Job]:
        """One job a take, numbered in the order of splits; none unless every split gets at least one take.

        Args:
            kind, name: the sound, or the location whose ambience it is.
            seconds: shortest and longest length that the catalog gives it.
            ask: how many takes each split gets at most.
        """
        ...
