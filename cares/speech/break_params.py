"""Section `breaks` of params.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cares.core.record import Record


class BreakParams(Record):
    """How it is measured whether breaks are heard.

    folds: most folds of the cross-validation, by template; and by voice, with one fold a voice at most.
    repeats: how often the cross-validation by template is done with other folds; a turn's score is the mean.
    bootstrap: resamples of the confidence interval.
    regularisation: inverse strength C of the classifier's L2 penalty.
    """

    folds: Annotated[int, Field(ge=2, le=20)]
    repeats: Annotated[int, Field(ge=1, le=50)]
    bootstrap: Annotated[int, Field(ge=100, le=100_000)]
    regularisation: Annotated[float, Field(gt=0, le=1000)]
