"""Section `sounds` of params.yaml: where takes come from, and how many each split gets."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record
from cares.records.scene import Split

Takes = Annotated[int, Field(ge=1, le=1000)]


class TakeCounts(Record):
    """Takes of one sound in each split; every split has its own, so a take is never heard in two."""

    train: Takes
    validation: Takes
    test: Takes

    def splits(self) -> tuple[Split, ...]:
        """The split of each take, in the order in which takes are numbered."""
        train: tuple[Split, ...] = ("train",)
        validation: tuple[Split, ...] = ("validation",)
        test: tuple[Split, ...] = ("test",)
        return train * self.train + validation * self.validation + test * self.test


class SoundsParams(Record):
    """Where takes come from and how many there are.

    source: `procedural` synthesises what a recipe exists for.
    takes: of each sound.
    ambience_takes: of each location's ambience.
    """

    source: Literal["procedural"]
    takes: TakeCounts
    ambience_takes: TakeCounts
