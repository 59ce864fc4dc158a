"""Worked examples, written for this project: one is shown before each request, in the very form of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from cares.core.errors import CaresError
from cares.core.params import read_yaml
from cares.core.record import Record
from cares.core.rng import KeyedRandom
from cares.dialogue.plan import DATA, TurnPlan
from cares.dialogue.prompts import render
from cares.dialogue.skeleton import Line, write_lines
from cares.records.scene import Scene, Speaker


class ExampleTurn(Record):
    """One turn of an example: who speaks, what it does, and its texts."""

    who: Speaker
    does: str
    says: str
    hears: str = ""
    remark: str = ""
    then: str = ""

    @property
    def line(self) -> Line:
        """Its texts by field, without those that it does not have."""
        return {name: text for name in ("says", "remark", "then") if (text := getattr(self, name))}


class WorkedExample(Record):
    """An example from data/examples.yaml; `registers` are the registers of its sounds, `sounds` their catalog ids."""

    id: str
    sounds: tuple[str, ...]
    registers: tuple[str, ...]
    pair: str
    manner: str
    place: str
    topic: str
    names: tuple[str, str]
    turns: tuple[ExampleTurn, ...]

    @property
    def plans(self) -> list[TurnPlan]:
        """What its turns do."""
        return [
            TurnPlan(turn.who, self.names["AB".index(turn.who)], "plain", turn.does, hears=turn.hears)
            for turn in self.turns
        ]

    @property
    def answer(self) -> str:
        """The example as the assistant's message."""
        return write_lines([turn.line for turn in self.turns], self.plans)

    @property
    def lines(self) -> list[str]:
        """Its spoken lines, without the remarks: these are taken from a list."""
        return [text for turn in self.turns for field, text in turn.line.items() if field != "remark"]

    def request(self, prompts: Path) -> str:
        """The request that the example answers."""
        told = {"pair": self.pair, "manner": self.manner, "place": self.place, "topic": self.topic}
        return render(prompts / "dialogue_request.jinja", **told, names=self.names)


@lru_cache(maxsize=1)
def load_examples() -> tuple[WorkedExample, ...]:
    """The examples of data/examples.yaml."""
    path = DATA / "examples.yaml"
    data = read_yaml(path)
    if not isinstance(data, list):
        raise CaresError(f"{path}: expected a list of worked examples")
    return tuple(WorkedExample.parse(value, path, f"entry {number}") for number, value in enumerate(data, 1))


def draw_example(examples: Sequence[WorkedExample], scene: Scene, draw: KeyedRandom) -> WorkedExample:
    """One of the examples that share no sound with the scene and show most of the reactions that it asks for."""
    sounds = {event.sound for event in scene.events}
    asked = {event.register_id for event in scene.events}
    kinds = {register.split("_")[0] for register in asked}

    def fit(example: WorkedExample) -> int:
        shown = {register.split("_")[0] for register in example.registers}
        return len(kinds & shown) - len({"pivot", "verbal"} & shown - kinds)

    apart = [example for example in examples if not sounds & set(example.sounds)] or list(examples)
    best = max(fit(example) for example in apart)
    return draw.choice([example for example in apart if fit(example) == best])
