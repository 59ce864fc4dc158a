"""The section `items` of params.yaml."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from cares.core.record import Record
from cares.records.item import Task
from cares.records.scene import Split

ReactionLevel = Literal["time", "time_and_name", "neither"]
Words = Literal[25, 75, 200]


def _different(values: tuple[str | int, ...]) -> tuple[str | int, ...]:
    if len(set(values)) != len(values):
        raise ValueError("the same entry occurs twice")
    return values


class ItemsParams(Record):
    """Which questions are frozen.

    reaction_levels: what a question of `reactions` reveals of its sound. summary_words: lengths of `summary`.
    grounding_splits: of `splits` those whose scenes are mixed again without each of their events, a file an event.
    """

    tasks: Annotated[tuple[Task, ...], Field(min_length=1), AfterValidator(_different)]
    splits: Annotated[tuple[Split, ...], Field(min_length=1), AfterValidator(_different)]
    reaction_levels: Annotated[tuple[ReactionLevel, ...], Field(min_length=1), AfterValidator(_different)]
    grounding_splits: Annotated[tuple[Split, ...], AfterValidator(_different)]
    summary_words: Annotated[tuple[Words, ...], Field(min_length=1), AfterValidator(_different)]

    @property
    def muted_splits(self) -> tuple[Split, ...]:
        """The splits that counterfactuals are made of: none without the task `grounding`."""
        if "grounding" not in self.tasks:
            return ()
        return tuple(split for split in self.splits if split in self.grounding_splits)

    @model_validator(mode="after")
    def _something_to_mute(self) -> Self:
        if "grounding" in self.tasks and not self.muted_splits:
            raise ValueError("the task grounding needs a split in grounding_splits that is also in splits")
        return self
