"""What is drawn for a scene before anything is measured: takes, ambience, room and levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from cares.core.errors import InputError
from cares.core.rng import KeyedRandom
from cares.mix.params import MixParams, to_cdb
from cares.mix.sources import Sources
from cares.records.bank import Response, Room, Take
from cares.records.scene import Scene
from cares.records.timeline import ResponseRef

BANK = "data/sounds/bank.jsonl"
ROOMS = "data/rooms/rooms.jsonl"


@dataclass(frozen=True)
class Bank:
    """What can be drawn: takes and rooms in the order of their files, and the sounds of the rare group."""

    takes: tuple[Take, ...]
    rooms: tuple[Room, ...]
    rare: frozenset[str]

    def for_scene(self, scene: Scene) -> Bank:
        """The part that a scene can draw from, so that its result depends on nothing else."""
        names = {event.sound for event in scene.events}
        wanted = {("event", name) for name in names} | {("ambience", scene.location)}
        return Bank(
            tuple(take for take in self.takes if take.split == scene.split and (take.kind, take.name) in wanted),
            tuple(room for room in self.rooms if (room.split, room.location) == (scene.split, scene.location)),
            self.rare & names,
        )


@dataclass(frozen=True)
class Choices:
    """One scene's draws; levels in hundredths of a LUFS before the master gain."""

    takes: tuple[Take, ...]
    ambience: Take
    room: Room
    voice_responses: dict[str, ResponseRef]
    event_responses: tuple[ResponseRef, ...]
    event_levels: tuple[int, ...]
    ambience_level: int


def choose(scene: Scene, bank: Bank, params: MixParams, seed: int, sources: Sources) -> Choices:
    """Draw by scene and event; takes, ambience and room among those of the scene's split.

    Raises:
        InputError: the bank or the rooms lack something for this split, or the responses' file lacks theirs.
    """
    takes = []
    levels = []
    for index, event in enumerate(scene.events):
        takes.append(_take(bank.takes, "event", event.sound, scene, index, seed))
        drawn = KeyedRandom(seed, "mix_event_level", scene.scene_id, index).choice(params.event_lufs)
        levels.append(to_cdb(params.rare_lufs if event.sound in bank.rare else drawn))
    rooms = [room for room in bank.rooms if room.location == scene.location and room.split == scene.split]
    if not rooms:
        raise InputError(ROOMS, "location", scene.location, f"a room of the {scene.split} split")
    room = KeyedRandom(seed, "mix_room", scene.scene_id).choice(rooms)
    reference = partial(sources.reference, room.room_id)
    spread = to_cdb(params.ambience_offset_db)
    offset = KeyedRandom(seed, "mix_ambience_level", scene.scene_id).between(-spread, spread)
    return Choices(
        takes=tuple(takes),
        ambience=_take(bank.takes, "ambience", scene.location, scene, 0, seed),
        room=room,
        voice_responses={role: reference(_response(room, role, scene, 0, seed)) for role in ("A", "B")},
        event_responses=tuple(
            reference(_response(room, "event", scene, index, seed)) for index in range(len(scene.events))
        ),
        event_levels=tuple(levels),
        ambience_level=to_cdb(params.ambience_lufs) + offset,
    )


def _take(takes: Iterable[Take], kind: str, name: str, scene: Scene, index: int, seed: int) -> Take:
    usable = [take for take in takes if (take.kind, take.name, take.split) == (kind, name, scene.split)]
    if not usable:
        raise InputError(BANK, "name", name, f"a take of kind {kind} in the {scene.split} split")
    return KeyedRandom(seed, f"mix_{kind}_take", scene.scene_id, index).choice(usable)


def _response(room: Room, role: str, scene: Scene, index: int, seed: int) -> Response:
    usable: Sequence[Response] = [response for response in room.responses if response.role == role]
    if not usable:
        raise InputError(ROOMS, room.room_id, "no response", f"an impulse response of role {role}")
    return KeyedRandom(seed, f"mix_response_{role}", scene.scene_id, index).choice(usable)
