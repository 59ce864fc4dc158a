"""Cross-validated scores of label classifiers, with intervals clustered by template."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedGroupKFold

from cares.audit.features import Example
from cares.audit.params import AuditParams
from cares.core.canonical import Json
from cares.core.rng import derived_seed
from cares.records.scene import REACTIONS

WIDE = 0.2
FOLDS_SHARE_DATA = math.sqrt(2)
TOO_FEW = "too few: every label must occur in at least two templates"


@dataclass(frozen=True)
class View:
    """What a classifier may look at, and the model that looks at it.

    `values` holds one row an event; `model` makes a new, unfitted classifier with `fit` and `predict`.
    """

    values: Any
    model: Callable[[], Any]


@dataclass(frozen=True)
class Fold:
    """A fitted model and the rows that it has not seen."""

    model: Any
    test: NDArray[np.intp]


@dataclass
class HeldOut:
    """Guesses for every event by models that have not seen its template, one column a repeat of the folds.

    `fitted` holds the models, fold by fold, where `hold_out` was asked to keep them.
    """

    labels: list[str]
    truth: NDArray[np.str_]
    guesses: NDArray[np.str_]
    folds: int
    fitted: list[Fold] = field(default_factory=list)

    @property
    def right(self) -> NDArray[np.float64]:
        """Share of the repeats in which each event was told right: float64 [N]."""
        return np.asarray((self.guesses == self.truth[:, None]).mean(1), np.float64)


def hold_out(
    examples: Sequence[Example], view: View, params: AuditParams, seed: int, *, keep: bool = False
) -> HeldOut | None:
    """Guess every event's label from the other templates.

    With `keep` the fitted models stay in `fitted`; of a large set a forest alone takes hundreds of megabytes.

    Folds: as many as asked for, but no more than the templates of the label that occurs in fewest. With fewer than two,
    or fewer than two labels, None: too few.
    """
    labels = [label for label in REACTIONS if any(example.reaction == label for example in examples)]
    groups = np.array([example.template_id for example in examples])
    truth = np.array([example.reaction for example in examples])
    folds = min([params.folds, *(len(set(groups[truth == label])) for label in labels)])
    if folds < 2 or len(labels) < 2:
        return None
    held = HeldOut([str(label) for label in labels], truth, np.empty((len(truth), params.repeats), truth.dtype), folds)
    for repeat in range(params.repeats):
        shuffle = derived_seed(seed, "audit_folds", repeat)
        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=shuffle)
        for train, test in splitter.split(np.zeros(len(truth)), truth, groups):
            if not len(test):
                continue
            model = view.model() if len(set(truth[train])) > 1 else DummyClassifier()
            model.fit(_rows(view.values, train), truth[train])
            held.guesses[test, repeat] = model.predict(_rows(view.values, test))
            if keep:
                held.fitted.append(Fold(model, test))
    return held


def score(examples: Sequence[Example], view: View, params: AuditParams, seed: int) -> Json:
    """Balanced accuracy with its interval, as `describe` gives it."""
    return describe(examples, hold_out(examples, view, params, seed), params, seed)


def describe(examples: Sequence[Example], held: HeldOut | None, params: AuditParams, seed: int) -> Json:
    """Balanced accuracy of held-out guesses, with a 95 % interval, recall and confusion.

    The interval is that of `interval`, of the repeats' mean. `confusion` holds, for each true label, the share of its
    events that were given each label. Where there are too few events the figures are None and `note` says so; `note`
    also says when the interval is wide.
    """
    counts = {label: sum(example.reaction == label for example in examples) for label in REACTIONS}
    counts = {label: count for label, count in counts.items() if count}
    base = {
        "n_events": len(examples),
        "templates": len({example.template_id for example in examples}),
        "labels": counts,
        "chance": round(1 / len(counts), 4) if counts else None,
    }
    if held is None:
        empty = {"balanced_accuracy": None, "ci95": None, "recall": None, "confusion": None, "folds": 0}
        return {**base, **empty, "note": TOO_FEW}
    low, high = interval(examples, held, params.bootstrap, seed)
    return {
        **base,
        "balanced_accuracy": round(balanced(held), 4),
        "ci95": [round(low, 4), round(high, 4)],
        "recall": {label: round(float(held.right[held.truth == label].mean()), 4) for label in held.labels},
        "confusion": _confusion(held),
        "folds": held.folds,
        "note": f"few events: the interval is {100 * (high - low):.0f} points wide" if high - low > WIDE else "",
    }


def balanced(held: HeldOut) -> float:
    """Mean over the labels of the share of their events that were told right."""
    right = held.right
    return float(np.mean([right[held.truth == label].mean() for label in held.labels]))


def interval(examples: Sequence[Example], held: HeldOut, resamples: int, seed: int) -> tuple[float, float]:
    """95 % interval: percentiles of a bootstrap over templates, taken `FOLDS_SHARE_DATA` times as far from the score.

    The bootstrap alone takes held-out guesses as independent of each other. They are not: what a model learns by
    chance from fold i and is right about in fold j, another learns from j and is right about in i, so that without a
    leak every agreement of two folds is counted twice, and the variance is twice that of the bootstrap (for repeated
    folds too; with a strong leak less, so that the interval is then too wide rather than too narrow). The test suite
    holds it against sets without a leak. See Bengio and Grandvalet 2004, "No unbiased estimator of the variance of
    k-fold cross-validation", for why the folds cannot tell it themselves.

    A resample's recalls are means over the labels that it holds.
    """
    names, place = np.unique([example.template_id for example in examples], return_inverse=True)
    column = np.array([held.labels.index(label) for label in held.truth])
    right = np.zeros((len(names), len(held.labels)))
    total = np.zeros((len(names), len(held.labels)))
    np.add.at(total, (place, column), 1.0)
    np.add.at(right, (place, column), held.right)
    scores = []
    for drawn in template_draws(seed, resamples, len(names)):
        weight = np.bincount(drawn, minlength=len(names))
        of, hits = weight @ total, weight @ right
        scores.append(float((hits[of > 0] / of[of > 0]).mean()))
    middle, ends = balanced(held), np.quantile(scores, [0.025, 0.975])
    low, high = np.clip(middle + FOLDS_SHARE_DATA * (ends - middle), 0, 1)
    return float(low), float(high)


def template_draws(seed: int, resamples: int, n: int) -> NDArray[np.int64]:
    """Indices below n, int64 [resamples, n]: the same for every score of one audit, from raw words of a keyed stream.

    A 32-bit word is scaled to [0, n); with n far below 2**32 no index is favoured by more than one part in a million.
    """
    raw = np.random.Philox(derived_seed(seed, "audit_bootstrap", "templates")).random_raw(resamples * n)
    scaled = ((raw >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)
    return scaled.astype(np.int64).reshape(resamples, n)


def _confusion(held: HeldOut) -> Json:
    return {
        label: {guess: round(float((held.guesses[held.truth == label] == guess).mean()), 4) for guess in held.labels}
        for label in held.labels
    }


def _rows(values: Any, rows: NDArray[np.intp]) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows]
