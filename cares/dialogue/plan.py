"""The plan of a dialogue: what every turn has to do, decided before a word is written.

A plan follows from the scene alone (and, for the wording of the cues, from the attempt). Where each sound falls is thus
exact by construction; what remains for the language model is what people would say.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cares.catalog.load import Catalog
from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.core.record import Record
from cares.core.rng import KeyedRandom
from cares.records.scene import Event, Scene, Speaker

DATA = Path(__file__).parent / "data"
PIVOT_TURNS = 3  # the talk stays with a pivot for at least this many turns, the turn of the sound included

TurnKind = Literal["plain", "pivot", "verbal", "behavioral", "ambient", "stay"]


class Moves(Record):
    """Cues for turns without a reaction of their own, from data/moves.yaml."""

    opening: tuple[str, ...]
    middle: tuple[str, ...]
    closing: tuple[str, ...]
    after_sound: tuple[str, ...]
    back: str
    openers: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class TurnPlan:
    """One turn: who speaks, the cue that the decoder is made to write first, and the event that falls inside, if any.

    `sound` is set where the turn is about a sound: that of a pivot or verbal event, and the turns that stay with one.
    `openers` are the ways in which the words that name the sound may begin.
    """

    speaker: Speaker
    kind: TurnKind
    cue: str
    event: int | None = None
    sound: str | None = None
    openers: tuple[str, ...] = ()

    @property
    def who(self) -> str:
        """The constant that opens the turn in the skeleton."""
        return f"{self.speaker}, {self.cue}"


def load_moves() -> Moves:
    """The cues of data/moves.yaml."""
    path = DATA / "moves.yaml"
    return Moves.parse(read_yaml(path), path)


def plan_turns(scene: Scene, catalog: Catalog, moves: Moves, seed: int, attempt: int) -> tuple[TurnPlan, ...]:
    """The plan of every turn of a scene.

    Raises:
        InputError: the slots leave a pivot fewer than three turns.
    """
    draw = KeyedRandom(seed, "plan", scene.scene_id, attempt)
    at_slot = {event.slot: index for index, event in enumerate(scene.events)}
    stays = _turns_that_stay(scene)
    middle = draw.shuffled(moves.middle)
    plans: list[TurnPlan] = []
    after_pivot = False
    for number in range(scene.n_turns):
        speaker: Speaker = "A" if number % 2 == 0 else "B"
        if number in at_slot:
            event = scene.events[at_slot[number]]
            plans.append(_event_turn(speaker, at_slot[number], event, catalog, moves, middle, draw))
        elif number in stays:
            sound = scene.events[stays[number]].sound
            cue = moves.after_sound[(number - scene.events[stays[number]].slot - 1) % len(moves.after_sound)]
            plans.append(TurnPlan(speaker, "stay", cue.format(sound=catalog.sounds[sound].phrase), sound=sound))
        elif after_pivot:
            plans.append(TurnPlan(speaker, "plain", moves.back))
        elif number == 0:
            plans.append(TurnPlan(speaker, "plain", draw.choice(moves.opening)))
        elif number == scene.n_turns - 1:
            plans.append(TurnPlan(speaker, "plain", draw.choice(moves.closing)))
        else:
            plans.append(TurnPlan(speaker, "plain", middle[number % len(middle)]))
        after_pivot = number in stays and number + 1 not in stays
    return tuple(plans)


def _turns_that_stay(scene: Scene) -> dict[int, int]:
    """Turn index -> event index, for the turns after a pivot that stay with its sound."""
    stays: dict[int, int] = {}
    slots = {event.slot for event in scene.events}
    for index, event in enumerate(scene.events):
        if event.reaction != "pivot":
            continue
        held = range(event.slot + 1, event.slot + PIVOT_TURNS)
        if held[-1] >= scene.n_turns or slots & set(held):
            raise InputError(
                scene.scene_id,
                f"events.{index}.slot",
                event.slot,
                f"{PIVOT_TURNS} turns for a pivot before the next event",
            )
        stays.update(dict.fromkeys(held, index))
    return stays


def _event_turn(
    speaker: Speaker, index: int, event: Event, catalog: Catalog, moves: Moves, middle: list[str], draw: KeyedRandom
) -> TurnPlan:
    register = catalog.registers.get(event.register_id)
    if register is None or register.reaction != event.reaction:
        raise InputError("scenes.jsonl", "events.register", event.register_id, f"a register of {event.reaction}")
    if event.reaction in ("behavioral", "ambient"):
        # the writer writes a sentence like any other; how it breaks or runs on is realised in breaks.py
        return TurnPlan(speaker, event.reaction, middle[event.slot % len(middle)], event=index)
    cue = draw.choice(register.cues).format(sound=catalog.sounds[event.sound].phrase)
    openers = moves.openers.get(event.register_id)
    if not openers:
        raise InputError(DATA / "moves.yaml", "openers", event.register_id, "openers for this register")
    return TurnPlan(speaker, event.reaction, cue, event=index, sound=event.sound, openers=openers)
