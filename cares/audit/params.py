"""Section `audit` of params.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cares.core.record import Record


class AuditParams(Record):
    """How leakage is measured.

    folds: most folds of the cross-validation, which is grouped by template.
    repeats: how often the cross-validation is done with other folds; an event's score is the mean over them.
    bootstrap: resamples of the confidence interval.
    context_ms: how much before and after an event is measured.
    regularisation: inverse strength C of the classifier's L2 penalty.
    trees: trees of the second classifier, which finds what is not linear; 0 leaves it out.
    """

    folds: Annotated[int, Field(ge=2, le=20)]
    repeats: Annotated[int, Field(ge=1, le=100)]
    bootstrap: Annotated[int, Field(ge=100, le=100_000)]
    context_ms: Annotated[int, Field(ge=100, le=10_000)]
    regularisation: Annotated[float, Field(gt=0, le=1000)]
    trees: Annotated[int, Field(ge=0, le=2000)]
