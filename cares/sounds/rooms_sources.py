"""All rooms of a data set, each location's from the first source that has one for every split."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cares.catalog.types import Location
from cares.core.errors import InputError
from cares.sounds.room_params import RoomsParams
from cares.sounds.rooms import BuiltRoom, build_rooms
from cares.sounds.rooms_measured import measured_rooms


def make_rooms(locations: Sequence[Location], params: RoomsParams, seed: int, root: Path = Path()) -> list[BuiltRoom]:
    """The rooms of `locations`, in their order.

    Args:
        root: the folder that `params.folder` is relative to, the repository's.

    Raises:
        InputError: a manifest or a recipe is not as it should be, or no source has rooms for a location.
    """
    found: dict[str, list[BuiltRoom]] = {}
    for source in params.source:
        missing = [location for location in locations if location.id not in found]
        if source == "measured":
            rooms = measured_rooms(root / params.folder, locations, params, seed)
            found |= {location.id: rooms[location.id] for location in missing if location.id in rooms}
        else:
            for room in build_rooms(missing, params, seed):
                found.setdefault(room.room.location, []).append(room)
    for location in locations:
        if location.id not in found:
            hint = "Add image_source to rooms.source, or responses to the folder."
            raise InputError("params.yaml", "rooms.source", list(params.source), f"rooms for {location.id}", hint)
    return [room for location in locations for room in found[location.id]]
