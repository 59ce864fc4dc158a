"""Cross-validated scores of label classifiers, with intervals clustered by template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cares.audit.features import FEATURES, Example
from cares.audit.params import AuditParams
from cares.core.canonical import Json
from cares.core.rng import KeyedRandom
from cares.records.scene import REACTIONS


@dataclass(frozen=True)
class View:
    """What a classifier may look at, and the model that looks at it."""

    values: Sequence[object]
    model: Callable[[], Any]


def audit(examples: Sequence[Example], params: AuditParams, seed: int) -> Json:
    """Scores from what is measured, from the sound's identity, and from the transcript.

    Each score is None, with a note, where there are too few events (see `score`).
    """
    measured = View([example.measured for example in examples], lambda: _model(StandardScaler(), params))
    sounds = View(
        [[example.sound] for example in examples], lambda: _model(OneHotEncoder(handle_unknown="ignore"), params)
    )
    words = View(
        [example.text for example in examples],
        lambda: _model(CountVectorizer(binary=True, ngram_range=(1, 2), token_pattern=r"(?u)\b\w[\w']*"), params),
    )
    return {
        **score(examples, measured, params, seed),
        "features": list(FEATURES),
        "from_sound_identity": score(examples, sounds, params, seed),
        "from_transcript": score(examples, words, params, seed),
    }


def score(examples: Sequence[Example], view: View, params: AuditParams, seed: int) -> Json:
    """Balanced accuracy of predictions for templates that the classifier has not seen.

    Folds: as many as asked for, but no more than the templates of the label that occurs in fewest; with fewer than two,
    or fewer than two labels, there is no score: too few. The interval is a percentile bootstrap over templates of the
    held-out predictions; it does not hold the variance of training.
    """
    labels = [label for label in REACTIONS if any(example.reaction == label for example in examples)]
    groups = [example.template_id for example in examples]
    truth = np.array([example.reaction for example in examples], dtype=object)
    fewest = min((len({g for g, t in zip(groups, truth, strict=True) if t == label}) for label in labels), default=0)
    folds = min(params.folds, fewest)
    base = {
        "events": len(examples),
        "templates": len(set(groups)),
        "labels": {label: int((truth == label).sum()) for label in labels},
        "chance": round(1 / len(labels), 4) if labels else None,
    }
    if folds < 2 or len(labels) < 2:
        empty = {"balanced_accuracy": None, "ci95": None, "recall": None, "folds": 0}
        return {**base, **empty, "note": "too few: every label must occur in at least two templates"}
    guess = _held_out(view, truth, groups, folds)
    low, high = _interval(truth, guess, groups, labels, params.bootstrap, seed)
    return {
        **base,
        "balanced_accuracy": round(_balanced(truth, guess, labels), 4),
        "ci95": [round(low, 4), round(high, 4)],
        "recall": {label: round(float((guess[truth == label] == label).mean()), 4) for label in labels},
        "folds": folds,
        "note": "",
    }


def _model(transform: object, params: AuditParams) -> Any:
    return make_pipeline(
        transform, LogisticRegression(C=params.regularisation, class_weight="balanced", max_iter=5_000)
    )


def _held_out(view: View, truth: NDArray[np.object_], groups: list[str], folds: int) -> NDArray[np.object_]:
    guess = np.empty(len(truth), dtype=object)
    splitter = StratifiedGroupKFold(folds)
    for train, test in splitter.split(np.zeros(len(truth)), truth.astype(str), groups):
        model = view.model() if len(set(truth[train])) > 1 else DummyClassifier()
        model.fit([view.values[i] for i in train], truth[train].astype(str))
        guess[test] = model.predict([view.values[i] for i in test])
    return guess


def _balanced(truth: NDArray[np.object_], guess: NDArray[np.object_], labels: Sequence[str]) -> float:
    present = [label for label in labels if (truth == label).any()]
    return float(np.mean([(guess[truth == label] == label).mean() for label in present]))


def _interval(
    truth: NDArray[np.object_],
    guess: NDArray[np.object_],
    groups: Sequence[str],
    labels: Sequence[str],
    resamples: int,
    seed: int,
) -> tuple[float, float]:
    """95 % percentile interval; a resample's recalls are means over the labels that it holds."""
    names = sorted(set(groups))
    place = {name: index for index, name in enumerate(names)}
    right = np.zeros((len(names), len(labels)))
    total = np.zeros((len(names), len(labels)))
    for name, true, guessed in zip(groups, truth, guess, strict=True):
        column = labels.index(true)
        total[place[name], column] += 1
        right[place[name], column] += guessed == true
    random = KeyedRandom(seed, "audit_bootstrap", "templates")
    scores = []
    for _ in range(resamples):
        counts = np.bincount([random.below(len(names)) for _ in names], minlength=len(names))
        drawn, hits = counts @ total, counts @ right
        scores.append(float((hits[drawn > 0] / drawn[drawn > 0]).mean()))
    low, high = np.quantile(scores, [0.025, 0.975])
    return float(low), float(high)
