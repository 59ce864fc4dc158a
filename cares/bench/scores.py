"""Scores of one system: recall, balanced accuracy with a clustered bootstrap interval, collapse, order of options.

An answer that could not be read is wrong, and counted apart. Balanced accuracy is the mean recall over the labels that
occur (Brodersen et al., "The balanced accuracy and its posterior distribution", ICPR 2010). Chance is 1/4. Scenes
of one template share theme and split, so the interval resamples templates, not items (percentile bootstrap,
Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 13).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.rng import derived_seed
from cares.records.answer import Answer
from cares.records.item import LETTERS, Item
from cares.records.scene import REACTIONS

Counts = NDArray[np.int64]
NOT_READ = "unreadable"
STATUSES = ("unreadable", "empty", "truncated", "error")


def score(items: Sequence[Item], answers: Sequence[Answer], resamples: int, seed: int) -> Json:
    """All scores of one system over one task.

    Args:
        items: the frozen questions.
        answers: one per item, in the same order.
        resamples: bootstrap resamples of templates.
        seed: the data set's seed.

    Raises:
        InputError: answers do not belong to the items, row by row.
    """
    check_rows(items, answers)
    actual, predicted, correct = _codes(items, answers)
    recall = _recall(_by_label(actual, correct), _by_label(actual, np.ones_like(correct)))
    low, high = interval(items, answers, resamples, seed)
    present = {label: bool((actual == code).any()) for code, label in enumerate(REACTIONS)}
    return {
        "balanced_accuracy": {"value": _rounded(_balanced(recall)), "ci95": {"low": low, "high": high}},
        "accuracy": _rounded(correct.mean()),
        "recall": {label: _rounded(recall[code]) if present[label] else None for code, label in enumerate(REACTIONS)},
        "n": len(items),
        "n_by_label": {label: int((actual == code).sum()) for code, label in enumerate(REACTIONS)},
        "templates": len({item.template_id for item in items}),
        "unreadable": int((predicted == len(REACTIONS)).sum()),
        "unreadable_as": {status: sum(answer.status == status for answer in answers) for status in STATUSES},
        "collapse": collapse(answers),
        "order": _order(items, answers, correct),
    }


def collapse(answers: Sequence[Answer]) -> Json:
    """How far the answers fall together on one label, whatever is right.

    `index` is 1 - H / log 4 with H the entropy of the readable answers: 0 when all four labels are given equally often,
    1 when only one is; None when nothing was readable. `most_given` is the label given most often (ties: order of
    REACTIONS) and `share` its part of the readable answers.
    """
    given = Counter(answer.choice for answer in answers if answer.choice is not None)
    total = sum(given.values())
    if not total:
        return {"index": None, "most_given": None, "share": None}
    shares = np.array([given[label] / total for label in REACTIONS if given[label]])
    most = max(REACTIONS, key=lambda label: given[label])
    index = 1.0 + float(np.sum(shares * np.log(shares))) / float(np.log(len(REACTIONS)))
    return {"index": _rounded(index), "most_given": most, "share": _rounded(given[most] / total)}


def interval(items: Sequence[Item], answers: Sequence[Answer], resamples: int, seed: int) -> tuple[float, float]:
    """The 95 % percentile interval of balanced accuracy over resampled templates.

    A resample that lacks a label takes the mean over those it has, as the score itself does. Draws are raw Philox words
    reduced modulo the number of templates: the bias is below 1e-14, and no library's distribution code is used.
    """
    actual, _, correct = _codes(items, answers)
    templates = sorted({item.template_id for item in items})
    place = {template: index for index, template in enumerate(templates)}
    cell = np.array([place[item.template_id] for item in items]) * len(REACTIONS) + actual
    shape = (len(templates), len(REACTIONS))
    totals = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    hits = np.bincount(cell[correct == 1], minlength=shape[0] * shape[1]).reshape(shape)
    words = np.random.Philox(key=derived_seed(seed, "bench_bootstrap")).random_raw(resamples * len(templates))
    draws = (words % np.uint64(len(templates))).astype(np.int64).reshape(resamples, len(templates))
    rows = np.arange(resamples)[:, None] * len(templates)
    times = np.bincount((rows + draws).ravel(), minlength=draws.size).reshape(draws.shape)
    values = _balanced(_recall(times @ hits, times @ totals))
    low, high = np.quantile(values, (0.025, 0.975))
    return _rounded(low), _rounded(high)


def confusion(items: Sequence[Item], answers: Sequence[Answer]) -> list[tuple[str, str]]:
    """(actual, predicted) of every item, `unreadable` where there is no choice."""
    check_rows(items, answers)
    return [(item.answer, answer.choice or NOT_READ) for item, answer in zip(items, answers, strict=True)]


def check_rows(items: Sequence[Item], answers: Sequence[Answer]) -> None:
    """InputError unless answer i belongs to item i for every i."""
    if len(items) != len(answers):
        raise InputError("answers", "", len(answers), f"one answer for each of {len(items)} items")
    for number, (item, answer) in enumerate(zip(items, answers, strict=True), 1):
        if item.item_id != answer.item_id:
            raise InputError("answers", f"line {number}.item_id", answer.item_id, item.item_id)


def _codes(items: Sequence[Item], answers: Sequence[Answer]) -> tuple[Counts, Counts, Counts]:
    """Actual label, predicted label (4 when not read), and whether they agree, as integers [N]."""
    code: dict[str | None, int] = {label: number for number, label in enumerate(REACTIONS)}
    actual = np.array([code[item.answer] for item in items], np.int64)
    predicted = np.array([code.get(answer.choice, len(REACTIONS)) for answer in answers], np.int64)
    return actual, predicted, (actual == predicted).astype(np.int64)


def _by_label(actual: Counts, weight: Counts) -> Counts:
    return np.array([weight[actual == code].sum() for code in range(len(REACTIONS))], np.int64)


def _recall(hits: Counts, totals: Counts) -> NDArray[np.float64]:
    """Recall by label in the last axis, NaN where a label does not occur."""
    recall: NDArray[np.float64] = np.divide(hits, totals, out=np.full(hits.shape, np.nan), where=totals > 0)
    return recall


def _balanced(recall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over the labels that occur (last axis)."""
    return np.asarray(np.nansum(recall, axis=-1) / np.sum(~np.isnan(recall), axis=-1))


def _order(items: Sequence[Item], answers: Sequence[Answer], correct: Counts) -> Json:
    """How often each letter was chosen, and accuracy by the letter at which the right answer stood."""
    readable = [(item, answer.choice) for item, answer in zip(items, answers, strict=True) if answer.choice is not None]
    chosen = Counter(LETTERS[item.options.index(choice)] for item, choice in readable)
    right_at = np.array([item.options.index(item.answer) for item in items])
    return {
        "chosen": {letter: _rounded(chosen[letter] / len(readable)) if readable else None for letter in LETTERS},
        "accuracy_when_right_at": {
            letter: _rounded(correct[right_at == at].mean()) if (right_at == at).any() else None
            for at, letter in enumerate(LETTERS)
        },
    }


def _rounded(value: float | np.floating | NDArray[np.float64]) -> float:
    return round(float(value), 4)
