"""Where walls, listener and sources are: drawn from a location's recipe, keyed by the room's id alone.

Lengths are metres here; coordinates are rounded to 0.1 mm so that they do not hang on the last bit of a sine. The axes
are length, width and height, with the origin in a lower corner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from cares.catalog.types import Location
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE
from cares.core.rng import KeyedRandom

SPEED_OF_SOUND = 343.0
LOCATIONS_FILE = "cares/catalog/locations.yaml"
Point = tuple[float, float, float]

_VOICE_M = (1.0, 1.5)
_MOUTH_M = (1.15, 1.65)
_EVENT_HEIGHT_M = (0.2, 2.2)
_APART_M = 0.6
_MARGIN_M, _LOW_ROOF_MARGIN_M = 0.5, 0.2
_LOW_ROOF_M = 2.0
_LAYOUTS, _TRIES = 500, 40
_SPEAKERS: tuple[Literal["A"], Literal["B"]] = ("A", "B")


@dataclass(frozen=True)
class Source:
    """A place that sound comes from; `flight_samples` is its exact distance from the listener in samples of flight."""

    role: Literal["A", "B", "event"]
    index: int
    place: Point
    flight_samples: int


@dataclass(frozen=True)
class Layout:
    """A drawn room: sizes in millimetres, the aimed reverberation time, and places.

    `ground_exponent` says how much more or less than its material the ground absorbs (`cares.sounds.rooms_materials`).
    """

    size_mm: tuple[int, int, int]
    rt60_ms: int
    ground_exponent: float
    listener: Point
    sources: tuple[Source, ...]

    @property
    def size_m(self) -> Point:
        """Length, width and height in metres."""
        length, width, height = self.size_mm
        return length / 1000, width / 1000, height / 1000


def draw_layout(
    location: Location, room_id: str, event_positions: int, seed: int, event_m: tuple[float, float] = (2.0, 8.0)
) -> Layout:
    """Draw a room of `location` with the speakers A and B at 1-1.5 m and `event_positions` places at `event_m`.

    In a room too small for that, such as a car, the places of events reach as far as its walls allow. The distance of
    every source is a whole number of samples of flight, so that its direct sound falls on a sample.

    Raises:
        InputError: no listener in such a room has both speakers at their distance.
    """
    recipe = location.room
    draw = KeyedRandom(seed, "room", room_id)
    length, width, height = (
        draw.between(round(low * 1000), round(high * 1000))
        for low, high in (recipe.length_m, recipe.width_m, recipe.height_m)
    )
    rt60_ms = draw.between(round(recipe.rt60_s[0] * 1000), round(recipe.rt60_s[1] * 1000))
    ground = draw.between(50, 150) / 100
    size = (length / 1000, width / 1000, height / 1000)
    for attempt in range(_LAYOUTS):
        placed = _place(size, event_positions, event_m, KeyedRandom(seed, "room_places", room_id, attempt))
        if placed is not None:
            listener, sources = placed
            return Layout((length, width, height), rt60_ms, ground, listener, sources)
    expected = "a room in which two speakers have 1 m to a listener"
    raise InputError(LOCATIONS_FILE, f"{location.id}.room", f"{size} m", expected, "Raise its lengths.")


def _place(
    size: Point, event_positions: int, event_m: tuple[float, float], draw: KeyedRandom
) -> tuple[Point, tuple[Source, ...]] | None:
    low_roof = size[2] < _LOW_ROOF_M
    margin = _LOW_ROOF_MARGIN_M if low_roof else _MARGIN_M
    # sitting to standing; under a low roof, as in a car, seven to eight tenths of it
    mouth = (0.7 * size[2], 0.8 * size[2]) if low_roof else _MOUTH_M
    listener = _rounded(
        draw.uniform(margin, size[0] - margin), draw.uniform(margin, size[1] - margin), draw.uniform(*mouth)
    )
    space = _Space(size, margin, listener)
    sources: list[Source] = []
    for role in _SPEAKERS:
        source = _source(role, 0, space, _VOICE_M, mouth, draw)
        if source is None or any(math.dist(source.place, other.place) < _APART_M for other in sources):
            return None
        sources.append(source)
    heights = (_EVENT_HEIGHT_M[0], min(_EVENT_HEIGHT_M[1], size[2] - _LOW_ROOF_MARGIN_M))
    reach = math.hypot(*(max(x, side - x) - margin for x, side in zip(listener[:2], size[:2], strict=True)))
    distances = (min(event_m[0], 0.6 * reach), min(event_m[1], reach))
    for index in range(event_positions):
        source = _source("event", index, space, distances, heights, draw)
        if source is None:
            return None
        sources.append(source)
    return listener, tuple(sources)


@dataclass(frozen=True)
class _Space:
    """The room, the least distance from its sides, and the listener."""

    size: Point
    margin: float
    listener: Point


def _source(
    role: Literal["A", "B", "event"],
    index: int,
    space: _Space,
    distances: tuple[float, float],
    heights: tuple[float, float],
    draw: KeyedRandom,
) -> Source | None:
    """A place inside the walls at such a distance and height, or None when some tries found none."""
    listener = space.listener
    low, high = (distance * SAMPLE_RATE / SPEED_OF_SOUND for distance in distances)
    for _ in range(_TRIES):
        flight = draw.between(math.ceil(low), math.floor(high))
        distance = flight * SPEED_OF_SOUND / SAMPLE_RATE
        rise = draw.uniform(*heights) - listener[2]
        angle = draw.uniform(0, 2 * math.pi)
        if abs(rise) >= distance:
            continue
        flat = math.sqrt(distance**2 - rise**2)
        place = _rounded(listener[0] + flat * math.cos(angle), listener[1] + flat * math.sin(angle), listener[2] + rise)
        if all(space.margin <= x <= side - space.margin for x, side in zip(place[:2], space.size[:2], strict=True)):
            return Source(role, index, place, flight)
    return None


def _rounded(x: float, y: float, z: float) -> Point:
    return round(x, 4), round(y, 4), round(z, 4)
