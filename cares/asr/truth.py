"""Clips whose word times are known by construction, and how far an aligner is from them.

Speech that was made apart, without the silence around it, is joined with known gaps. What lies inside a part is not
known, so a part of several words gives the start of its first and the end of its last. Where the words of a part are
known from elsewhere (an engine's own timing), they can be given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cares.asr.types import AlignedWord
from cares.core.canonical import Json
from cares.core.pcm import SAMPLE_RATE, Samples

EDGE_SAMPLES = 110
EDGE_DB = -45.0


class KnownPart(NamedTuple):
    """A stretch of speech without silence around it: int16 [T] at 44.1 kHz, and its words."""

    samples: Samples
    words: tuple[str, ...]


class KnownClip(NamedTuple):
    """A clip and what is known of it: `starts[k]` and `ends[k]` are word k's, in samples, or None.

    `joints` are the words that come first after a joint, each with the samples of its gap.
    """

    samples: Samples
    words: tuple[str, ...]
    starts: tuple[int | None, ...]
    ends: tuple[int | None, ...]
    joints: tuple[tuple[int, int], ...] = ()


class TimingErrors(NamedTuple):
    """Found minus known, in samples; `missed` words were given no time and count in no error.

    `before` and `after` are the ends and starts at joints, a part of `ends` and `starts`, each with its gap in samples.
    """

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    before: tuple[tuple[int, int], ...]
    after: tuple[tuple[int, int], ...]
    missed: int

    def __add__(self, other: object) -> TimingErrors:
        """The errors of both."""
        if not isinstance(other, TimingErrors):
            return NotImplemented
        return TimingErrors(
            self.starts + other.starts,
            self.ends + other.ends,
            self.before + other.before,
            self.after + other.after,
            self.missed + other.missed,
        )

    @property
    def at_breaks(self) -> tuple[int, ...]:
        """Ends before and starts after joints."""
        return tuple(error for _, error in (*self.before, *self.after))


NO_TIMING_ERRORS = TimingErrors((), (), (), (), 0)


def without_silence(samples: Samples) -> Samples:
    """The clip from its first to its last frame of 2.5 ms that is at most 45 dB below the loudest; int16 [T]."""
    count = -(-len(samples) // EDGE_SAMPLES)
    padded = np.zeros(count * EDGE_SAMPLES, np.float64)
    padded[: len(samples)] = samples
    energy = np.square(padded.reshape(count, EDGE_SAMPLES)).mean(axis=1)
    heard = np.flatnonzero(energy > energy.max(initial=0.0) * 10 ** (EDGE_DB / 10))
    if len(heard) == 0:
        return samples[:0]
    return samples[int(heard[0]) * EDGE_SAMPLES : (int(heard[-1]) + 1) * EDGE_SAMPLES]


def joined(parts: Sequence[KnownPart], gaps: Sequence[int], around: int = 0) -> KnownClip:
    """The parts one after the other with these gaps of silence.

    Args:
        parts: in order; none is without words.
        gaps: samples between each part and the next, one fewer than parts.
        around: samples of silence before the first and after the last.

    Raises:
        ValueError: not one gap for each joint.
    """
    if len(gaps) != len(parts) - 1:
        raise ValueError(f"{len(gaps)} gaps for {len(parts)} parts")
    at, pieces = around, [np.zeros(around, np.int16)]
    words: list[str] = []
    starts: list[int | None] = []
    ends: list[int | None] = []
    joints: list[tuple[int, int]] = []
    for place, part in enumerate(parts):
        if place:
            gap = gaps[place - 1]
            joints.append((len(words), gap))
            pieces.append(np.zeros(gap, np.int16))
            at += gap
        unknown = [None] * (len(part.words) - 1)
        words += part.words
        starts += [at, *unknown]
        at += len(part.samples)
        ends += [*unknown, at]
        pieces.append(part.samples)
    pieces.append(np.zeros(around, np.int16))
    return KnownClip(np.concatenate(pieces), tuple(words), tuple(starts), tuple(ends), tuple(joints))


def timing_errors(clip: KnownClip, found: Sequence[AlignedWord]) -> TimingErrors:
    """What was found, against what is known; `found` has the clip's words in order."""
    if len(found) != len(clip.words):
        raise ValueError(f"{len(found)} words found of {len(clip.words)}")
    starts = [
        None if known is None or not word.timed else word.start_sample - known
        for word, known in zip(found, clip.starts, strict=True)
    ]
    ends = [
        None if known is None or not word.timed else word.end_sample - known
        for word, known in zip(found, clip.ends, strict=True)
    ]
    before = [(gap, ends[word - 1]) for word, gap in clip.joints]
    after = [(gap, starts[word]) for word, gap in clip.joints]
    return TimingErrors(
        tuple(error for error in starts if error is not None),
        tuple(error for error in ends if error is not None),
        tuple((gap, error) for gap, error in before if error is not None),
        tuple((gap, error) for gap, error in after if error is not None),
        sum(not word.timed for word in found),
    )


def spread(errors: Sequence[int]) -> Json:
    """Median and 95th percentile of the absolute errors and the median error with its sign, in ms; their number."""
    if not errors:
        return {"n": 0, "median_ms": None, "p95_ms": None, "bias_ms": None}
    ms = np.array(errors, np.float64) * 1000 / SAMPLE_RATE
    size = np.abs(ms)
    return {
        "n": len(errors),
        "median_ms": round(float(np.median(size)), 1),
        "p95_ms": round(float(np.percentile(size, 95)), 1),
        "bias_ms": round(float(np.median(ms)), 1),
    }
