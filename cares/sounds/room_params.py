"""Section `rooms` of params.yaml."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record


class RoomsParams(Record):
    """How the impulse responses of the scenes' places are made.

    source: "image_source": shoebox rooms drawn within each location's recipe.
    per_split: rooms of a location in each split; no room occurs in two splits.
    event_positions: places in a room from which sounds come, besides the two speakers.
    max_seconds: responses are faded out to this length.
    """

    source: Literal["image_source"]
    per_split: Annotated[int, Field(ge=1, le=50)]
    event_positions: Annotated[int, Field(ge=1, le=12)]
    max_seconds: Annotated[float, Field(ge=0.05, le=1.0)]
