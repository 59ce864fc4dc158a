"""Published results, as entered in published.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from cares.bench.scores_rows import TASK_KEYS
from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.core.record import Record

FILE = Path(__file__).parent / "published.yaml"
Share = Annotated[float, Field(ge=-1, le=1)]
Text = Annotated[str, Field(min_length=1)]


class PublishedFigure(Record):
    """A figure as a share, with its interval and number of items where the source gives them."""

    value: Share
    ci95: tuple[Share, Share] | None = None
    n: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.ci95 is not None and not self.ci95[0] <= self.value <= self.ci95[1]:
            raise ValueError(f"value {self.value} lies outside its interval {self.ci95}")
        return self


class Published(Record):
    """One model in one source; `where` is the table or page, `figures` are by task and name of the figure."""

    model: Text
    source: Text
    where: Text
    note: str = ""
    figures: Annotated[dict[str, dict[str, PublishedFigure]], Field(min_length=1)]

    @model_validator(mode="after")
    def _known_tasks(self) -> Self:
        for task, figures in self.figures.items():
            if task not in TASK_KEYS:
                raise ValueError(f"no task {task!r}; the tasks are {', '.join(TASK_KEYS)}")
            if not figures:
                raise ValueError(f"no figure of {task!r}")
        return self


def read_published(path: Path = FILE) -> list[Published]:
    """The entries of the file.

    Raises:
        InputError: the file is missing, or an entry is not as it should be; names entry and field.
    """
    data = read_yaml(path)
    if not isinstance(data, dict) or set(data) != {"results"} or not isinstance(data["results"], list):
        raise InputError(path, "", data, "one key, results, with a list")
    found = [Published.parse(entry, path, f"results.{place}") for place, entry in enumerate(data["results"])]
    seen: set[tuple[str, str]] = set()
    for place, entry in enumerate(found):
        if (entry.model, entry.source) in seen:
            raise InputError(path, f"results.{place}.model", entry.model, "every model of a source once")
        seen.add((entry.model, entry.source))
    return found
