"""The section `allocation` of params.yaml."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from cares.core.record import Record

Share = Annotated[float, Field(ge=0, le=1)]


class SplitShares(Record):
    """Share of the templates in each split; the three add up to 1."""

    train: Share
    validation: Share
    test: Share

    @model_validator(mode="after")
    def _whole(self) -> Self:
        total = self.train + self.validation + self.test
        if abs(total - 1) > 1e-9:
            raise ValueError(f"shares must add up to 1, not to {total:g}")
        return self


class AllocationParams(Record):
    """How many scenes there are and how they are laid out.

    `scenes` of them come `scenes_per_template` to a template (the last template may be smaller). A scene has between
    `min_turns` and `max_turns` turns, and never fewer than its events need; three events need ten turns. `rare_share`
    is the share of scenes whose pivot is a rare sound; a third of the scenes have a pivot.
    """

    scenes: Annotated[int, Field(ge=1, le=100_000)]
    scenes_per_template: Annotated[int, Field(ge=1, le=1000)]
    splits: SplitShares
    min_turns: Annotated[int, Field(ge=6, le=13)]
    max_turns: Annotated[int, Field(ge=10, le=13)]
    rare_share: Annotated[float, Field(ge=0, le=0.3)]

    @field_validator("max_turns")
    @classmethod
    def _ordered(cls, value: int, info: ValidationInfo) -> int:
        if value < info.data.get("min_turns", 0):
            raise ValueError(f"must be at least min_turns, {info.data['min_turns']}")
        return value
