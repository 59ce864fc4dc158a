"""Grounding by pairs: the same question about a scene with a sound, and about the same scene without it.

A system that always says yes has half of the items right and no pair; only one that hears the difference has both
halves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cares.bench.scores_rows import Rows
from cares.bench.statistics import Codes, codes, figure, ratio, resampled, sums
from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.records.scene import REACTIONS

HALVES = ("original", "muted")


def pair_figures(rows: Rows, resamples: int, seed: int) -> Json:
    """Share of pairs with both halves right, and what else the halves say.

    sensitivity: share of the originals in which the sound is said to be there. specificity: share of the muted ones in
    which it is said not to be. pairs_by: shares of pairs with both halves right, only the original, only the muted, and
    none. sensitivity_by_label: sensitivity by how the speakers react to the sound.

    Raises:
        InputError: a pair without both halves, or with one twice.
    """
    first, second = _halves(rows)
    right = np.array([a.choice == i.answer for i, a in zip(rows.items, rows.answers, strict=True)], np.int64)
    heard, silent = right[first], right[second]
    templates = codes([rows.items[place].template_id for place in first])
    labels = [rows.items[place].references[0].label for place in first]
    label = np.array([REACTIONS.index(name) for name in labels], np.int64)
    one = np.zeros(len(first), np.int64)
    kinds = 2 * heard + silent
    table = np.concatenate(
        [
            sums(templates, one, 1),
            sums(templates, kinds, 4),
            sums(templates, label, 4),
            sums(templates, label, 4, heard),
        ],
        axis=1,
    )
    drawn, whole = resampled(table, resamples, seed), table.sum(0)
    n = len(templates.names)

    def share(columns: list[int]) -> Json:
        of = ratio(drawn[:, columns].sum(1), drawn[:, 0])
        return figure(float(whole[columns].sum() / whole[0]), of, n)

    names = {"both": 3, "only_original": 2, "only_muted": 1, "none": 0}
    return {
        "pairs": len(first),
        "pair_accuracy": share([4]),
        "sensitivity": share([3, 4]),
        "specificity": share([2, 4]),
        "pairs_by": {name: int(whole[1 + kind]) for name, kind in names.items()},
        "sensitivity_by_label": {
            name: figure(
                float(ratio(whole[9 + k], whole[5 + k])),
                ratio(drawn[:, 9 + k], drawn[:, 5 + k]),
                int((table[:, 5 + k] > 0).sum()),
            )
            for k, name in enumerate(REACTIONS)
        },
    }


def both_right(rows: Rows) -> tuple[Codes, NDArray[np.int64]]:
    """Of each pair: its template, and whether both halves are right."""
    first, second = _halves(rows)
    right = np.array([a.choice == i.answer for i, a in zip(rows.items, rows.answers, strict=True)], np.int64)
    return codes([rows.items[place].template_id for place in first]), right[first] * right[second]


def _halves(rows: Rows) -> tuple[list[int], list[int]]:
    """The places of the originals and of the muted ones, pair by pair."""
    found: dict[str, dict[str, int]] = {}
    for place, item in enumerate(rows.items):
        halves = found.setdefault(item.pair, {})
        if item.level in halves:
            raise InputError("items.jsonl", f"{item.item_id}.pair", item.pair, f"one {item.level} half a pair")
        halves[item.level] = place
    for pair, halves in found.items():
        if len(halves) != len(HALVES):
            raise InputError("items.jsonl", f"pair {pair}", sorted(halves), "both halves, original and muted")
    first, second = ([halves[level] for halves in found.values()] for level in HALVES)
    return first, second
