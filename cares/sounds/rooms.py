"""Simulated rooms of every location and split, and the file of all impulse responses."""

from __future__ import annotations

import io
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyroomacoustics
import scipy
from numpy.typing import NDArray

from cares.catalog.types import Location
from cares.core.atomic import replace_folder, write_bytes
from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.executor import map_items
from cares.core.pcm import SAMPLE_RATE
from cares.core.record import write_records
from cares.core.store import ItemStore, item_key, source_digest
from cares.records.bank import Response, Room
from cares.records.scene import SPLITS, Split
from cares.sounds.attribution import ATTRIBUTION, write_room_attribution
from cares.sounds.room_params import RoomsParams
from cares.sounds.rooms_acoustics import quantised, simulate
from cares.sounds.rooms_bands import AIR_PER_M, BANDS_HZ, MID_BANDS
from cares.sounds.rooms_geometry import LOCATIONS_FILE, SPEED_OF_SOUND, Layout, Point, Source, draw_layout
from cares.sounds.rooms_materials import ground_absorption, indoor_absorption, surface_names

ROOMS, RESPONSES = "rooms.jsonl", "responses.npy"
IMAGE_SOURCE = "image_source"
_CODE = ("rooms", "rooms_acoustics", "rooms_bands", "rooms_decay", "rooms_geometry", "rooms_materials")
_EIGHT_KHZ = BANDS_HZ.index(8000)


@dataclass(frozen=True)
class RoomPlan:
    """A room to be made."""

    room_id: str
    location: Location
    split: Split

    @property
    def outdoor(self) -> bool:
        """Whether the place has no decay of sound."""
        return self.location.room.kind == "outdoor"


@dataclass(frozen=True)
class BuiltRoom:
    """A room whose responses lie one after the other in `taps` (int32 [T], 20 fractional bits)."""

    room: Room
    taps: NDArray[np.int32]


def plan_rooms(locations: Sequence[Location], per_split: int) -> list[RoomPlan]:
    """The rooms of all locations and splits; raising `per_split` leaves the earlier rooms as they were."""
    return [
        RoomPlan(f"{location.id}-{split}" + (f"-{number:02d}" if number else ""), location, split)
        for location in locations
        for split in SPLITS
        for number in range(per_split)
    ]


def build_rooms(locations: Sequence[Location], params: RoomsParams, seed: int) -> list[BuiltRoom]:
    """Make (or take from the item store) the rooms of `locations`, in their order.

    Raises:
        InputError: a location's recipe cannot be met: too small for two speakers, or never as reverberant as aimed.
    """
    plans = plan_rooms(locations, params.per_split)
    layouts = [
        draw_layout(plan.location, plan.room_id, params.event_positions, seed, params.event_distance_m)
        for plan in plans
    ]
    built = map_items(partial(_build, params=params, seed=seed), list(zip(plans, layouts, strict=True)), desc="rooms")
    done = [each for each in built if each is not None]
    for plan, layout, each in zip(plans, layouts, built, strict=True):
        if each is None:
            field = f"{plan.location.id}.room.rt60_s"
            expected = f"a reverberation time that a room of {layout.size_m} m can have"
            raise InputError(LOCATIONS_FILE, field, layout.rt60_ms / 1000, expected)
    return done


def write_rooms(built: Sequence[BuiltRoom], folder: Path) -> None:
    """Write rooms.jsonl, responses.npy (int32 [T]) and ATTRIBUTION.csv, all or none."""
    rooms, start = [], 0
    for each in built:
        placed = tuple(
            response.model_copy(update={"offset": response.offset + start}) for response in each.room.responses
        )
        rooms.append(each.room.model_copy(update={"responses": placed}))
        start += len(each.taps)
    stream = io.BytesIO()
    np.save(stream, np.concatenate([each.taps for each in built]).astype("<i4"), allow_pickle=False)
    with replace_folder(folder) as work:
        write_records(work / ROOMS, rooms)
        write_bytes(work / RESPONSES, stream.getvalue())
        write_room_attribution(work / ATTRIBUTION, rooms)


def room_metrics(built: Sequence[BuiltRoom]) -> Json:
    """Figures for metrics/rooms.json: number of rooms and, per location, means over its rooms.

    The measured reverberation time is T20, its median over a room's responses before they are cut to their length:
    `rt60_measured_ms` the mean of the octaves at 500 Hz and 1 kHz, `rt60_bands_ms` from 125 Hz to 8 kHz. Outdoors there
    is no decay to measure. `event_distance_m` is the range; direct-to-reverberant ratios are in decibels.
    """
    rooms = [each.room for each in built]
    errors = [
        abs(room.rt60_measured_ms / room.rt60_ms - 1)
        for room in rooms
        if room.rt60_measured_ms is not None and room.rt60_ms and room.source == IMAGE_SOURCE
    ]
    responses = [response for room in rooms for response in room.responses]
    return {
        "rooms": len(built),
        "rooms_by_source": dict(sorted(Counter(room.source for room in rooms).items())),
        "responses": len(responses),
        "longest_ms": round(max(response.n_samples for response in responses) * 1000 / SAMPLE_RATE),
        "rt60_worst_error_percent": round(100 * max(errors, default=0.0), 1),
        "locations": {
            name: _location_metrics([room for room in rooms if room.location == name])
            for name in dict.fromkeys(room.location for room in rooms)
        },
    }


def _location_metrics(rooms: Sequence[Room]) -> Json:
    figures: dict[str, Json] = {"rt60_aimed_ms": round(statistics.fmean(room.rt60_ms for room in rooms))}
    measured = [room.rt60_measured_ms for room in rooms if room.rt60_measured_ms is not None]
    if measured:
        figures["rt60_measured_ms"] = round(statistics.fmean(measured))
        bands = [room.rt60_bands_ms for room in rooms if None not in room.rt60_bands_ms]
        if bands:
            figures["rt60_bands_ms"] = [round(statistics.fmean(column)) for column in zip(*bands, strict=True)]
    for name, voices in (("voices", True), ("events", False)):
        heard = [r for room in rooms for r in room.responses if (r.role != "event") == voices]
        ratios = [r.direct_to_reverberant_cdb / 100 for r in heard if r.direct_to_reverberant_cdb is not None]
        figures[f"direct_to_reverberant_{name}_db"] = round(statistics.fmean(ratios), 1)
        distances = [r.distance_mm / 1000 for r in heard if r.distance_mm is not None]
        if distances and not voices:
            figures["event_distance_m"] = [round(min(distances), 1), round(max(distances), 1)]
    return figures


def _build(item: tuple[RoomPlan, Layout], params: RoomsParams, seed: int) -> BuiltRoom | None:
    plan, layout = item
    store = ItemStore("rooms")
    key = item_key(
        seed=seed,
        room_id=plan.room_id,
        recipe=plan.location.room.to_json(),
        surfaces=_surfaces(plan, layout).tolist(),
        event_positions=params.event_positions,
        event_distance_m=list(params.event_distance_m),
        max_seconds=params.max_seconds,
        libraries=[pyroomacoustics.__version__, scipy.__version__],
        code=source_digest(*(f"cares.sounds.{name}" for name in _CODE)),
    )
    entry = store.get(key)
    if entry is None:
        made = _make(plan, layout, params)
        if made is None:
            return None
        entry = store.put(key, made.room.to_json(), made.taps.astype("<i4").tobytes())
    room = Room.parse(entry.value, store.path(key), "room")
    return BuiltRoom(room, np.frombuffer(entry.blob, "<i4").astype(np.int32))


def _make(plan: RoomPlan, layout: Layout, params: RoomsParams) -> BuiltRoom | None:
    simulated = simulate(layout, plan.location, params.max_seconds)
    if simulated is None:
        return None
    whole = [quantised(response, params.max_seconds) for response in simulated.responses]
    responses, offset = [], 0
    for source, taps, ratio in zip(layout.sources, whole, simulated.direct_to_reverberant_db, strict=True):
        responses.append(_described(source, offset, len(taps), ratio))
        offset += len(taps)
    bands = in_ms(simulated.bands_seconds)
    room = Room(
        room_id=plan.room_id,
        location=plan.location.id,
        split=plan.split,
        source=IMAGE_SOURCE,
        size_mm=layout.size_mm,
        rt60_ms=0 if plan.outdoor else layout.rt60_ms,
        responses=tuple(responses),
        listener_mm=_mm(layout.listener),
        rt60_measured_ms=mid(bands),
        rt60_bands_ms=bands,
        materials=surface_names(plan.location),
    )
    return BuiltRoom(room, np.concatenate(whole))


def in_ms(seconds: Sequence[float]) -> tuple[int | None, ...]:
    """Times in milliseconds, None where a decay could not be measured."""
    return tuple(round(second * 1000) if 0 < second < math.inf else None for second in seconds)


def mid(bands: Sequence[int | None]) -> int | None:
    """The mean of the octaves at 500 Hz and 1 kHz, None where either is."""
    found = [bands[band] for band in MID_BANDS if bands]
    known = [value for value in found if value is not None]
    return round(statistics.fmean(known)) if known and len(known) == len(found) else None


def _described(source: Source, offset: int, n_samples: int, ratio_db: float) -> Response:
    distance = source.flight_samples * SPEED_OF_SOUND / SAMPLE_RATE
    air = AIR_PER_M[_EIGHT_KHZ] * max(0.0, distance - 1.0)
    return Response(
        role=source.role,
        index=source.index,
        offset=offset,
        n_samples=n_samples,
        place_mm=_mm(source.place),
        distance_mm=round(distance * 1000),
        level_cdb=round(-2000 * math.log10(distance)),
        air_cdb=round(-2000 * air * math.log10(math.e)),
        direct_to_reverberant_cdb=round(100 * ratio_db),
    )


def _mm(place: Point) -> tuple[int, int, int]:
    x, y, z = place
    return round(x * 1000), round(y * 1000), round(z * 1000)


def _surfaces(plan: RoomPlan, layout: Layout) -> NDArray[np.float64]:
    if plan.outdoor:
        return ground_absorption(plan.location, layout.ground_exponent)
    return indoor_absorption(plan.location, layout.size_m)
