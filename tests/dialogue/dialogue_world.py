"""Scenes, parameters and a stand-in for the language model, for tests of planning, writing and acceptance."""

import json
import re
from collections.abc import Sequence

from cares.catalog.load import load_catalog
from cares.dialogue.params import DialoguesParams
from cares.dialogue.plan import TurnPlan
from cares.dialogue.skeleton import GOES_ON, Line, write_lines
from cares.llm.types import ChatAnswer, ChatRequest
from cares.records.scene import Scene

CATALOG = load_catalog()
PARAMS = DialoguesParams(
    writer="skeleton",
    group_scenes=4,
    waves=3,
    waves_per_topic=2,
    candidates=2,
    repairs=1,
    repair_turns=2,
    repair_candidates=2,
    repair_places=16,
    temperature=0.8,
    min_p=0.05,
    presence_penalty=0.3,
    frequency_penalty=0.1,
    says_chars=150,
    short_chars=110,
    max_tokens=900,
)
REGISTERS = {
    "pivot": "pivot_question",
    "verbal": "verbal_dry",
    "behavioral": "break_restart",
    "ambient": "ambient_run_on",
}
TEXTS = (
    "The rent goes up again in March and nobody told us why.",
    "Did you ask Selma about the letter from the house office?",
    "She only laughed and said that it happens every year.",
    "Then we should write to the owner before the month is over.",
    "My brother wrote to his and got forty euros back, you know.",
    "Forty is better than nothing, so let us try it as well.",
    "I have the old contract somewhere in the blue folder upstairs.",
    "Bring it tomorrow and we can read the small print together.",
    "After work is fine, but not later than seven, please.",
    "Seven it is, and I will make the soup that you like.",
)


def scene(*events: tuple[str, str], number: int = 0, n_turns: int = 10) -> Scene:
    """A scene with `events` as (sound, reaction), three turns apart."""
    labels = [reaction for _, reaction in events]
    return Scene.parse(
        {
            "scene_id": f"t{number:05d}-0",
            "template_id": f"t{number:05d}",
            "split": "train",
            "location": "home_indoor",
            "relation": "roommate",
            "roles": ["roommate", "roommate"],
            "genders": ["F", "M"],
            "theme": "moving_house",
            "n_turns": n_turns,
            "composition": {name: labels.count(name) for name in REGISTERS},
            "events": [
                {"sound": sound, "reaction": reaction, "register": REGISTERS[reaction], "slot": 1 + 3 * place}
                for place, (sound, reaction) in enumerate(events)
            ],
        },
        "test",
    )


def good_lines(plans: Sequence[TurnPlan]) -> list[Line]:
    """Lines that a perfect writer could give to a plan."""
    lines = []
    for number, plan in enumerate(plans):
        line = {"says": TEXTS[number % len(TEXTS)]}
        if plan.names:
            line["says"] = f"{plan.openers[0]} {plan.names[0]} was never there before, I am sure."
        elif plan.openers:
            line["says"] = f"{plan.openers[0]}nothing that I have ever noticed here."
        if plan.remarks:
            line["remark"] = plan.remarks[0]
        if plan.kind == "verbal":
            line["then"] = "As for the rent, call them on Monday."
        lines.append(line)
    return lines


def good_answer(plans: Sequence[TurnPlan]) -> dict[str, str]:
    """The same as an answer in the skeleton's form."""
    return json.loads(write_lines(good_lines(plans), plans))


class Scripted:
    """Answers by a function of (wave number, place, request); keeps what it was asked."""

    model_id = "scripted"

    def __init__(self, answer):
        self._answer = answer
        self.waves: list[list[ChatRequest]] = []

    def complete(self, wave):
        """The function's answers, as if a model had written them."""
        self.waves.append(list(wave))
        return [self._wrap(self._answer(len(self.waves) - 1, place, request)) for place, request in enumerate(wave)]

    @staticmethod
    def _wrap(text) -> ChatAnswer:
        if isinstance(text, ChatAnswer):
            return text
        return ChatAnswer(
            text=text if isinstance(text, str) else json.dumps(text),
            finish_reason="stop",
            prompt_tokens=1,
            completion_tokens=10,
        )


def fill(request: ChatRequest) -> dict[str, str]:
    """A clean answer made from a request's schema alone, as a decoder would write one."""
    assert request.json_schema is not None
    return {key: _text(key, form) for key, form in request.json_schema["properties"].items()}


def _text(key: str, form: dict) -> str:
    if "enum" in form:
        return form["enum"][0]
    number = int(key.split()[0]) - 1
    if led := re.match(r"\^\((.*?)\) \((.*?)\)", form["pattern"]):
        openers, names = (group.split("|")[0] for group in led.groups())
        return f"{openers} {names} was never there before, I am sure."
    if led := re.match(r"\^\(([^\[].*?)\)", form["pattern"]):
        return f"{led.group(1).split('|')[0]}nothing that I have ever noticed here."
    return "As for the rent, call them on Monday." if key.endswith(GOES_ON) else TEXTS[number % len(TEXTS)]
