"""Section `audit` of params.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cares.core.record import Record


class AuditParams(Record):
    """How leakage is measured.

    folds: most folds of the cross-validation, which is grouped by template.
    bootstrap: resamples of the confidence interval.
    context_ms: how much before and after an event is measured.
    regularisation: inverse strength C of the classifier's L2 penalty.
    """

    folds: Annotated[int, Field(ge=2, le=20)]
    bootstrap: Annotated[int, Field(ge=100, le=100_000)]
    context_ms: Annotated[int, Field(ge=100, le=10_000)]
    regularisation: Annotated[float, Field(gt=0, le=1000)]
