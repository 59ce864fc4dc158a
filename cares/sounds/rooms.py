"""Rooms of every location and split, and their impulse responses in one array of integers."""

from __future__ import annotations

import io
import statistics
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
from cares.sounds.room_params import RoomsParams
from cares.sounds.rooms_acoustics import direct_to_reverberant_db, measured_seconds, quantised, simulate
from cares.sounds.rooms_geometry import LOCATIONS_FILE, Layout, draw_layout

ROOMS, RESPONSES = "rooms.jsonl", "responses.npy"
_CODE = ("rooms", "rooms_acoustics", "rooms_decay", "rooms_geometry")


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
    """A room whose responses lie one after the other in `taps` (int32 [T], 20 fractional bits), and its figures."""

    room: Room
    taps: NDArray[np.int32]
    measured: Json


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
    layouts = [draw_layout(plan.location, plan.room_id, params.event_positions, seed) for plan in plans]
    built = map_items(partial(_build, params=params, seed=seed), list(zip(plans, layouts, strict=True)), desc="rooms")
    done = [each for each in built if each is not None]
    for plan, layout, each in zip(plans, layouts, built, strict=True):
        if each is None:
            field = f"{plan.location.id}.room.rt60_s"
            expected = f"a reverberation time that a room of {layout.size_m} m can have"
            raise InputError(LOCATIONS_FILE, field, layout.rt60_ms / 1000, expected)
    return done


def write_rooms(built: Sequence[BuiltRoom], folder: Path) -> None:
    """Write rooms.jsonl and responses.npy (int32 [T]), both or neither."""
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


def room_metrics(built: Sequence[BuiltRoom]) -> Json:
    """Figures for metrics/rooms.json: number of rooms and, per location, means over its rooms.

    The measured reverberation time is the median T20 over a room's responses before they are cut to their length;
    outdoors there is no decay to measure. Direct-to-reverberant ratios are in decibels.
    """
    locations: dict[str, Json] = {}
    for name in dict.fromkeys(each.room.location for each in built):
        rooms = [each for each in built if each.room.location == name]
        figures = {
            key: round(statistics.fmean(each.measured[key] for each in rooms), 1)
            for key in sorted(rooms[0].measured)
            if key != "absorption"
        }
        locations[name] = {"rt60_aimed_ms": round(statistics.fmean(each.room.rt60_ms for each in rooms), 1)} | figures
    errors = [
        abs(each.measured["rt60_measured_ms"] / each.room.rt60_ms - 1)
        for each in built
        if "rt60_measured_ms" in each.measured
    ]
    lengths = [response.n_samples for each in built for response in each.room.responses]
    return {
        "rooms": len(built),
        "responses": len(lengths),
        "longest_ms": round(max(lengths) * 1000 / SAMPLE_RATE),
        "rt60_worst_error_percent": round(100 * max(errors, default=0.0), 1),
        "locations": locations,
    }


def _build(item: tuple[RoomPlan, Layout], params: RoomsParams, seed: int) -> BuiltRoom | None:
    plan, layout = item
    store = ItemStore("rooms")
    key = item_key(
        seed=seed,
        room_id=plan.room_id,
        recipe=plan.location.room.to_json(),
        event_positions=params.event_positions,
        max_seconds=params.max_seconds,
        libraries=[pyroomacoustics.__version__, scipy.__version__],
        code=source_digest(*(f"cares.sounds.{name}" for name in _CODE)),
    )
    entry = store.get(key)
    if entry is None:
        made = _make(plan, layout, params)
        if made is None:
            return None
        value = {"room": made.room.to_json(), "measured": made.measured}
        entry = store.put(key, value, made.taps.astype("<i4").tobytes())
    room = Room.parse(entry.value["room"], store.path(key), "room")
    return BuiltRoom(room, np.frombuffer(entry.blob, "<i4").astype(np.int32), entry.value["measured"])


def _make(plan: RoomPlan, layout: Layout, params: RoomsParams) -> BuiltRoom | None:
    simulated = simulate(layout, plan.outdoor, params.max_seconds)
    if simulated is None:
        return None
    exact, absorption = simulated
    whole = [quantised(response, params.max_seconds) for response in exact]
    responses, offset = [], 0
    for source, taps in zip(layout.sources, whole, strict=True):
        responses.append(Response(role=source.role, index=source.index, offset=offset, n_samples=len(taps)))
        offset += len(taps)
    ratios = [direct_to_reverberant_db(taps.astype(np.float64)) for taps in whole]
    measured = {
        "absorption": round(absorption, 4),
        "direct_to_reverberant_voices_db": round(statistics.fmean(ratios[:2]), 2),
        "direct_to_reverberant_events_db": round(statistics.fmean(ratios[2:]), 2),
    }
    if not plan.outdoor:
        seconds = statistics.median(measured_seconds(response, layout) for response in exact)
        measured["rt60_measured_ms"] = round(seconds * 1000, 1)
    room = Room(
        room_id=plan.room_id,
        location=plan.location.id,
        split=plan.split,
        source=params.source,
        size_mm=layout.size_mm,
        rt60_ms=0 if plan.outdoor else layout.rt60_ms,
        responses=tuple(responses),
    )
    return BuiltRoom(room, np.concatenate(whole), measured)
