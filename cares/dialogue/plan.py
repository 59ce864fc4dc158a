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
    """Cues for turns without a reaction of their own, from data/moves.yaml, and how some turns begin.

    `answers` and `names_again` open the two turns that stay with a pivot, by its register; `returns` the one after.
    """

    opening: tuple[str, ...]
    middle: tuple[str, ...]
    closing: tuple[str, ...]
    after_sound: tuple[str, str]
    back: str
    answers: dict[str, tuple[str, ...]]
    names_again: dict[str, tuple[str, ...]]
    returns: tuple[str, ...]


class Remarks(Record):
    """What may be said on a sound, by register, from data/remarks.yaml."""

    forms: dict[str, tuple[str, ...]]


class Names(Record):
    """First names by gender, from data/names.yaml."""

    female: tuple[str, ...]
    male: tuple[str, ...]

    def of(self, gender: str) -> tuple[str, ...]:
        """The names of a gender, "F" or "M"."""
        return self.female if gender == "F" else self.male


@dataclass(frozen=True)
class TurnPlan:
    """One turn: who speaks and under which name, the cue that the decoder has to write first, and its event, if any.

    `remarks` are what a pivot or verbal turn may say on its sound, which `hears` names. A turn may have to begin with
    one of `openers`, and then with one of `names` of the sound that the talk stays with. `bounds` are the least and the
    most characters of each text that is written, without its opening words; None leaves them to the parameters.
    """

    speaker: Speaker
    name: str
    kind: TurnKind
    cue: str
    event: int | None = None
    hears: str = ""
    remarks: tuple[str, ...] = ()
    openers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    bounds: tuple[int, int] | None = None

    @property
    def who(self) -> str:
        """The constant that opens the turn in the skeleton."""
        return f"{self.name}, {self.cue}"


def load_moves() -> Moves:
    """The cues of data/moves.yaml."""
    path = DATA / "moves.yaml"
    return Moves.parse(read_yaml(path), path)


def load_remarks() -> dict[str, tuple[str, ...]]:
    """The remarks of data/remarks.yaml by register, with {phrase} where the sound is named."""
    path = DATA / "remarks.yaml"
    remarks = Remarks.parse({"forms": read_yaml(path)}, path).forms
    for register, forms in remarks.items():
        for form in forms:
            if form.count("{phrase}") != 1:
                raise InputError(path, register, form, "{phrase}, once")
    return remarks


class Planner:
    """Plans the turns of scenes.

    Args:
        catalog: the label space.
        seed: the data set's seed.
    """

    def __init__(self, catalog: Catalog, seed: int) -> None:
        self._catalog, self._seed = catalog, seed
        self._moves, self._remarks = load_moves(), load_remarks()
        self._names = Names.parse(read_yaml(DATA / "names.yaml"), DATA / "names.yaml")

    def names(self, scene: Scene) -> dict[Speaker, str]:
        """The names of a scene's speakers, by their genders; they stay the same over its attempts."""
        draw = KeyedRandom(self._seed, "names", scene.scene_id)
        first = draw.choice(self._names.of(scene.genders[0]))
        second = draw.choice([name for name in self._names.of(scene.genders[1]) if name[0] != first[0]])
        return {"A": first, "B": second}

    def plan(self, scene: Scene, attempt: int) -> tuple[TurnPlan, ...]:
        """The plan of every turn of a scene; what is drawn is keyed by scene and attempt.

        Raises:
            InputError: the slots leave a pivot fewer than three turns, or a register has no words.
        """
        moves, draw = self._moves, KeyedRandom(self._seed, "plan", scene.scene_id, attempt)
        names = self.names(scene)
        at_slot = {event.slot: index for index, event in enumerate(scene.events)}
        stays = _turns_that_stay(scene)
        middle = draw.shuffled(moves.middle)
        plans: list[TurnPlan] = []
        after_pivot = False
        for number in range(scene.n_turns):
            speaker: Speaker = "A" if number % 2 == 0 else "B"
            if number in at_slot:
                plans.append(
                    self._event_turn(
                        speaker, names[speaker], at_slot[number], scene, middle[number % len(middle)], draw
                    )
                )
            elif number in stays:
                plans.append(self._staying_turn(speaker, names[speaker], scene.events[stays[number]], number))
            elif after_pivot:
                plans.append(TurnPlan(speaker, names[speaker], "plain", moves.back, openers=moves.returns))
            elif number == 0:
                plans.append(TurnPlan(speaker, names[speaker], "plain", draw.choice(moves.opening)))
            elif number == scene.n_turns - 1:
                plans.append(TurnPlan(speaker, names[speaker], "plain", draw.choice(moves.closing)))
            else:
                plans.append(TurnPlan(speaker, names[speaker], "plain", middle[number % len(middle)]))
            after_pivot = number in stays and number + 1 not in stays
        return tuple(plans)

    def _event_turn(
        self, speaker: Speaker, name: str, index: int, scene: Scene, move: str, draw: KeyedRandom
    ) -> TurnPlan:
        event = scene.events[index]
        register = self._catalog.registers.get(event.register_id)
        if register is None or register.reaction != event.reaction:
            raise InputError("scenes.jsonl", "events.register", event.register_id, f"a register of {event.reaction}")
        if event.reaction in ("behavioral", "ambient"):
            # a sentence like any other is written; how it breaks or runs on is realised in breaks.py
            return TurnPlan(speaker, name, event.reaction, move, index)
        sound = self._catalog.sounds[event.sound]
        cue = draw.choice(register.cues).format(sound=sound.phrase)
        forms = self._words(self._remarks, event.register_id, "remarks.yaml")
        remarks = tuple(form.format(phrase=sound.phrase) for form in forms)
        return TurnPlan(speaker, name, event.reaction, move, index, cue, remarks)

    def _staying_turn(self, speaker: Speaker, name: str, event: Event, number: int) -> TurnPlan:
        sound, again = self._catalog.sounds[event.sound], number - event.slot - 1 > 0
        words = self._moves.names_again if again else self._moves.answers
        return TurnPlan(
            speaker,
            name,
            "stay",
            self._moves.after_sound[int(again)].format(sound=sound.phrase),
            openers=self._words(words, event.register_id, "moves.yaml"),
            names=sound.names if again else (),
        )

    @staticmethod
    def _words(by_register: dict[str, tuple[str, ...]], register: str, file: str) -> tuple[str, ...]:
        if not (found := by_register.get(register)):
            raise InputError(DATA / file, register, "nothing", "words for this register")
        return found


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
