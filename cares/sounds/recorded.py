"""A source of recordings, whether they lie in a folder or were fetched: splits, jobs, and how a take is made of one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import soxr

from cares.core.canonical import Json
from cares.core.pcm import SAMPLE_RATE
from cares.core.store import ItemStore
from cares.records.scene import Split
from cares.sounds import decode
from cares.sounds.params import TakeCounts
from cares.sounds.prepare import QUALITY, Part, prepare
from cares.sounds.signal import Signal
from cares.sounds.source import Ask, Job, Kind, Provenance, Wanted
from cares.sounds.splits import Member, assign_splits, chosen

# what a recording may lack or have beyond the length that the catalog gives a sound, which is an estimate
SHORTER, LONGER = 0.5, 1.5
SHORTEST_S = 0.05
AMBIENCE_S = (5.0, 600.0)
_CODE = (
    "cares.core.pcm",
    "cares.sounds.bank",
    "cares.sounds.declared_size",
    "cares.sounds.decode",
    "cares.sounds.prepare",
    "cares.sounds.quality",
    "cares.sounds.signal",
)


class InFile(NamedTuple):
    """A recording in a file of its own."""

    path: Path

    def read(self) -> bytes:
        """Its bytes; OSError when it is gone."""
        return self.path.read_bytes()


class InStore(NamedTuple):
    """A recording that was fetched into the item store."""

    family: str
    key: str

    def read(self) -> bytes:
        """Its bytes; RuntimeError when it was not fetched."""
        entry = ItemStore(self.family).get(self.key)
        if entry is None:
            raise RuntimeError(f"{self.family} {self.key} was not fetched")
        return entry.blob


class Recording(NamedTuple):
    """What a source knows of a recording before it is read.

    group: what must not part: see `cares.sounds.splits`.
    origin: file and line by which a person would correct it.
    """

    kind: Kind
    name: str
    place: InFile | InStore
    sha256: str
    part: Part
    provenance: Provenance
    group: str
    split: Split | None
    origin: str

    @property
    def key(self) -> str:
        """What tells it from all others: its kind, name, content and part."""
        return f"{self.kind}:{self.name}:{self.sha256}:{self.part.start_s}:{self.part.end_s}"

    @property
    def member(self) -> Member:
        """What is needed to give it a split."""
        return Member(f"{self.kind}:{self.name}", self.group, self.split)


@dataclass(frozen=True)
class RecordedJob:
    """One take of a recording, a function of the file's bytes, the part, and the decoders."""

    wanted: Wanted
    of: Recording

    @property
    def source(self) -> str:
        """Where the recording is from."""
        return self.of.provenance.source

    @property
    def origin(self) -> str:
        """File and line that name the recording."""
        return self.of.origin

    @property
    def recording(self) -> str:
        """SHA-256 of the recording's file."""
        return self.of.sha256

    @property
    def code(self) -> tuple[str, ...]:
        """Reading, preparing and checking."""
        return _CODE

    def inputs(self) -> Json:
        """Content, part, provenance, and versions of what reads and resamples."""
        return {
            "sha256": self.of.sha256,
            "part": list(self.of.part),
            "provenance": list(self.of.provenance),
            "wanted": list(self.wanted),
            "versions": [*decode.versions(), soxr.__version__, QUALITY],
        }

    def make(self) -> tuple[Signal, Provenance]:
        """Read and prepare the recording; UnusableError when that cannot be."""
        signal, edits = prepare(self.of.place.read(), self.of.part, trim=self.wanted.kind == "event")
        provenance = self.of.provenance
        return signal, provenance._replace(edits=provenance.edits + edits)


@dataclass(frozen=True)
class RecordedSource:
    """Recordings under one name of `sounds.source`; splits are drawn with the data set's seed."""

    name: str
    recordings: tuple[Recording, ...]
    seed: int

    def offered(self, kind: Kind) -> tuple[str, ...]:
        """Ids of which there is a recording, sorted."""
        return tuple(sorted({each.name for each in self.recordings if each.kind == kind}))

    def jobs(self, kind: Kind, name: str, seconds: tuple[float, float], ask: Ask) -> list[Job]:
        """One job for each recording that is used: see `SoundSource.jobs`."""
        shortest, longest = limits(kind, seconds)
        used = self._used(kind, name, ask.counts[kind], ask.without)
        return [
            RecordedJob(Wanted(kind, name, number, split, shortest, longest), recording)
            for number, (split, recording) in enumerate(used)
        ]

    def _used(
        self, kind: Kind, name: str, counts: TakeCounts, without: frozenset[str]
    ) -> list[tuple[Split, Recording]]:
        there = {each.key: each for each in self.recordings if (each.kind, each.name) == (kind, name)}
        members = [(each.member, key) for key, each in there.items() if each.origin not in without]
        picked = chosen(members, _splits(self, without), counts, self.seed)
        return [(split, there[key]) for split, key in picked]


def limits(kind: Kind, seconds: tuple[float, float]) -> tuple[int, int]:
    """Shortest and longest recording in samples, for a sound to which the catalog gives a range of `seconds`."""
    if kind == "ambience":
        shortest, longest = AMBIENCE_S
    else:
        shortest, longest = max(SHORTEST_S, SHORTER * seconds[0]), LONGER * seconds[1]
    return round(shortest * SAMPLE_RATE), round(longest * SAMPLE_RATE)


@lru_cache(maxsize=8)
def _splits(source: RecordedSource, without: frozenset[str]) -> dict[str, Split]:
    return assign_splits([each.member for each in source.recordings if each.origin not in without], source.seed)
