"""How often each sound carries each reaction: tables that are even in use and even in labels.

A group is a location within a split. Its table says how often each sound carries each reaction there. Two things are
given: the events of each reaction in the group (columns), and how often each sound is used in it (rows, `share_use`).
What is left to choose is the inside of the tables, such that over all groups no sound tells its label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heapreplace
from itertools import permutations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cares.core.rng import KeyedRandom

Group = tuple[int, int]
Table = NDArray[np.int64]

N_LABELS = 4
PIVOT = 0
NOTHING: Mapping[Group, Table] = MappingProxyType({})
"""What there was before, when scenes are not added to others."""
_OVERALL_WEIGHTS = (0, 8)
_CYCLES = [
    (first, *rest)
    for length in (2, 3, 4)
    for first in range(N_LABELS)
    for rest in permutations(range(first + 1, N_LABELS), length - 1)
]


def share_use(
    seed: int,
    demand: Mapping[Group, Sequence[int]],
    pool: Mapping[Group, Sequence[int]],
    n_sounds: int,
    attempt: int,
    before: Mapping[Group, Table] = NOTHING,
) -> dict[Group, list[int]]:
    """How often each sound is used in each group, as a list with a sound for each event, in the order of dealing.

    Within a group uses differ by at most one. Sounds that were used less often at the location in the splits before
    come first, so the uses at a location over all splits differ by at most one too if all splits have the same sounds.

    Args:
        seed: the data set's seed.
        demand: events of each reaction per (split, location).
        pool: sounds that may occur, per (split, location); not empty where there is demand.
        n_sounds: number of sounds, the range of the indices in `pool`.
        attempt: number of the try, part of the key.
        before: uses [sounds, labels] of each group by scenes to which these are added.
    """
    used: dict[int, list[int]] = {}
    for (_, location), table in before.items():
        so_far = used.setdefault(location, [0] * n_sounds)
        used[location] = [count + more for count, more in zip(so_far, table.sum(axis=1).tolist(), strict=True)]
    result = {}
    for group in sorted(demand):
        location = group[1]
        so_far = used.setdefault(location, [0] * n_sounds)
        order = KeyedRandom(seed, "sound_order", location, attempt).shuffled(sorted(pool[group]))
        total = sum(demand[group])
        if group in before:
            result[group] = _least_used(order, before[group].sum(axis=1).tolist(), so_far, total)
        else:
            order.sort(key=lambda sound: so_far[sound])
            result[group] = [order[index % len(order)] for index in range(total)]
        for sound in result[group]:
            so_far[sound] += 1
    return result


def _least_used(order: Sequence[int], in_group: Sequence[int], at_location: Sequence[int], total: int) -> list[int]:
    """`total` times the sound that was used least in the group, then at the location, then comes first in `order`."""
    waiting = [(in_group[sound], at_location[sound], rank, sound) for rank, sound in enumerate(order)]
    heapify(waiting)
    taken = []
    for _ in range(total):
        in_this, here, rank, sound = waiting[0]
        taken.append(sound)
        heapreplace(waiting, (in_this + 1, here + 1, rank, sound))
    return taken


def label_tables(
    demand: Mapping[Group, Sequence[int]],
    uses: Mapping[Group, Sequence[int]],
    n_sounds: int,
    before: Mapping[Group, Table] = NOTHING,
) -> dict[Group, Table]:
    """Tables [sounds, reactions] with the given row and column sums whose labels are even for every sound.

    Minimises the sum over sounds and reactions of (count - target)^2: first within each split, then, with eight times
    the weight, over all splits as well. (With both at once from the start, a surplus in one split that makes up for
    another's lack could not be undone, since either half of the exchange alone costs more than it gains.) A sound's
    target for pivot is its uses times the share of pivots among all events; the other reactions share the rest alike.

    For one group that is a transport problem with convex separable cost. It is solved by cancelling negative cycles of
    the residual graph (Klein 1967; Ahuja, Magnanti, Orlin, "Network Flows", 1993, ch. 9 and 14), condensed onto the
    four reactions: moving one use of a sound from reaction r to q is an edge r -> q, the cheapest sound stands for it,
    and a cycle of such moves leaves all sums as they are. Groups take turns until none improves.

    All costs are integers: a count is scaled by 3 x events. What scenes to which these are added use already (`before`)
    counts in every deviation, but none of it is moved.
    """
    totals = np.array(list(demand.values()), np.int64).reshape(-1, N_LABELS).sum(axis=0)
    totals += sum((table.sum(axis=0) for table in before.values()), np.zeros(N_LABELS, np.int64))
    scale = 3 * int(totals.sum())
    rates = np.full(N_LABELS, int(totals[1:].sum()), np.int64)
    rates[PIVOT] = 3 * int(totals[PIVOT])

    tables = {group: _even_start(demand[group], uses[group], n_sounds) for group in sorted(demand)}
    splits = sorted({split for split, _ in (*tables, *before)})
    own = {split: np.zeros((n_sounds, N_LABELS), np.int64) for split in splits}
    for (split, _), table in (*tables.items(), *before.items()):
        own[split] += scale * table - table.sum(axis=1, keepdims=True) * rates
    overall = np.zeros((n_sounds, N_LABELS), np.int64) + sum(own.values())

    for weight in _OVERALL_WEIGHTS:
        improved = True
        while improved:
            improved = False
            for (split, _), table in tables.items():
                improved |= _cancel_cycles(table, own[split], overall, weight, scale)
    return tables


def _even_start(demand: Sequence[int], uses: Sequence[int], n_sounds: int) -> Table:
    table = np.zeros((n_sounds, N_LABELS), np.int64)
    labels = np.repeat(np.arange(N_LABELS), demand)
    np.add.at(table, (np.array(uses, np.int64), labels), 1)
    return table


def _cancel_cycles(table: Table, own: Table, overall: Table, weight: int, scale: int) -> bool:
    """Improve one group's table, in place with the deviations from target of its split and overall; whether it did."""
    sounds = np.flatnonzero(table.any(axis=1))
    never = np.int64(1) << 60
    improved = False
    while len(sounds):
        deviation = weight * overall[sounds] + own[sounds]
        move = deviation[:, None, :] - deviation[:, :, None] + (weight + 1) * scale
        move = np.where(table[sounds][:, :, None] > 0, move, never)
        cheapest = move.argmin(axis=0)
        cost = move.min(axis=0)
        best, best_cost = None, 0
        for cycle in _CYCLES:
            total = sum(int(cost[cycle[i - 1], cycle[i]]) for i in range(len(cycle)))
            if total < best_cost:
                best, best_cost = cycle, total
        if best is None:
            return improved
        for i in range(len(best)):
            source, goal = best[i - 1], best[i]
            sound = sounds[cheapest[source, goal]]
            for matrix, unit in ((table, 1), (own, scale), (overall, scale)):
                matrix[sound, source] -= unit
                matrix[sound, goal] += unit
        improved = True
    return improved


def unevenness(counts: Sequence[int], total: int, pivots: int) -> int:
    """By how many events one sound is off from meeting the labels evenly; 0 when it does.

    Even means that verbal, behavioral and ambient differ by at most one, and that pivot is within one of the sound's
    events times `pivots` / `total`, the share of pivots among the events of all sounds that are not rare.
    """
    others = counts[PIVOT + 1 :]
    distance = abs(counts[PIVOT] * total - sum(counts) * pivots)
    return max(0, max(others) - min(others) - 1) + -(-max(0, distance - total) // total)
