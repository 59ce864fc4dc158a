"""Running counts of labels and uses, to choose among changes the one that harms the balance least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cares.allocation.labels import N_LABELS, NOTHING, PIVOT, Group, Table, unevenness

Harm = tuple[int, int]
"""By how much a change makes labels less even, then uses; the smaller the better, in this order."""


class Tally:
    """Counts of each sound's labels, and of its uses at each location and in each group.

    Args:
        tables: uses [sounds, labels] of each group, from which counting starts.
        before: the same of scenes to which these are added.
    """

    def __init__(self, tables: Mapping[Group, Table], before: Mapping[Group, Table] = NOTHING) -> None:
        n_sounds = len(next(iter(tables.values()), ()))
        self._labels = [[0] * N_LABELS for _ in range(n_sounds)]
        self._in_group: dict[Group, list[int]] = {}
        self._at_location: dict[int, list[int]] = {}
        for group in (*tables, *(group for group in before if group not in tables)):
            table = sum((part[group] for part in (tables, before) if group in part), np.zeros((), np.int64))
            self._in_group[group] = table.sum(axis=1).tolist()
            at_location = self._at_location.setdefault(group[1], [0] * n_sounds)
            for sound, row in enumerate(table.tolist()):
                at_location[sound] += sum(row)
                for label, count in enumerate(row):
                    self._labels[sound][label] += count
        self._total = sum(map(sum, self._labels))
        self._pivots = sum(row[PIVOT] for row in self._labels)

    def harm_of_replacing(self, old: int, new: int, label: int, group: Group) -> Harm:
        """The harm when an event of `label` in `group` carries `new` instead of `old`."""
        worse = self._worse(old, {label: -1}) + self._worse(new, {label: 1})
        uses = (self._in_group[group], self._at_location[group[1]])
        return worse, sum(max(0, counts[new] + 1 - counts[old]) for counts in uses)

    def harm_of_exchange(self, one: int, other: int, label: int, other_label: int) -> Harm:
        """The harm when `one`, now with `label`, and `other`, now with `other_label`, change places in their group."""
        if one == other:
            return 0, 0
        worse = self._worse(one, {label: -1, other_label: 1}) + self._worse(other, {label: 1, other_label: -1})
        return worse, 0

    def replace(self, old: int, new: int, label: int, group: Group) -> None:
        """Count a replacement."""
        for sound, step in ((old, -1), (new, 1)):
            self._labels[sound][label] += step
            self._in_group[group][sound] += step
            self._at_location[group[1]][sound] += step

    def exchange(self, one: int, other: int, label: int, other_label: int) -> None:
        """Count an exchange."""
        for sound, source, goal in ((one, label, other_label), (other, other_label, label)):
            self._labels[sound][source] -= 1
            self._labels[sound][goal] += 1

    def _worse(self, sound: int, change: Mapping[int, int]) -> int:
        before: Sequence[int] = self._labels[sound]
        after = [count + change.get(label, 0) for label, count in enumerate(before)]
        return unevenness(after, self._total, self._pivots) - unevenness(before, self._total, self._pivots)
