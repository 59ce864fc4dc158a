"""The classifiers of the audit, each with what it looks at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cares.audit.features import FEATURES, Example
from cares.audit.params import AuditParams
from cares.audit.score import View
from cares.core.rng import derived_seed

_SMALLEST_LEAF = 5


def measured_view(examples: Sequence[Example], names: Sequence[str], params: AuditParams) -> View:
    """A logistic regression on standardised measurements; what is missing becomes the median, and is marked."""
    return View(
        table(examples, names),
        lambda: make_pipeline(_filled(), StandardScaler(), _regression(params)),
    )


def tree_view(examples: Sequence[Example], names: Sequence[str], params: AuditParams, seed: int) -> View:
    """A random forest on the same measurements: it finds what is not linear, or lies in two of them together."""

    def model() -> Any:
        forest = RandomForestClassifier(
            params.trees,
            min_samples_leaf=_SMALLEST_LEAF,
            class_weight="balanced",
            random_state=derived_seed(seed, "audit_trees"),
            n_jobs=1,
        )
        return make_pipeline(_filled(), forest)

    return View(table(examples, names), model)


def identity_view(examples: Sequence[Example], params: AuditParams) -> View:
    """A logistic regression on which sound it is."""
    return View(
        [[example.sound] for example in examples],
        lambda: make_pipeline(OneHotEncoder(handle_unknown="ignore"), _regression(params)),
    )


def contrary_view(examples: Sequence[Example], params: AuditParams) -> View:
    """The same, but it guesses the label that the sound has had least: what a balanced allocation gives away."""
    view = identity_view(examples, params)
    return View(view.values, lambda: _Contrary(view.model()))


def transcript_view(examples: Sequence[Example], params: AuditParams) -> View:
    """A logistic regression on the words, alone and in pairs, of the sound's turn and the next."""
    return View(
        [example.text or "" for example in examples],
        lambda: make_pipeline(
            CountVectorizer(binary=True, ngram_range=(1, 2), token_pattern=r"(?u)\b\w[\w']*"), _regression(params)
        ),
    )


def table(examples: Sequence[Example], names: Sequence[str]) -> NDArray[np.float64]:
    """The measurements of these names: float64 [N, len(names)]."""
    columns = [FEATURES.index(name) for name in names]
    return np.array([[example.measured[column] for column in columns] for example in examples], np.float64)


class _Contrary:
    """A classifier turned round."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def fit(self, values: Any, truth: NDArray[np.str_]) -> None:
        self._model.fit(values, truth)

    def predict(self, values: Any) -> NDArray[np.str_]:
        guesses: NDArray[np.str_] = self._model.classes_[self._model.predict_proba(values).argmin(1)]
        return guesses


def _filled() -> SimpleImputer:
    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


def _regression(params: AuditParams) -> LogisticRegression:
    return LogisticRegression(C=params.regularisation, class_weight="balanced", max_iter=5_000)
