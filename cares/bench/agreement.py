"""How far annotators agree with each other, and with the labels that were fixed before anything was written.

- Cohen's kappa of each pair of annotators on the items that both labelled (Cohen 1960), by scikit-learn;
- Fleiss' kappa on the items that everybody labelled (Fleiss 1971), by statsmodels;
- Krippendorff's alpha, nominal, on all items with two labels or more (Krippendorff, "Content analysis", 2004, chapter
  11), by the package krippendorff: the one that bears with missing labels.

Each has a bootstrap interval over clusters of items.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cares.bench.agreement_files import Annotation
from cares.bench.statistics import Codes, codes, figure, ratio, resampled, rounded, sums
from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.rng import KeyedRandom

Table = NDArray[np.int64]
MISSING = -1


def agreement(
    annotations: Sequence[Annotation],
    resamples: int,
    seed: int,
    clusters: Mapping[str, str] | None = None,
    gold: Mapping[str, str] | None = None,
) -> Json:
    """All measures of agreement.

    Args:
        annotations: of two annotators or more; with `gold`, one is enough.
        resamples: bootstrap resamples.
        seed: the data set's seed.
        clusters: what items belong together, such as their template; by default every item is its own cluster.
        gold: the right label of each item; then each annotator's accuracy against it is given too, and that of the
            majority of annotators.

    Returns:
        items, annotators, labels (counts), cohen (mean over pairs, and by pair), fleiss, krippendorff, and `gold`. A
        measure that is not defined (fewer than two labels or items) has value None.

    Raises:
        InputError: fewer than two annotators and no right labels, or none at all.
    """
    who = sorted({one.annotator for one in annotations})
    if len(who) < (2 if gold is None else 1):
        raise InputError(
            "annotations", "annotator", who, "two annotators or more, or one and the right labels (--items)"
        )
    names = codes([one.label for one in annotations])
    items = sorted({one.item_id for one in annotations})
    table = np.full((len(items), len(who)), MISSING, np.int64)
    row, column = ({name: place for place, name in enumerate(of)} for of in (items, who))
    for one, label in zip(annotations, names.place, strict=True):
        table[row[one.item_id], column[one.annotator]] = label
    of_item = codes([clusters[item] if clusters else item for item in items])
    found: Json = {
        "items": len(items),
        "annotators": len(who),
        "labels": dict(sorted(Counter(one.label for one in annotations).items())),
        "cohen": _cohen(table, who, of_item, resamples, seed),
        "fleiss": {"items": int((table >= 0).all(1).sum()), **_measured(table, fleiss, of_item, resamples, seed)},
        "krippendorff": {
            "items": int(((table >= 0).sum(1) >= 2).sum()),
            **_measured(table, krippendorff, of_item, resamples, seed),
        },
    }
    if gold is not None:
        right = np.array([names.names.index(gold[item]) if gold[item] in names.names else MISSING for item in items])
        found["gold"] = _against_gold(table, right, who, of_item, resamples, seed)
    return found


def cohen(table: Table) -> float:
    """Cohen's kappa of two annotators, [N, 2], on the rows that both have; NaN where it is not defined."""
    from sklearn.metrics import cohen_kappa_score

    both = table[(table >= 0).all(1)]
    if not len(both) or len(np.unique(both)) < 2:
        return float("nan")
    return float(cohen_kappa_score(both[:, 0], both[:, 1]))


def fleiss(table: Table) -> float:
    """Fleiss' kappa of A annotators, [N, A], on the rows without a missing label; NaN where it is not defined."""
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    full = table[(table >= 0).all(1)]
    if table.shape[1] < 2 or not len(full) or len(np.unique(full)) < 2:
        return float("nan")
    return float(fleiss_kappa(aggregate_raters(full)[0], method="fleiss"))


def krippendorff(table: Table) -> float:
    """Krippendorff's alpha for nominal labels, [N, A] with -1 for missing; NaN where it is not defined."""
    import krippendorff as package

    paired = table[(table >= 0).sum(1) >= 2]
    width = int(table.max(initial=0)) + 1
    counts = np.stack([(paired == label).sum(1) for label in range(width)], 1)
    if (counts.sum(0) > 0).sum() < 2:
        return float("nan")
    return float(package.alpha(value_counts=counts, level_of_measurement="nominal"))


def _measured(
    table: Table, measure: Callable[[Table], float], of_item: Codes, resamples: int, seed: int
) -> dict[str, Json]:
    """A measure with its interval: whole clusters of rows are drawn with replacement."""
    value = measure(table)
    rows = [np.flatnonzero(of_item.place == cluster) for cluster in range(len(of_item.names))]
    drawn = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a resample in which nothing varies has no kappa
        for number in range(resamples):
            draw = KeyedRandom(seed, "bench_agreement", number)
            drawn.append(measure(table[np.concatenate([rows[draw.below(len(rows))] for _ in rows])]))
    found: dict[str, Json] = figure(value, np.array(drawn), len(rows), share=False)
    return found


def _cohen(table: Table, who: Sequence[str], of_item: Codes, resamples: int, seed: int) -> Json:
    pairs = list(combinations(range(len(who)), 2))
    by_pair = {}
    for a, b in pairs:
        value = cohen(table[:, [a, b]])
        by_pair[f"{who[a]}, {who[b]}"] = {
            "value": None if np.isnan(value) else rounded(value),
            "items": int((table[:, [a, b]] >= 0).all(1).sum()),
        }

    def mean(rows: Table) -> float:
        values = [cohen(rows[:, list(pair)]) for pair in pairs]
        known = [value for value in values if not np.isnan(value)]
        return sum(known) / len(known) if known else float("nan")

    return {**_measured(table, mean, of_item, resamples, seed), "by_pair": by_pair}


def _against_gold(table: Table, right: Table, who: Sequence[str], of_item: Codes, resamples: int, seed: int) -> Json:
    """Share of right labels of each annotator and of the majority; a tie has no majority, and is wrong."""
    if "majority" in who:
        raise InputError(
            "annotations", "annotator", "majority", "another name; this one stands for the majority's label"
        )
    columns = {name: table[:, place] for place, name in enumerate(who)}
    if len(who) > 1:
        columns["majority"] = np.array([_majority(row) for row in table], np.int64)
    found = {}
    for name, given in columns.items():
        labelled = np.ones(len(given), np.bool_) if name == "majority" else given >= 0
        one = np.where(labelled, 0, -1)
        total = sums(of_item, one, 1)
        hits = sums(of_item, one, 1, ((given == right) & (right >= 0)).astype(np.int64))
        drawn = resampled(np.concatenate([total, hits], axis=1), resamples, seed)
        value = float(ratio(hits.sum(), total.sum()))
        found[name] = {
            "items": int(labelled.sum()),
            **figure(value, ratio(drawn[:, 1], drawn[:, 0]), int((total > 0).sum())),
        }
    return found


def _majority(row: Table) -> int:
    counts = Counter(int(label) for label in row if label >= 0).most_common(2)
    tied = len(counts) == 2 and counts[0][1] == counts[1][1]
    return MISSING if not counts or tied else counts[0][0]
