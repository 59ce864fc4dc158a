"""Section `calibration` of params.yaml."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from cares.core.record import Record
from cares.dialogue.judging import EvaluatorKind


class CalibrationParams(Record):
    """Which evaluator accepts the dialogues, and how evaluators are trained and measured.

    Attributes:
        evaluator: who accepts dialogues; it must be among those that are measured.
        allow_same_family: whether it may be of the writer's model family; every record then says so.
        measure: the evaluators that are scored on the test probes.
        llm_sounds_per_label: how many test sounds of each label the language model is asked about, since each costs it
            two answers; null for all. The other evaluators are then scored on these too, beside the whole.
        llm_topic_threshold: least similarity of a topic that the language model recovers to the gold one; null to
            derive it from pairs of topics. The published set used 0.82 with BGE-large.
        inverse_regularisation: scikit-learn's C of the logistic regression.
        bootstrap_draws: draws of the percentile bootstrap over probes.
        confidence: of the intervals.
    """

    evaluator: EvaluatorKind
    allow_same_family: bool = False
    measure: Annotated[tuple[EvaluatorKind, ...], Field(min_length=1)] = ("classifier",)
    llm_sounds_per_label: Annotated[int, Field(ge=1)] | None = None
    llm_topic_threshold: Annotated[float, Field(gt=0, lt=1)] | None = None
    inverse_regularisation: Annotated[float, Field(gt=0, le=1000)]
    bootstrap_draws: Annotated[int, Field(ge=100, le=100_000)]
    confidence: Annotated[float, Field(gt=0.5, lt=1)]

    @model_validator(mode="after")
    def _who_accepts_is_measured(self) -> Self:
        if len(set(self.measure)) != len(self.measure):
            raise ValueError("measure names an evaluator twice")
        if self.evaluator not in self.measure:
            raise ValueError(f"measure must name the evaluator that accepts dialogues, {self.evaluator}")
        return self

    @property
    def asks_llm(self) -> bool:
        """Whether a language model is needed."""
        return any(kind != "classifier" for kind in self.measure)
