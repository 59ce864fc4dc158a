"""The labelled probes: short transcripts written by hand, on which evaluators are trained and measured.

Beside them lie pairs of topics, for the threshold at which a topic counts as recovered. docs/probes.md is their data
card; `cares.dialogue.probe_checks` looks for what would make them a bad measure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from cares.catalog.load import load_catalog
from cares.core.canonical import read_jsonl
from cares.core.errors import InputError
from cares.core.record import Record
from cares.dialogue.cues import words_of
from cares.dialogue.marked import Heard, Piece, Pieces, Said, spoken_turns
from cares.records.scene import Reaction, Speaker

PROBES = Path(__file__).parent / "data" / "probes.jsonl"
TOPIC_PAIRS = Path(__file__).parent / "data" / "topic_pairs.jsonl"
ProbeSplit = Literal["train", "dev", "test"]
PROBE_SPLITS: tuple[ProbeSplit, ...] = ("train", "dev", "test")
HardNegative = Literal["", "stumble_elsewhere", "remark_elsewhere", "loud_ignored", "topic_change"]
HARD_NEGATIVES: dict[HardNegative, tuple[Reaction, ...]] = {
    "stumble_elsewhere": ("ambient", "verbal", "pivot"),
    "remark_elsewhere": ("ambient", "behavioral"),
    "loud_ignored": ("ambient",),
    "topic_change": ("ambient",),
}
"""What makes a sound hard to judge, and the labels that it can have.

- `stumble_elsewhere`: somebody stumbles nearby, but not over the sound;
- `remark_elsewhere`: somebody exclaims, asks or remarks on another thing than the sound;
- `loud_ignored`: a loud sound that nobody heeds;
- `topic_change`: at the sound the talk goes over to another topic, without a word about the sound.
"""


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
    """One line of probes.jsonl.

    Attributes:
        location: id of the catalog.
        topic: what the talk is about. It stands for the situation: no two splits have one in common.
        labels, registers, hard: of its sounds, in their order; `hard` is "" where nothing is hard on purpose.
    """

    id: Annotated[str, Field(pattern=r"^p[0-9]{3,}$")]
    split: ProbeSplit
    location: str
    topic: Annotated[str, Field(min_length=8, max_length=160)]
    turns: Annotated[tuple[ProbePiece, ...], Field(min_length=3)]
    labels: Annotated[tuple[Reaction, ...], Field(min_length=1)]
    registers: tuple[str, ...]
    hard: tuple[HardNegative, ...]

    @model_validator(mode="after")
    def _labels_match(self) -> Self:
        sounds = sum(bool(piece.sound) for piece in self.turns)
        for name in ("labels", "registers", "hard"):
            if sounds != len(getattr(self, name)):
                raise ValueError(f"{sounds} sounds but {len(getattr(self, name))} {name}")
        for label, kind in zip(self.labels, self.hard, strict=True):
            if kind and label not in HARD_NEGATIVES[kind]:
                raise ValueError(f"a sound that is {kind} cannot be {label}")
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


class TopicPair(Record):
    """Two topics, and whether they mean the same.

    `one` is the topic of the probe `probe`, `other` either says the same in other words or is a similar but different
    one. So both (`one`, `other`) and (`other`, the probe's transcript) are pairs to find a threshold on.
    """

    id: str
    probe: str
    split: ProbeSplit
    one: str
    other: str
    same: bool


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
        InputError: a line is not as it should be, an id occurs twice, a topic occurs in two splits, or the catalog has
            no such location or register, or the register is one of another label.
    """
    catalog = load_catalog()
    probes: list[Probe] = []
    ids: set[str] = set()
    split_of: dict[str, ProbeSplit] = {}
    for number, value in enumerate(read_jsonl(path), 1):
        probe = Probe.parse(value, path, f"line {number}")
        if probe.id in ids:
            raise InputError(path, f"line {number}.id", probe.id, "an id that no other probe has")
        if split_of.setdefault(probe.topic.lower(), probe.split) != probe.split:
            raise InputError(path, f"line {number}.topic", probe.topic, "a situation that occurs in one split only")
        if probe.location not in catalog.locations:
            raise InputError(path, f"line {number}.location", probe.location, "a location of the catalog")
        for label, name in zip(probe.labels, probe.registers, strict=True):
            if name not in catalog.registers or catalog.registers[name].reaction != label:
                raise InputError(path, f"line {number}.registers", name, f"a register of {label}")
        ids.add(probe.id)
        probes.append(probe)
    if not probes:
        raise InputError(path, "", "no probe", "at least one probe for each split")
    return probes


def load_topic_pairs(path: Path = TOPIC_PAIRS, probes: Sequence[Probe] | None = None) -> list[TopicPair]:
    """The pairs of topics; their first topic and their split are those of their probe.

    Args:
        path: lines with `id`, `probe`, `topic` (the other one) and `same`.
        probes: the probes that the lines name; those of the package by default.

    Raises:
        InputError: a line is not as it should be, an id occurs twice, or there is no such probe.
    """
    known = {probe.id: probe for probe in (load_probes() if probes is None else probes)}
    pairs: list[TopicPair] = []
    for number, value in enumerate(read_jsonl(path), 1):
        line = _PairLine.parse(value, path, f"line {number}")
        if line.probe not in known:
            raise InputError(path, f"line {number}.probe", line.probe, "the id of a probe")
        if any(line.id == pair.id for pair in pairs):
            raise InputError(path, f"line {number}.id", line.id, "an id that no other pair has")
        probe = known[line.probe]
        pairs.append(
            TopicPair(id=line.id, probe=probe.id, split=probe.split, one=probe.topic, other=line.topic, same=line.same)
        )
    return pairs


class _PairLine(Record):
    id: Annotated[str, Field(pattern=r"^t[0-9]{3,}$")]
    probe: str
    topic: Annotated[str, Field(min_length=8, max_length=160)]
    same: bool


def near_duplicates(probes: Sequence[Probe], share: float = 0.5) -> list[Alike]:
    """Pairs of probes whose words agree to at least `share` of the shorter one, the worst first.

    What is common is the sum of matching runs of at least three words (Ratcliff and Obershelp's matching blocks), so
    that everyday words in another order do not count.
    """
    words = {probe.id: words_of(" ".join(spoken_turns(probe.pieces))) for probe in probes}
    holders: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    for place, probe in enumerate(probes):
        said = words[probe.id]
        for run in zip(said, said[1:], said[2:], strict=False):
            holders[run].add(place)
    common_runs: defaultdict[tuple[int, int], int] = defaultdict(int)
    for places in holders.values():
        for pair in combinations(sorted(places), 2):
            common_runs[pair] += 1
    found = []
    for (i, j), runs in sorted(common_runs.items()):
        one, other = probes[i], probes[j]
        short, long = sorted((words[one.id], words[other.id]), key=len)
        if 3 * runs < share * len(short):  # n common runs of three words cover at most 3 n words
            continue
        blocks = SequenceMatcher(None, short, long, autojunk=False).get_matching_blocks()
        common = sum(block.size for block in blocks if block.size >= 3) / max(1, len(short))
        if common >= share:
            found.append(Alike(one.id, other.id, round(common, 3), one.split != other.split))
    return sorted(found, key=lambda pair: (-pair.share, pair.one, pair.other))
