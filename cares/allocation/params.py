"""The section `allocation` of params.yaml."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from cares.core.record import Record
from cares.records.scene import MOST_TURNS

MOST_SCENES = 100_000
Share = Annotated[float, Field(ge=0, le=1)]
NScenes = Annotated[int, Field(ge=1, le=MOST_SCENES)]


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


Seconds = Annotated[float, Field(ge=10, le=600)]


class LengthParams(Record):
    """How long the finished scenes should be, in seconds: a normal law, cut off at both ends.

    `turn_s` is the range from which a scene's mean length of a turn is drawn, its gap included: the target over it is
    the scene's number of turns, within `min_turns` and `max_turns`.
    """

    mean_s: Seconds
    deviation_s: Annotated[float, Field(gt=0, le=120)]
    shortest_s: Seconds
    longest_s: Seconds
    turn_s: tuple[Annotated[float, Field(ge=3)], Annotated[float, Field(le=20)]]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.shortest_s < self.mean_s < self.longest_s:
            raise ValueError("shortest_s, mean_s and longest_s must rise")
        if self.turn_s[0] > self.turn_s[1]:
            raise ValueError("turn_s must be a lower and an upper end")
        return self


class AllocationParams(Record):
    """How many scenes there are and how they are laid out.

    `scenes` of them come `scenes_per_template` to a template (the last template may be smaller). A scene has between
    `min_turns` and `max_turns` turns, and never fewer than its events need; three events need ten turns. `rare_share`
    is the share of scenes whose pivot is a rare sound; a third of the scenes have a pivot. With `length`, a scene's
    turns follow from how long it should be; without it their number is drawn and nothing is asked of its length.
    `added` lets a set grow that is built: each entry is a number of further scenes, in templates of their own, dealt
    after all before them, which stay as they are.
    """

    scenes: NScenes
    added: tuple[NScenes, ...] = Field(default=(), exclude_if=lambda value: not value)
    scenes_per_template: Annotated[int, Field(ge=1, le=1000)]
    splits: SplitShares
    min_turns: Annotated[int, Field(ge=6, le=MOST_TURNS)]
    max_turns: Annotated[int, Field(ge=10, le=MOST_TURNS)]
    rare_share: Annotated[float, Field(ge=0, le=0.3)]
    length: LengthParams | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def batches(self) -> tuple[int, ...]:
        """Scenes of the start, then of each added batch."""
        return (self.scenes, *self.added)

    @field_validator("added")
    @classmethod
    def _few_enough(cls, value: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        if (total := info.data.get("scenes", 0) + sum(value)) > MOST_SCENES:
            raise ValueError(f"must not bring the scenes above {MOST_SCENES}, they are {total}")
        return value

    @field_validator("max_turns")
    @classmethod
    def _ordered(cls, value: int, info: ValidationInfo) -> int:
        if value < info.data.get("min_turns", 0):
            raise ValueError(f"must be at least min_turns, {info.data['min_turns']}")
        return value

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.length is not None:
            quickest, slowest = self.length.turn_s
            if self.length.longest_s > self.max_turns * slowest:
                raise ValueError(f"{self.max_turns} turns of at most {slowest} s cannot last {self.length.longest_s} s")
            if self.length.shortest_s < self.min_turns * quickest:
                raise ValueError(f"{self.min_turns} turns of at least {quickest} s outlast {self.length.shortest_s} s")
        return self
