"""The section `report` of params.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cares.core.record import Record


class ReportParams(Record):
    """`scenes`: at most this many scenes get a page, evenly spread over the data set."""

    scenes: Annotated[int, Field(ge=1, le=10_000)]
