"""Which measurements give a label away."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kruskal, rankdata

from cares.audit.score import HeldOut
from cares.core.canonical import Json
from cares.core.rng import derived_seed

_SIGNIFICANT = 0.05


def feature_figures(names: Sequence[str], values: NDArray[np.float64], held: HeldOut, seed: int) -> list[Json]:
    """What each measurement tells, the most telling first.

    Of each: `importance`, by how much the held-out balanced accuracy falls when the measurement is permuted among the
    events that a model has not seen (Breiman 2001); `auc`, for each label the area under the ROC curve of the
    measurement alone, label against the rest, 0.5 for nothing; `median` by label; `p` of a Kruskal-Wallis test over the
    labels; and `gives_away`: p is below 5 % over the number of measurements (Bonferroni). The test takes events as
    independent, which within a template they nearly are.

    Args:
        names: of the measurements.
        values: float64 [N, len(names)], NaN where there is none.
        held: the models whose importance is asked for, fitted on these values.
        seed: the data set's seed.
    """
    rows = [
        {
            "name": name,
            "importance": _importance(column, name, values, held, seed),
            **_alone(values[:, column], held.truth, len(names)),
        }
        for column, name in enumerate(names)
    ]
    return sorted(rows, key=lambda row: (-row["importance"], row["name"]))


def _importance(column: int, name: str, values: NDArray[np.float64], held: HeldOut, seed: int) -> float:
    """Mean over folds and repeats of the fall in balanced accuracy."""
    per_repeat = len(held.fitted) // held.guesses.shape[1]
    falls = []
    for repeat in range(held.guesses.shape[1]):
        guesses = held.guesses[:, repeat].copy()
        for fold in held.fitted[repeat * per_repeat : (repeat + 1) * per_repeat]:
            changed = values[fold.test].copy()
            raw = np.random.Philox(derived_seed(seed, "audit_permute", name, repeat, int(fold.test[0])))
            changed[:, column] = changed[np.argsort(raw.random_raw(len(changed)), kind="stable"), column]
            guesses[fold.test] = fold.model.predict(changed)
        falls.append(_balanced(held, held.guesses[:, repeat]) - _balanced(held, guesses))
    return round(float(np.mean(falls)), 4)


def _balanced(held: HeldOut, guesses: NDArray[np.str_]) -> float:
    right = guesses == held.truth
    return float(np.mean([right[held.truth == label].mean() for label in held.labels]))


def _alone(values: NDArray[np.float64], truth: NDArray[np.str_], tests: int) -> Json:
    known = ~np.isnan(values)
    parts = {str(label): values[known & (truth == label)] for label in np.unique(truth)}
    parts = {label: part for label, part in parts.items() if len(part)}
    p = None
    if len(parts) > 1 and float(np.ptp(values[known])) > 0:
        p = float(kruskal(*parts.values()).pvalue)
    ranks = np.asarray(rankdata(values[known]), np.float64)
    return {
        "auc": {label: _auc(ranks, truth[known] == label) for label in parts},
        "median": {label: round(float(np.median(part)), 4) for label, part in parts.items()},
        "p": None if p is None or math.isnan(p) else float(f"{p:.3g}"),
        "gives_away": p is not None and p < _SIGNIFICANT / tests,
    }


def _auc(ranks: NDArray[np.float64], is_label: NDArray[np.bool_]) -> float | None:
    """Mann and Whitney's U over its greatest value."""
    inside, outside = int(is_label.sum()), int((~is_label).sum())
    if not inside or not outside:
        return None
    rank_sum = float(ranks[is_label].sum())
    return round((rank_sum - inside * (inside + 1) / 2) / (inside * outside), 4)
