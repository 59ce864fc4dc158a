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
from cares.bench.scores_rows import TASK_KEYS, Rows, by_task, task_key
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
    items: Sequence[Item],
    systems: Mapping[str, Sequence[Answer]],
    catalog: Catalog,
    resamples: int,
    seed: int,
    partial: bool = False,
) -> list[Difference]:
    """Every pair of systems on every task that both answered, tasks first, pairs in the order of `systems`.

    A task without a unit, such as summaries of scenes without a sound, has no difference and is left out, and so is one
    in which a system has errors alone: it did not answer.

    Args:
        items: the frozen questions.
        systems: answers by system.
        catalog: word forms, to find sounds in summaries.
        resamples: bootstrap resamples and draws of the test.
        seed: the data set's seed.
        partial: whether systems may have answered a task in part; each pair is then compared on its own common items.

    Raises:
        InputError: answers do not belong to the items.
    """
    tables = {} if partial else {name: by_task(items, answers) for name, answers in systems.items()}
    plain = []
    for a, b in combinations(systems, 2):
        one, other = _in_common(items, systems[a], systems[b]) if partial else (tables[a], tables[b])
        plain += [
            found
            for task in one.keys() & other.keys()
            if _answered(one[task])
            and _answered(other[task])
            and (found := _difference(task, (a, b), one[task], other[task], catalog, resamples, seed)) is not None
        ]
    pairs = list(combinations(systems, 2))
    plain.sort(key=lambda found: (TASK_KEYS.index(found.task), pairs.index((found.a, found.b))))
    corrected = holm([one.p for one in plain])
    return [one._replace(p_holm=rounded(p)) for one, p in zip(plain, corrected, strict=True)]


def common_items(items: Sequence[Item], answers: Sequence[Sequence[Answer]]) -> list[Item]:
    """The items of each task that all systems answered which answered any item of the task."""
    tasks = {item.item_id: task_key(item) for item in items}
    asked = [{answer.item_id for answer in one} for one in answers]
    of_system = [{tasks[item_id] for item_id in one if item_id in tasks} for one in asked]
    return [
        item
        for item in items
        if any(tasks[item.item_id] in known for known in of_system)
        and all(
            item.item_id in one for one, known in zip(asked, of_system, strict=True) if tasks[item.item_id] in known
        )
    ]


def _in_common(
    items: Sequence[Item], a: Sequence[Answer], b: Sequence[Answer]
) -> tuple[dict[str, Rows], dict[str, Rows]]:
    common = common_items(items, [a, b])
    known = {item.item_id for item in common}
    one, other = (by_task(common, [answer for answer in of if answer.item_id in known]) for of in (a, b))
    return one, other


def _answered(rows: Rows) -> bool:
    return any(answer.status != "error" for answer in rows.answers)


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
