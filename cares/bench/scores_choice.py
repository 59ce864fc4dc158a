"""Figures of a multiple-choice task: recall, precision, balanced accuracy, accuracy, confusion.

An answer that could not be read is wrong, and counted apart. Balanced accuracy is the mean recall over the labels that
occur (Brodersen et al., "The balanced accuracy and its posterior distribution", ICPR 2010); a constant answer has 1/K.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cares.bench.scores_order import collapse, order_effect
from cares.bench.scores_rows import NOT_READ, Rows
from cares.bench.statistics import (
    Floats,
    effective_clusters,
    figure,
    figures,
    mean_of_known,
    ratio,
    resampled,
    sums,
)
from cares.core.canonical import Json
from cares.records.answer import STATUSES

MOST_LABELS = 16


@dataclass(frozen=True)
class Counts:
    """What all figures of a task are made of, by template: float64 [templates, labels] or [templates, 1].

    total: items of each label. hits: those answered right. given: answers of each label. items, right, read: of all.
    """

    total: Floats
    hits: Floats
    given: Floats
    items: Floats
    right: Floats
    read: Floats

    @property
    def columns(self) -> Floats:
        """Side by side, as they are resampled."""
        return np.concatenate([self.total, self.hits, self.given, self.items, self.right, self.read], axis=1)


def label_codes(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Of each row: right label, chosen label (-1 when not read or a label that is never right), and whether right."""
    at = {label: number for number, label in enumerate(rows.labels)}
    actual = np.array([at[item.answer] for item in rows.items], np.int64)
    chosen = np.array([at.get(answer.choice or "", -1) for answer in rows.answers], np.int64)
    right = np.array(
        [answer.choice == item.answer for item, answer in zip(rows.items, rows.answers, strict=True)], np.int64
    )
    return actual, chosen, right


def count(rows: Rows) -> Counts:
    """The counts of a task."""
    width = len(rows.labels)
    actual, chosen, right = label_codes(rows)
    one = np.zeros(len(actual), np.int64)
    read = np.array([answer.choice is not None for answer in rows.answers], np.int64)
    return Counts(
        total=sums(rows.templates, actual, width),
        hits=sums(rows.templates, actual, width, right),
        given=sums(rows.templates, chosen, width),
        items=sums(rows.templates, one, 1),
        right=sums(rows.templates, one, 1, right),
        read=sums(rows.templates, one, 1, read),
    )


def choice_figures(rows: Rows, resamples: int, seed: int) -> Json:
    """All figures of a multiple-choice task.

    Recall, precision and confusion are given for at most `MOST_LABELS` labels; where the right answers are ids of many
    sounds, they say nothing that accuracy does not.
    """
    labels, counts = rows.labels, count(rows)
    width, n = len(labels), len(rows.templates.names)
    drawn = resampled(counts.columns, resamples, seed)
    total, hits, given = (drawn[:, start * width : (start + 1) * width] for start in range(3))
    items, right, read = (drawn[:, 3 * width + place] for place in range(3))
    recalls, recall = ratio(hits, total), ratio(counts.hits.sum(0), counts.total.sum(0))
    held_by = (counts.total > 0).sum(0).astype(np.float64)
    balanced = figure(float(mean_of_known(recall)), mean_of_known(recalls), effective_clusters(recalls, held_by, n))
    if n > 1 and rows.fixed and rows.answers[0].choice and len({answer.choice for answer in rows.answers}) == 1:
        # a constant answer has this value on whatever items: it is no estimate, and resamples without a label mislead
        balanced["ci95"] = [balanced["value"]] * 2
    precision = ratio(counts.hits.sum(0), counts.given.sum(0))
    whole = [float(part.sum()) for part in (counts.items, counts.right, counts.read)]
    found: Json = {
        "n": len(rows.items),
        "templates": n,
        "chance": 1 / len(rows.items[0].choices),
        "balanced_accuracy": balanced,
        "accuracy_all": figure(whole[1] / whole[0], ratio(right, items), n),
        "accuracy_readable": figure(
            whole[1] / whole[2] if whole[2] else float("nan"), ratio(right, read), int((counts.read > 0).sum())
        ),
        "collapse": collapse(rows),
        "order_effect": order_effect(rows, seed),
        **readability(rows),
    }
    if width <= MOST_LABELS:
        given_by = (counts.given > 0).sum(0).astype(np.float64)
        found["recall"] = dict(zip(labels, figures(recall, recalls, list(held_by)), strict=True))
        found["precision"] = dict(zip(labels, figures(precision, ratio(hits, given), list(given_by)), strict=True))
        found["n_by_label"] = {label: int(number) for label, number in zip(labels, counts.total.sum(0), strict=True)}
        if rows.fixed:
            found["confusion"] = confusion(rows)
    return found


def readability(rows: Rows) -> Json:
    """How many answers are not ok, and how many there are of each status."""
    statuses = Counter(answer.status for answer in rows.answers)
    return {
        "unreadable": len(rows.answers) - statuses["ok"],
        "status": {status: statuses[status] for status in STATUSES if statuses[status]},
    }


def confusion(rows: Rows) -> Json:
    """Counts of answers by right label: for each of them a list in the order of `answers`."""
    labels = rows.labels
    pairs = Counter(
        (item.answer, answer.choice or NOT_READ) for item, answer in zip(rows.items, rows.answers, strict=True)
    )
    columns = (*labels, NOT_READ)
    return {
        "answers": list(columns),
        "counts": {label: [pairs[label, column] for column in columns] for label in labels},
    }
