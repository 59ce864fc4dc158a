"""Differences between systems on the same items, with intervals and tests that keep templates together.

A task is compared by its first figure (`cares.bench.scores.headline`). The interval resamples templates with both
systems in them; p is that of a sign-flip test over templates; and because many pairs and tasks are compared, p is
corrected by Holm's method over all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cares.bench.scores import headline
from cares.bench.scores_choice import label_codes
from cares.bench.scores_pairs import both_right
from cares.bench.scores_rows import Rows, by_task
from cares.bench.scores_summary import KINDS, mentions
from cares.bench.statistics import (
    Codes,
    effective_clusters,
    figure,
    holm,
    mean_of_known,
    ratio,
    resampled,
    rounded,
    sign_flip,
    sums,
)
from cares.catalog.catalog import Catalog
from cares.core.canonical import Json
from cares.records.answer import Answer
from cares.records.item import Item


class Units(NamedTuple):
    """What a task's first figure is a mean of: the mean over strata of the share of units that are right.

    templates: of each unit. stratum: its label where the figure is balanced, else 0, int64 [U]. right: int64 [U].
    """

    templates: Codes
    stratum: NDArray[np.int64]
    right: NDArray[np.int64]


class Difference(NamedTuple):
    """System `a` minus system `b` in the first figure of a task."""

    task: str
    figure: str
    a: str
    b: str
    difference: float
    ci95: tuple[float, float] | None
    p: float
    p_holm: float
    n: int
    templates: int

    def to_json(self) -> Json:
        """As metrics files hold it."""
        return {**self._asdict(), "ci95": None if self.ci95 is None else list(self.ci95)}


def units(task: str, rows: Rows, catalog: Catalog, seed: int) -> Units:
    """The units of a task's first figure."""
    if headline(task) == "balanced_accuracy":
        actual, _, right = label_codes(rows)
        return Units(rows.templates, actual, right)
    if task == "grounding":
        templates, right = both_right(rows)
    elif task.startswith("summary"):
        templates, right = _mentioned(rows, catalog, seed)
    else:
        templates, right = rows.templates, label_codes(rows)[2]
    return Units(templates, np.zeros(len(right), np.int64), right)


def compare(
    items: Sequence[Item], systems: Mapping[str, Sequence[Answer]], catalog: Catalog, resamples: int, seed: int
) -> list[Difference]:
    """Every pair of systems on every task that both answered, tasks first, pairs in the order of `systems`.

    A task without a unit, such as summaries of scenes without a sound, has no difference and is left out.

    Args:
        items: the frozen questions.
        systems: answers by system.
        catalog: word forms, to find sounds in summaries.
        resamples: bootstrap resamples and draws of the test.
        seed: the data set's seed.

    Raises:
        InputError: answers do not belong to the items.
    """
    tables = {name: by_task(items, answers) for name, answers in systems.items()}
    tasks = list(dict.fromkeys(task for table in tables.values() for task in table))
    plain = [
        found
        for task in tasks
        for a, b in combinations(systems, 2)
        if task in tables[a] and task in tables[b]
        if (found := _difference(task, (a, b), tables[a][task], tables[b][task], catalog, resamples, seed)) is not None
    ]
    corrected = holm([one.p for one in plain])
    return [one._replace(p_holm=rounded(p)) for one, p in zip(plain, corrected, strict=True)]


def _difference(
    task: str, names: tuple[str, str], a: Rows, b: Rows, catalog: Catalog, resamples: int, seed: int
) -> Difference | None:
    one, other = (units(task, rows, catalog, seed) for rows in (a, b))
    if not len(one.right):
        return None
    width = int(one.stratum.max(initial=0)) + 1
    total = sums(one.templates, one.stratum, width)
    hits = [sums(found.templates, found.stratum, width, found.right) for found in (one, other)]
    drawn = resampled(np.concatenate([total, *hits], axis=1), resamples, seed)
    of, got, other_got = (drawn[:, part * width : (part + 1) * width] for part in range(3))
    whole = total.sum(0)
    value = float(mean_of_known(ratio((hits[0] - hits[1]).sum(0), whole)))
    n = len(one.templates.names)
    by_stratum = ratio(got - other_got, of)
    clusters = effective_clusters(by_stratum, (total > 0).sum(0).astype(np.float64), n)
    found = figure(value, mean_of_known(by_stratum), clusters, share=False)
    # each template's part of the difference, whose sum it is; a label that never occurs has no part
    parts = np.nansum(ratio(hits[0] - hits[1], whole), 1) / (whole > 0).sum()
    return Difference(
        task=task,
        figure=headline(task),
        a=names[0],
        b=names[1],
        difference=found["value"],
        ci95=None if found["ci95"] is None else (found["ci95"][0], found["ci95"][1]),
        p=sign_flip(parts, resamples, seed, task, *names),
        p_holm=1.0,
        n=len(one.right),
        templates=n,
    )


def _mentioned(rows: Rows, catalog: Catalog, seed: int) -> tuple[Codes, NDArray[np.int64]]:
    places, kind, by_form = mentions(rows, catalog, seed)
    real = kind < KINDS.index("decoy")
    at = rows.templates._replace(place=rows.templates.place[places[real]])
    return at, by_form[real]
