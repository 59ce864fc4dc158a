"""Multinomial logistic regression on named features, kept as plain numbers.

Training is scikit-learn's; a trained model is a record of rounded numbers, and what it says is computed from that
record alone, so that a stored model and a fresh one agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator
from sklearn.linear_model import LogisticRegression

from cares.core.record import Record
from cares.records.scene import REACTIONS, Reaction

DECIMALS = 4
Matrix = NDArray[np.float64]


class LinearModel(Record):
    """Class scores are softmax(coefficients @ ((features - means) / scales) + intercepts); one row a label."""

    features: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    labels: tuple[Reaction, ...]
    coefficients: tuple[tuple[float, ...], ...]
    intercepts: tuple[float, ...]

    @model_validator(mode="after")
    def _sizes_agree(self) -> Self:
        width = len(self.features)
        if len(self.means) != width or len(self.scales) != width or any(len(r) != width for r in self.coefficients):
            raise ValueError(f"{width} features need as many means, scales and coefficients")
        if not len(self.labels) == len(self.coefficients) == len(self.intercepts):
            raise ValueError("every label needs a row of coefficients and an intercept")
        if any(scale <= 0 for scale in self.scales):
            raise ValueError("a scale must be above 0")
        return self

    def probabilities(self, rows: Matrix) -> Matrix:
        """Probabilities of the labels, [rows, labels], for features [rows, features]."""
        scaled = (rows - np.array(self.means)) / np.array(self.scales)
        # summed one product at a time, in one order: a matrix product's order depends on the number of rows
        scores = np.tile(np.array(self.intercepts), (len(rows), 1))
        for column, weights in enumerate(np.array(self.coefficients).T):
            scores += scaled[:, column : column + 1] * weights
        scores -= scores.max(axis=1, keepdims=True)
        weight = np.exp(scores)
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def classify(self, rows: Matrix) -> list[Reaction]:
        """The likeliest label of each row; of equals, the first in the order of `labels`."""
        return [self.labels[int(best)] for best in self.probabilities(rows).argmax(axis=1)] if len(rows) else []


def train(names: Sequence[str], rows: Matrix, labels: Sequence[Reaction], inverse_regularisation: float) -> LinearModel:
    """Fit the model to features [rows, features]; deterministic, and independent of the order of rows up to rounding.

    A feature that never varies gets scale 1 and so no weight.

    Raises:
        ValueError: a label has no row.
    """
    if absent := set(REACTIONS) - set(labels):
        raise ValueError(f"no training row for {', '.join(sorted(absent))}")
    means = np.round(rows.mean(axis=0), DECIMALS)
    scales = np.round(rows.std(axis=0), DECIMALS)
    scales[scales == 0] = 1.0
    fit = LogisticRegression(C=inverse_regularisation, tol=1e-10, max_iter=10_000)
    fit.fit((rows - means) / scales, np.array(labels))
    order = [list(fit.classes_).index(label) for label in REACTIONS]
    return LinearModel(
        features=tuple(names),
        means=tuple(float(value) for value in means),
        scales=tuple(float(value) for value in scales),
        labels=REACTIONS,
        coefficients=tuple(tuple(_rounded(value) for value in fit.coef_[row]) for row in order),
        intercepts=tuple(_rounded(fit.intercept_[row]) for row in order),
    )


def _rounded(value: float) -> float:
    return round(float(value), DECIMALS) + 0.0  # no negative zero
