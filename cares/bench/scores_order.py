"""Whether the order of the options decides the answers, and how far the answers fall together on one option."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from cares.bench.scores_rows import Rows
from cares.bench.statistics import codes, rounded
from cares.core.canonical import Json
from cares.core.rng import derived_seed
from cares.records.item import LETTERS

DRAWS = 999


def collapse(rows: Rows) -> Json:
    """The commonest answer, its share of the readable ones, and their entropy in bits.

    Answers are labels where all items have the same choices, else letters. Entropy is 0 when one answer is always given
    and log2 K when all K are given equally often. `top` is None when nothing was readable; of two equally common
    answers it is the first.
    """
    if rows.fixed:
        names = rows.labels
        given = Counter(answer.choice for answer in rows.answers if answer.choice is not None)
    else:
        names = tuple(LETTERS[: len(rows.items[0].choices)])
        given = Counter(
            LETTERS[item.choices.index(answer.choice)]
            for item, answer in zip(rows.items, rows.answers, strict=True)
            if answer.choice is not None
        )
    total = sum(given.values())
    if not total:
        return {"top": None, "top_share": None, "entropy_bits": None}
    shares = np.array([given[name] / total for name in names if given[name]])
    top = max(names, key=lambda name: given[name])
    return {
        "top": top,
        "top_share": rounded(given[top] / total),
        "entropy_bits": rounded(abs(float(-(shares * np.log2(shares)).sum()))),
    }


def order_effect(rows: Rows, seed: int) -> Json:
    """Does it matter at which letter an option stands? A randomisation test over the recorded permutations.

    If the order does not matter, every item's choice would have been the same under the order that another item
    happened to get. So the recorded orders are dealt anew among items with the same right answer (its place in the
    canonical order), in `grounding` among pairs, and the chosen letters are counted again. The statistic is chi-square
    of the counts against equal ones; p is the share of the 999 deals, and of the recorded one, that are at least as
    uneven (Phipson and Smyth 2010). `accuracy_at` is the accuracy on items whose right answer stands at each letter.
    """
    letters = LETTERS[: len(rows.items[0].choices)]
    right_at = np.array([item.position for item in rows.items])
    right = np.array([a.choice == i.answer for i, a in zip(rows.items, rows.answers, strict=True)])
    chosen_at, counts, p = _positions(rows, len(letters), seed)
    return {
        "chosen_at": {letter: rounded(c / max(1, len(chosen_at))) for letter, c in zip(letters, counts, strict=True)},
        "accuracy_at": {
            letter: rounded(right[right_at == at].mean()) if (right_at == at).any() else None
            for at, letter in enumerate(letters)
        },
        "p": p,
    }


def _positions(rows: Rows, width: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64], float | None]:
    """The chosen letters of readable answers, how often each was chosen, and p."""
    read = [(item, a.choice) for item, a in zip(rows.items, rows.answers, strict=True) if a.choice is not None]
    chosen_at = np.array([item.choices.index(choice) for item, choice in read], np.int64)
    counts = np.bincount(chosen_at, minlength=width)
    if not read:
        return chosen_at, counts, None
    # the halves of a pair have one order, so it is dealt to both
    units = codes([item.pair or item.item_id for item, _ in read])
    first = np.unique(units.place, return_index=True)[1]
    of_unit = [read[place][0] for place in first]
    # shown_at[u, c]: the letter of canonical choice c in the order of unit u
    shown_at = np.array([np.argsort(item.order) for item in of_unit], np.int64)
    canonical = np.array([item.order[at] for (item, _), at in zip(read, chosen_at, strict=True)], np.int64)
    strata = np.array([-1 if item.pair else item.order[item.position] for item in of_unit], np.int64)
    by_stratum = np.argsort(strata, kind="stable")
    bits = np.random.Philox(key=derived_seed(seed, "bench_order", rows.items[0].group))
    observed, beyond = _uneven(counts), 0
    source = np.empty(len(of_unit), np.int64)
    for _ in range(DRAWS):
        # a random order within every stratum: sorted by stratum, then by a random word
        source[by_stratum] = np.lexsort((bits.random_raw(len(of_unit)), strata))
        again = shown_at[source[units.place], canonical]
        beyond += _uneven(np.bincount(again, minlength=width)) >= observed
    return chosen_at, counts, rounded((1 + beyond) / (1 + DRAWS))


def _uneven(counts: NDArray[np.int64]) -> int:
    """The sum of squares, which for a fixed total orders counts as chi-square against equal ones does."""
    return int((counts * counts).sum())
