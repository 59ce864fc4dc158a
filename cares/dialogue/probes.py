"""The labelled probes: short transcripts written by hand, on which evaluators are trained and measured.

data/README.md beside them is their data card.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from cares.core.canonical import read_jsonl
from cares.core.errors import InputError
from cares.core.record import Record
from cares.dialogue.marked import Heard, Piece, Pieces, Said, spoken_turns
from cares.records.scene import Reaction, Speaker

PROBES = Path(__file__).parent / "data" / "probes.jsonl"
ProbeSplit = Literal["train", "dev", "test"]
PROBE_SPLITS: tuple[ProbeSplit, ...] = ("train", "dev", "test")


class ProbePiece(Record):
    """Something said (speaker and text) or a sound, as a line of the file has it."""

    speaker: Speaker | None = None
    text: str = ""
    sound: str = ""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if bool(self.sound) == bool(self.text) or bool(self.text) != (self.speaker is not None):
            raise ValueError("a piece is either a speaker with a text, or a sound")
        return self


class Probe(Record):
    """One line of probes.jsonl; `labels` are those of its sounds, in their order."""

    id: Annotated[str, Field(pattern=r"^p[0-9]{3,}$")]
    split: ProbeSplit
    location: str
    topic: Annotated[str, Field(min_length=8, max_length=160)]
    turns: Annotated[tuple[ProbePiece, ...], Field(min_length=3)]
    labels: Annotated[tuple[Reaction, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _labels_match(self) -> Self:
        sounds = sum(bool(piece.sound) for piece in self.turns)
        if sounds != len(self.labels):
            raise ValueError(f"{sounds} sounds but {len(self.labels)} labels")
        return self

    @property
    def pieces(self) -> Pieces:
        """The transcript as evaluators read it, without the labels."""
        pieces: list[Piece] = []
        for piece in self.turns:
            if piece.speaker is not None:
                pieces.append(Said(speaker=piece.speaker, text=piece.text))
            else:
                event = sum(isinstance(other, Heard) for other in pieces)
                pieces.append(Heard(sound=piece.sound, event=event))
        return tuple(pieces)


class Alike(NamedTuple):
    """Two probes that are too much alike; `share` is how much of the shorter text they have in common."""

    one: str
    other: str
    share: float
    crosses_splits: bool

    def __str__(self) -> str:
        where = "in different splits" if self.crosses_splits else "in one split"
        return f"{self.one} and {self.other} share {self.share:.0%} of the shorter one's words, {where}"


def load_probes(path: Path = PROBES) -> list[Probe]:
    """All probes of a file.

    Raises:
        InputError: a line is not as it should be, an id occurs twice, or a topic occurs in two splits.
    """
    probes: list[Probe] = []
    ids: set[str] = set()
    split_of: dict[str, ProbeSplit] = {}
    for number, value in enumerate(read_jsonl(path), 1):
        probe = Probe.parse(value, path, f"line {number}")
        if probe.id in ids:
            raise InputError(path, f"line {number}.id", probe.id, "an id that no other probe has")
        if split_of.setdefault(probe.topic.lower(), probe.split) != probe.split:
            raise InputError(path, f"line {number}.topic", probe.topic, "a situation that occurs in one split only")
        ids.add(probe.id)
        probes.append(probe)
    if not probes:
        raise InputError(path, "", "no probe", "at least one probe for each split")
    return probes


def near_duplicates(probes: Sequence[Probe], share: float = 0.5) -> list[Alike]:
    """Pairs of probes whose words agree to at least `share` of the shorter one, the worst first.

    What is common is the sum of matching runs of at least three words (Ratcliff and Obershelp's matching blocks), so
    that everyday words in another order do not count.
    """
    words = {probe.id: _words(probe) for probe in probes}
    runs = {name: set(zip(said, said[1:], said[2:], strict=False)) for name, said in words.items()}
    found = []
    for one, other in combinations(probes, 2):
        if runs[one.id].isdisjoint(runs[other.id]):
            continue
        short, long = sorted((words[one.id], words[other.id]), key=len)
        blocks = SequenceMatcher(None, short, long, autojunk=False).get_matching_blocks()
        common = sum(block.size for block in blocks if block.size >= 3) / max(1, len(short))
        if common >= share:
            found.append(Alike(one.id, other.id, round(common, 3), one.split != other.split))
    return sorted(found, key=lambda pair: (-pair.share, pair.one, pair.other))


def _words(probe: Probe) -> list[str]:
    return re.findall(r"[\w']+", " ".join(spoken_turns(probe.pieces)).lower())
