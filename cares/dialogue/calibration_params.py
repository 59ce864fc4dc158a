"""Section `calibration` of params.yaml."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record


class CalibrationParams(Record):
    """How the evaluator is trained and measured.

    `inverse_regularisation` is scikit-learn's C of the logistic regression. The interval of the accuracy is a
    percentile bootstrap over probes, with `bootstrap_draws` draws at the given `confidence`.
    """

    evaluator: Literal["classifier"]
    inverse_regularisation: Annotated[float, Field(gt=0, le=1000)]
    bootstrap_draws: Annotated[int, Field(ge=100, le=100_000)]
    confidence: Annotated[float, Field(gt=0.5, lt=1)]
