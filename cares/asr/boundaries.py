"""From the times of attention to the places where words really begin and end, by the sound's energy.

Whisper's attention comes to a word early: by 0.09 s in fluent speech of one voice, by 0.17 s in the median after a word
that another voice draws out before a pause; and where no punctuation stands between two words it is at the second while
the pause before it lasts. So attention only says about where a boundary lies. All boundaries are chosen together, in
order, at the least cost (dynamic programming): each lies in a pause or at one of the 10 ms steps outside pauses; it
costs its distance from where attention changed words (moved by `LATE_S`, and by up to `DRAWN_OUT_S` more at a pause),
and the more the louder its step is; a pause that no boundary takes costs its length. The constants were chosen on two
Kokoro voices and one Piper voice with sentences of their own; docs/speech.md has the errors on other voices and
sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE, Samples

HOP = 441
STEPS_PER_S = SAMPLE_RATE // HOP
LATE_S = 0.07
SILENCE_DB = -40.0
SHORTEST_PAUSE_STEPS = 3
# a word may be drawn out by so much before a pause that no plosive has, or before a step so near to silence
DRAWN_OUT_S = 0.12
LONGEST_CLOSURE_STEPS = 4
QUIET_DB = 12.0
# steps of distance that 1 dB above silence, and a step of a pause left inside a word, are worth
LOUDNESS_COST = 0.4
PAUSE_COST = 2.0
SHORTEST_WORD_STEPS = 5
LOUDNESS_REACH = 20
QUIETEST_PEAK_DB = -25.0

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Span(NamedTuple):
    """Seconds at which attention came to a word and left it; its trailing punctuation is left out."""

    start_s: float
    end_s: float


class _Places(NamedTuple):
    """Where a boundary may lie, by rising begin.

    Attributes:
        begin, end: steps [P]; end is begin where there is no pause.
        cost: of the place itself, in steps [P].
        late: how far after the time of attention it may lie at no cost, in steps [P].
        before, after: cost of all pauses that begin before the place, and of these and its own [P].
        total: cost of all pauses.
    """

    begin: Ints
    end: Ints
    cost: Floats
    late: Floats
    before: Floats
    after: Floats
    total: float


def place_words(spans: Sequence[Span], samples: Samples) -> list[tuple[int, int]]:
    """Start and end sample of each word: monotonic, inside the sound, no overlap; no sound at all gives empty words.

    Args:
        spans: the words' times in order, as found by attention.
        samples: int16 [T], 44.1 kHz.
    """
    energy = _energy(samples)
    loud = energy > energy.max(initial=0.0) * 10 ** (SILENCE_DB / 10)
    heard = np.flatnonzero(loud)
    if len(heard) == 0 or not spans:
        return [(0, 0)] * len(spans)
    first, last = int(heard[0]), int(heard[-1]) + 1
    chosen = _choose(_wanted(spans), _places(energy, loud, first, last), first, last)
    edges = [first, *(step for place in chosen for step in place), last]
    return [(edges[i] * HOP, min(edges[i + 1] * HOP, len(samples))) for i in range(0, len(edges), 2)]


def _energy(samples: Samples) -> Floats:
    """Mean square of each 10 ms; the last step is filled with zeros."""
    padded = np.zeros(-(-len(samples) // HOP) * HOP, np.float64)
    padded[: len(samples)] = samples
    energy: Floats = np.square(padded.reshape(-1, HOP)).mean(axis=1)
    return energy


def _wanted(spans: Sequence[Span]) -> list[tuple[float, float]]:
    """Steps between which each boundary should begin: from when attention left a word to when it came to the next."""
    late = LATE_S * STEPS_PER_S
    return [
        (min(before.end_s, after.start_s) * STEPS_PER_S + late, after.start_s * STEPS_PER_S + late)
        for before, after in pairwise(spans)
    ]


def _places(energy: Floats, loud: NDArray[np.bool_], first: int, last: int) -> _Places:
    edges = [int(edge) + 1 for edge in np.flatnonzero(np.diff(loud.astype(np.int8)))]
    silent = [(begin, end) for begin, end in pairwise(edges) if not loud[begin]]
    pauses = np.array([run for run in silent if run[1] - run[0] >= SHORTEST_PAUSE_STEPS], np.int64).reshape(-1, 2)
    outside = np.ones(len(energy), bool)
    for begin, end in pauses:
        outside[begin:end] = False
    points = np.flatnonzero(outside[first:last]) + first
    begin = np.concatenate([pauses[:, 0], points])
    end = np.concatenate([pauses[:, 1], points])
    loudness = np.concatenate([np.zeros(len(pauses)), _loudness(energy)[points] - SILENCE_DB])
    order = np.lexsort((end, begin))
    begin, end, loudness = begin[order], end[order], loudness[order]
    lengths = pauses[:, 1] - pauses[:, 0]
    left_out = np.concatenate([[0.0], np.cumsum(PAUSE_COST * (lengths - SHORTEST_PAUSE_STEPS))])
    before = left_out[np.searchsorted(pauses[:, 0], begin)]
    after = left_out[np.searchsorted(pauses[:, 0], end)]
    closure = (end > begin) & (end - begin <= LONGEST_CLOSURE_STEPS)
    drawn_out = np.where(closure, 0.0, np.clip(1 - loudness / QUIET_DB, 0.0, 1.0))
    late = DRAWN_OUT_S * STEPS_PER_S * drawn_out
    return _Places(begin, end, LOUDNESS_COST * loudness, late, before, after, float(left_out[-1]))


def _loudness(energy: Floats) -> Floats:
    """Level of each step in dB below the loudest within 0.2 s, which is taken to be at most 25 dB below the peak."""
    smooth = np.convolve(energy, np.full(3, 1 / 3), "same")
    level = 10 * np.log10(np.maximum(smooth, 1e-9))
    padded = np.pad(level, LOUDNESS_REACH, mode="edge")
    near = np.lib.stride_tricks.sliding_window_view(padded, 2 * LOUDNESS_REACH + 1).max(axis=1)
    loudness: Floats = np.clip(level - np.maximum(near, level.max() + QUIETEST_PEAK_DB), SILENCE_DB, 0.0)
    return loudness


def _choose(wanted: Sequence[tuple[float, float]], places: _Places, first: int, last: int) -> list[tuple[int, int]]:
    """The place of each boundary: in order, with room for a word between them, at the least cost together."""
    if not wanted:
        return []
    room = min(SHORTEST_WORD_STEPS, (last - first) // (len(wanted) + 1))
    found = _cheapest(wanted, places, first, last, room)
    # the same step may part any number of words where there is no room for them
    return found or _cheapest(wanted, places, first, last, 0)


def _cheapest(
    wanted: Sequence[tuple[float, float]], places: _Places, first: int, last: int, room: int
) -> list[tuple[int, int]]:
    """See `_choose`; nothing when there is no room of so many steps for every word."""
    by_end = np.argsort(places.end, kind="stable")
    reachable = np.searchsorted(places.end[by_end], places.begin - room, side="right") - 1
    cost = np.where(places.begin >= first + room, places.before, np.inf)
    came_from: list[Ints] = []
    for number, (low, high) in enumerate(wanted):
        if number:
            left = (cost - places.after)[by_end]
            best = np.minimum.accumulate(left)
            fell = np.concatenate([[True], left[1:] < best[:-1]])
            where = np.maximum.accumulate(np.where(fell, np.arange(len(left)), 0))
            earlier = np.maximum(reachable, 0)
            cost = np.where(reachable >= 0, best[earlier] + places.before, np.inf)
            came_from.append(by_end[where[earlier]])
        cost = cost + places.cost + np.maximum(0.0, np.maximum(places.begin - high - places.late, low - places.begin))
    cost = np.where(places.end + room <= last, cost + places.total - places.after, np.inf)
    place = int(np.argmin(cost))
    if not np.isfinite(cost[place]):
        return []
    chosen = [place]
    for back in reversed(came_from):
        place = int(back[place])
        chosen.append(place)
    return [(int(places.begin[place]), int(places.end[place])) for place in reversed(chosen)]
