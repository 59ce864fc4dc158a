"""What would make the probes a bad measure: texts that are too much alike, situations in two splits, too few of a kind.

Three measures of likeness are used, since each is blind to something: words in the same order (Ratcliff and Obershelp),
edits of single lines and topics (RapidFuzz), and meaning (the sentence encoder).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from cares.catalog.catalog import Catalog
from cares.dialogue.cues import words_of
from cares.dialogue.features import Encoder
from cares.dialogue.marked import spoken_turns
from cares.dialogue.probes import PROBE_SPLITS, Probe, TopicPair, near_duplicates
from cares.records.scene import REACTIONS

SHARED_WORDS = 0.3  # of the shorter text, in runs of three and more
LINE_WORDS = 5  # shorter lines, such as "Did you?", may come again
LINE_RATIO = 90  # of 100, RapidFuzz's normalised InDel similarity
TOPIC_RATIO = 85
TOPIC_COSINE = 0.7  # between splits; within one, two talks may have one subject
TALK_COSINE = 0.75
LEAST_SHARE = 0.7  # a label's sounds in a split, of those of the commonest label

Kind = Literal["near_duplicate", "repeated_line", "shared_situation", "alike_in_meaning", "unbalanced", "missing"]
Likeness = NDArray[np.float64]


class Finding(NamedTuple):
    """One fault: what kind, the ids of the probes (or topic pairs) it is about, and why."""

    kind: Kind
    ids: tuple[str, ...]
    detail: str

    def __str__(self) -> str:
        about = " and ".join(self.ids)
        return f"{self.kind}: {about}: {self.detail}" if about else f"{self.kind}: {self.detail}"


def check_probes(
    probes: Sequence[Probe], pairs: Sequence[TopicPair], catalog: Catalog, encoder: Encoder | None = None
) -> list[Finding]:
    """All faults; without an encoder, meanings are not compared."""
    found = [
        Finding("near_duplicate", (pair.one, pair.other), f"{pair.share:.0%} of the shorter one's words")
        for pair in near_duplicates(probes, SHARED_WORDS)
    ]
    found += repeated_lines(probes)
    found += shared_situations(probes, encoder)
    if encoder is not None:
        found += alike_in_meaning(probes, encoder)
    found += unbalanced(probes, catalog)
    return found + repeated_topics(pairs)


def repeated_lines(probes: Sequence[Probe]) -> list[Finding]:
    """Turns of five words or more that two probes have in common, but for a word or two."""
    lines = [
        (probe.id, " ".join(words_of(turn)))
        for probe in probes
        for turn in spoken_turns(probe.pieces)
        if len(words_of(turn)) >= LINE_WORDS
    ]
    return [
        Finding("repeated_line", (lines[i][0], lines[j][0]), f'"{lines[i][1]}"')
        for i, j in _at_least([line for _, line in lines], fuzz.ratio, LINE_RATIO)
        if lines[i][0] != lines[j][0]
    ]


def shared_situations(probes: Sequence[Probe], encoder: Encoder | None = None) -> list[Finding]:
    """Probes of different splits whose topics say the same: by their words in any order, or by their meaning."""
    topics = [probe.topic for probe in probes]
    alike = _at_least([topic.lower() for topic in topics], fuzz.token_sort_ratio, TOPIC_RATIO)
    couples = dict.fromkeys(alike, "the topics have the same words")
    if encoder is not None:
        cosines = _cosines(topics, encoder)
        for i, j in zip(*np.nonzero(np.triu(cosines >= TOPIC_COSINE, 1)), strict=True):
            couples.setdefault((int(i), int(j)), f"the topics have a cosine of {cosines[i, j]:.2f}")
    return [
        Finding("shared_situation", (probes[i].id, probes[j].id), f'{why} ("{topics[i]}", "{topics[j]}")')
        for (i, j), why in sorted(couples.items())
        if probes[i].split != probes[j].split
    ]


def alike_in_meaning(probes: Sequence[Probe], encoder: Encoder) -> list[Finding]:
    """Probes whose whole talks mean much the same, in whatever splits."""
    cosines = _cosines([" ".join(spoken_turns(probe.pieces)) for probe in probes], encoder)
    return [
        Finding("alike_in_meaning", (probes[i].id, probes[j].id), f"a cosine of {cosines[i, j]:.2f}")
        for i, j in zip(*np.nonzero(np.triu(cosines >= TALK_COSINE, 1)), strict=True)
    ]


def unbalanced(probes: Sequence[Probe], catalog: Catalog) -> list[Finding]:
    """Splits where a label is rare beside the others, or a location or a register does not occur."""
    found = []
    for split in PROBE_SPLITS:
        chosen = [probe for probe in probes if probe.split == split]
        labels = Counter(label for probe in chosen for label in probe.labels)
        most = max(labels.values(), default=0)
        for label in REACTIONS:
            if labels[label] < LEAST_SHARE * most or not labels[label]:
                found.append(
                    Finding("unbalanced", (), f"{split} has {labels[label]} sounds that are {label}, of {most}")
                )
        missing = [name for name in catalog.locations if name not in {probe.location for probe in chosen}]
        missing += [name for name in catalog.registers if name not in {r for probe in chosen for r in probe.registers}]
        found += [Finding("missing", (), f"{split} has no {name}") for name in missing]
    return found


def repeated_topics(pairs: Sequence[TopicPair]) -> list[Finding]:
    """Pairs of topics that are the same words, or that come twice."""
    found = [
        Finding("repeated_line", (pair.id,), f'"{pair.other}" is its own topic')
        for pair in pairs
        if fuzz.token_sort_ratio(pair.one.lower(), pair.other.lower()) >= LINE_RATIO
    ]
    others = [pair.other.lower() for pair in pairs]
    return found + [
        Finding("repeated_line", (pairs[i].id, pairs[j].id), f'"{others[i]}"')
        for i, j in _at_least(others, fuzz.token_sort_ratio, LINE_RATIO)
    ]


def _at_least(texts: Sequence[str], scorer: Callable[..., float], least: int) -> Iterator[tuple[int, int]]:
    scores = process.cdist(texts, texts, scorer=scorer, score_cutoff=least, dtype=np.uint8, workers=1)
    for i, j in zip(*np.nonzero(np.triu(scores, 1)), strict=True):
        yield int(i), int(j)


def _cosines(texts: Sequence[str], encoder: Encoder) -> Likeness:
    vectors = encoder.encode(list(texts))
    return np.asarray(vectors @ vectors.T)
