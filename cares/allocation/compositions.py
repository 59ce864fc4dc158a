"""The 30 compositions, and which of them meets which location.

A composition says how many pivot, verbal, behavioral and ambient events a scene has: none to three, at most one pivot.
Over all 30 there is one pivot to two of each other reaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from cares.allocation.quotas import deal, extra_windows, top_up
from cares.core.rng import KeyedRandom

Counts = tuple[int, int, int, int]
COMPOSITIONS: tuple[Counts, ...] = tuple(
    (pivot, verbal, behavioral, ambient)
    for pivot, verbal, behavioral, ambient in product(range(2), range(4), range(4), range(4))
    if pivot + verbal + behavioral + ambient <= 3
)
_TOTALS = np.array(COMPOSITIONS).sum(axis=0)
_CANDIDATES = 100


def composition_order(seed: int, sizes: Sequence[int]) -> list[int]:
    """The order in which compositions (indices into COMPOSITIONS) are dealt to splits of `sizes` scenes.

    A split whose size is no multiple of 30 gets some compositions once more than others. Any choice of them keeps the
    quotas; among a hundred shuffles the one is taken whose extras come nearest to one pivot to two of each other
    reaction, so that a set of twelve scenes has its share of every label too.
    """
    table, n_levels = np.array(COMPOSITIONS), len(COMPOSITIONS)
    windows = extra_windows(n_levels, sizes)
    best: tuple[int, list[int]] | None = None
    for candidate in range(_CANDIDATES):
        order = KeyedRandom(seed, "composition_order", candidate).shuffled(range(n_levels))
        cost = 0
        for window in windows:
            extras = table[[order[index] for index in window]].sum(axis=0)
            cost += int(((n_levels * extras - len(window) * _TOTALS) ** 2).sum())
        if best is None or cost < best[0]:
            best = cost, order
    assert best is not None
    return best[1]


def cross_locations(seed: int, n_locations: int, sizes: Sequence[int]) -> list[list[tuple[int, int]]]:
    """For each split its scenes as (composition, location) pairs of indices, in no order that means anything.

    Both factors keep their quotas. Locations are dealt cyclically along the scenes in the order of their compositions,
    so that every composition meets every location about equally often; then locations of scenes within a split change
    places until no exchange brings the number of events of each reaction at each location nearer to equal. Without it
    a location with few sounds could have more verbal than ambient events than its sounds can even out.

    Args:
        seed: the data set's seed.
        n_locations: how many locations there are.
        sizes: scenes of each split.
    """
    dealt = deal(composition_order(seed, sizes), sizes)
    locations = KeyedRandom(seed, "location_order").shuffled(range(n_locations))
    met = np.zeros((n_locations, len(COMPOSITIONS)), np.int64)
    before = np.zeros((n_locations, len(_TOTALS)), np.int64)
    result: list[list[tuple[int, int]]] = []
    position = 0
    for part in dealt:
        met[:] = 0
        for composition in part:
            met[locations[position % n_locations], composition] += 1
            position += 1
        _exchange(met, before)
        before += met @ np.array(COMPOSITIONS)
        cells = np.repeat(np.arange(met.size), met.ravel())
        result.append([(int(cell) % len(COMPOSITIONS), int(cell) // len(COMPOSITIONS)) for cell in cells])
    return result


def cross_further(
    seed: int, n_locations: int, sizes: Sequence[int], met_before: Sequence[NDArray[np.int64]]
) -> list[list[tuple[int, int]]]:
    """`cross_locations` for scenes that are added to others.

    Counts go on where the others stopped (`quotas.top_up`); the compositions that come once more are again those of a
    hundred shuffles that bring the labels nearest to their shares.

    Args:
        seed: of this batch.
        n_locations: how many locations there are.
        sizes: scenes that are added to each split.
        met_before: scenes per location and composition [L, C] of each split so far.
    """
    further = _further_compositions(seed, sizes, [met.sum(axis=0) for met in met_before])
    order = KeyedRandom(seed, "location_order").shuffled(range(n_locations))
    topped = top_up([met.sum(axis=1)[order].tolist() for met in met_before], sizes)
    table = np.array(COMPOSITIONS)
    overall = np.array(sum(met @ table for met in met_before))
    result: list[list[tuple[int, int]]] = []
    for split, (compositions, counts) in enumerate(zip(further, topped, strict=True)):
        left = dict(zip(order, counts, strict=True))
        met = np.zeros_like(met_before[split])
        for composition in KeyedRandom(seed, "crossing", split).shuffled(compositions):
            open_ones = [location for location in order if left[location]]
            seen = met_before[split][:, composition] + met[:, composition]
            location = min(open_ones, key=lambda location: (int(seen[location]), -left[location]))
            met[location, composition] += 1
            left[location] -= 1
        # to the exchange what was before counts twice, within the split and over all: its cost adds the two
        _exchange(met, overall + met_before[split] @ table)
        overall = overall + met @ table
        cells = np.repeat(np.arange(met.size), met.ravel())
        result.append([(int(cell) % len(COMPOSITIONS), int(cell) // len(COMPOSITIONS)) for cell in cells])
    return result


def _further_compositions(seed: int, sizes: Sequence[int], before: Sequence[NDArray[np.int64]]) -> list[list[int]]:
    """The compositions that are added to each split, as indices."""
    table, n_levels = np.array(COMPOSITIONS), len(COMPOSITIONS)
    best: tuple[int, list[list[int]]] | None = None
    for candidate in range(_CANDIDATES):
        order = KeyedRandom(seed, "composition_order", candidate).shuffled(range(n_levels))
        topped = top_up([counts[order].tolist() for counts in before], sizes)
        after = [counts[order] + more for counts, more in zip(before, topped, strict=True)]
        cost = 0
        for counts in [*after, np.sum(after, axis=0)]:
            labels = counts @ table[order]
            cost += int(((n_levels * labels - counts.sum() * _TOTALS) ** 2).sum())
        if best is None or cost < best[0]:
            best = cost, [[level for level, n in zip(order, more, strict=True) for _ in range(n)] for more in topped]
    assert best is not None
    return best[1]


def _exchange(met: NDArray[np.int64], before: NDArray[np.int64]) -> None:
    """Exchange scenes between locations, in place, while that evens out the events of each reaction.

    The cost is the sum of squares of events per location and reaction, of this split and of all splits so far. With
    d = (counts of composition j) - (counts of composition i), giving j for i to one location and i for j to another
    changes it by 2 d . (own1 - own2 + all1 - all2) + 4 d . d.

    Args:
        met: scenes per location and composition [L, C] of one split.
        before: events per location and reaction [L, 4] of the splits before it.
    """
    table = np.array(COMPOSITIONS)
    step = table[None, :, :] - table[:, None, :]
    square = 4 * (step**2).sum(axis=2)
    events = met @ table
    changed = True
    while changed:
        changed = False
        for first in range(len(met)):
            for second in range(first + 1, len(met)):
                pull = 2 * (events[first] - events[second]) + before[first] - before[second]
                gain = 2 * (step @ pull) + square
                possible = (met[first] > 0)[:, None] & (met[second] > 0)[None, :]
                gain = np.where(possible, gain, 0)
                best = int(gain.argmin())
                if gain.flat[best] >= 0:
                    continue
                i, j = divmod(best, len(table))
                met[first, i] -= 1
                met[second, i] += 1
                met[first, j] += 1
                met[second, j] -= 1
                events[first] += step[i, j]
                events[second] -= step[i, j]
                changed = True
