"""Section `sounds` of params.yaml: where takes come from, and how many each split gets."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from cares.core.record import Record
from cares.records.scene import Split

Takes = Annotated[int, Field(ge=1, le=1000)]
SourceName = Literal["procedural", "folder", "freesound"]
SOURCE_NAMES: tuple[SourceName, ...] = get_args(SourceName)


def listed(value: Any) -> Any:
    """One name as a tuple of one, a list as a tuple; anything else as it is, for the schema to refuse."""
    if isinstance(value, list):
        return tuple(value)
    return (value,) if isinstance(value, str) else value


def once(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names; ValueError when one is there twice."""
    if len(set(names)) < len(names):
        raise ValueError("every source only once")
    return names


def _inside(path: str) -> str:
    parts = PurePosixPath(path)
    if not path.strip() or parts.is_absolute() or ".." in parts.parts or "\\" in path:
        raise ValueError("a path below the repository, with forward slashes")
    return path


SourceNames = Annotated[tuple[SourceName, ...], BeforeValidator(listed), Field(min_length=1), AfterValidator(once)]
PathBelow = Annotated[str, AfterValidator(_inside)]


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

    def of(self, split: Split) -> int:
        """Takes of this split."""
        return self.splits().count(split)


class SoundsParams(Record):
    """Where takes come from and how many there are.

    source: one source, or several in order of preference: all takes of a sound come from the first that has one for
        every split. `procedural` synthesises what a recipe exists for, `folder` takes the recordings of a manifest,
        `freesound` what is pinned of freesound.org.
    takes: of each sound; recordings may be fewer, at least one in each split.
    ambience_takes: of each location's ambience.
    folder: where the recordings and their manifest.csv or manifest.jsonl lie.
    pins: the file of pinned takes of Freesound.
    unusable: what is done with a recording that fails a check: `error` stops, `leave_out` goes on without it.
    """

    source: SourceNames
    takes: TakeCounts
    ambience_takes: TakeCounts
    folder: PathBelow = "recordings/sounds"
    pins: PathBelow = "recordings/freesound.jsonl"
    unusable: Literal["error", "leave_out"] = "error"
