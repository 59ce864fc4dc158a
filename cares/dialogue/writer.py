"""The skeleton writer: from a scene, a topic and an attempt to a request, and from the answer back to turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cares.catalog.load import Catalog
from cares.core.errors import CaresError
from cares.core.params import read_yaml
from cares.core.rng import KeyedRandom, derived_seed
from cares.dialogue.lint import Fault, lint
from cares.dialogue.params import DialoguesParams
from cares.dialogue.plan import DATA, TurnPlan, load_moves, plan_turns
from cares.dialogue.prompts import render
from cares.dialogue.skeleton import SkeletonFault, WorkedExample, read_answer, realise, schema
from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest
from cares.records.dialogue import Turn
from cares.records.scene import Scene


@dataclass(frozen=True)
class Draft:
    """One candidate before it is asked for: its place in the attempts and all that the answer is read against."""

    scene: Scene
    topic: str
    attempt: int
    candidate: int
    plans: tuple[TurnPlan, ...]
    example: WorkedExample
    request: ChatRequest


@dataclass(frozen=True)
class Written:
    """A candidate's turns, or the fault for which it was refused before any judging."""

    turns: tuple[Turn, ...]
    fault: Fault | None


class SkeletonWriter:
    """Writes dialogues turn by turn into a forced form; see `cares.dialogue.skeleton`.

    Args:
        catalog: the label space.
        params: lengths, temperature and the like.
        seed: the data set's seed.
        prompts: the folder of prompts.
    """

    def __init__(self, catalog: Catalog, params: DialoguesParams, seed: int, prompts: Path) -> None:
        self._catalog, self._params, self._seed, self._prompts = catalog, params, seed, prompts
        self._moves = load_moves()

    @cached_property
    def _examples(self) -> tuple[WorkedExample, ...]:
        path = DATA / "examples.yaml"
        data = read_yaml(path)
        if not isinstance(data, list):
            raise CaresError(f"{path}: expected a list of worked examples")
        return tuple(WorkedExample.parse(value, path, f"entry {number}") for number, value in enumerate(data, 1))

    def draft(self, scene: Scene, topic: str, attempt: int, candidate: int) -> Draft:
        """The request for one candidate; every draw is keyed by scene, attempt and candidate."""
        key = attempt * 100 + candidate
        draw = KeyedRandom(self._seed, "example", scene.scene_id, key)
        sounds = {event.sound for event in scene.events}
        example = draw.choice([e for e in self._examples if not sounds & set(e.sounds)] or list(self._examples))
        plans = plan_turns(scene, self._catalog, self._moves, self._seed, key)
        relation = self._catalog.relations[scene.relation]
        asked = render(
            self._prompts / "dialogue_request.jinja",
            pair=relation.pair,
            manner=relation.manner,
            place=self._catalog.locations[scene.location].phrase,
            topic=topic,
        )
        request = ChatRequest(
            messages=(
                ChatMessage(role="system", content=render(self._prompts / "dialogue_system.jinja")),
                ChatMessage(role="user", content=example.request),
                ChatMessage(role="assistant", content=example.answer),
                ChatMessage(role="user", content=asked),
            ),
            seed=derived_seed(self._seed, "dialogue", scene.scene_id, key),
            max_tokens=self._params.max_tokens,
            temperature=self._params.temperature,
            top_p=1.0,
            min_p=self._params.min_p,
            json_schema=schema(plans, self._catalog, self._params),
        )
        return Draft(scene, topic, attempt, candidate, plans, example, request)

    def read(self, draft: Draft, answer: ChatAnswer) -> Written:
        """Read an answer and lint it; never raises for what a model wrote."""
        if answer.finish_reason == "error":
            return Written((), Fault("request_failed", answer.error))
        if answer.finish_reason == "length":
            return Written((), Fault("too_long", f"{answer.completion_tokens} tokens"))
        if not answer.text.strip():
            return Written((), Fault("empty_answer", ""))
        draw = KeyedRandom(self._seed, "break", draft.scene.scene_id, draft.attempt * 100 + draft.candidate)
        try:
            turns = realise(read_answer(answer.text, draft.plans, self._params), draft.plans, draft.scene, draw)
        except SkeletonFault as fault:
            return Written((), Fault(fault.reason, str(fault)))
        return Written(tuple(turns), lint(turns, draft.scene, self._catalog, draft.example.lines))


def transcript(turns: Sequence[Turn], scene: Scene) -> list[dict[str, str]]:
    """The turns as an evaluator reads them: words by speaker, and each sound by its id where it falls."""
    entries: list[dict[str, str]] = []
    for turn in turns:
        for segment in turn.segments:
            if segment.event is None:
                entries.append({"speaker": turn.speaker, "text": segment.text})
            else:
                entries.append({"sound": scene.events[segment.event].sound})
    return entries
