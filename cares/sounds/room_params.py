"""Section `rooms` of params.yaml."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from cares.core.record import Record
from cares.sounds.params import PathBelow, listed, once

RoomSource = Literal["image_source", "measured"]
Metres = Annotated[float, Field(ge=0.5, le=40.0)]


class RoomsParams(Record):
    """How the impulse responses of the scenes' places are made.

    source: "image_source": shoebox rooms drawn within each location's recipe. "measured": responses of a folder. Or
        both in order of preference: all rooms of a location come from the first that has one for every split.
    per_split: rooms of a location in each split; no room occurs in two splits. Measured ones may be fewer.
    event_positions: places in a room from which sounds come, besides the two speakers.
    max_seconds: responses are faded out to this length.
    event_distance_m: how far from the listener events are, as far as the room allows.
    folder: where measured responses and their manifest.csv or manifest.jsonl lie.
    """

    source: Annotated[tuple[RoomSource, ...], BeforeValidator(listed), Field(min_length=1), AfterValidator(once)]
    per_split: Annotated[int, Field(ge=1, le=50)]
    event_positions: Annotated[int, Field(ge=1, le=12)]
    max_seconds: Annotated[float, Field(ge=0.05, le=3.0)]
    event_distance_m: tuple[Metres, Metres] = (2.0, 8.0)
    folder: PathBelow = "recordings/rooms"

    @model_validator(mode="after")
    def _nearest_first(self) -> Self:
        if self.event_distance_m[0] > self.event_distance_m[1]:
            raise ValueError("event_distance_m: the smaller distance first")
        return self
