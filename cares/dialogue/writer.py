"""The skeleton writer: from a scene, a topic and an attempt to a request, and from the answer back to turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from cares.catalog.load import Catalog
from cares.core.canonical import Json
from cares.core.rng import KeyedRandom, derived_seed
from cares.dialogue.budget import budgeted, length_fault
from cares.dialogue.examples import WorkedExample, draw_example, load_examples
from cares.dialogue.lint import Fault, faults
from cares.dialogue.pace import load_pace
from cares.dialogue.params import DialoguesParams
from cares.dialogue.plan import Planner, TurnPlan
from cares.dialogue.prompts import render
from cares.dialogue.realise import realise, trimmed
from cares.dialogue.skeleton import Line, SkeletonFault, cut_texts, most_tokens, read_lines, schema
from cares.dialogue.surplus import without_surplus
from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest
from cares.records.dialogue import Turn
from cares.records.scene import Scene

SHOWN_BEFORE = 4  # turns of the talk that a repair is shown
MENDED_TOKENS = 200


@dataclass(frozen=True)
class Draft:
    """One candidate before it is asked for: its place in the attempts and all that the answer is read against."""

    scene: Scene
    topic: str
    attempt: int
    candidate: int
    request: ChatRequest
    plans: tuple[TurnPlan, ...] = ()
    example: WorkedExample | None = None
    told: str = ""

    @property
    def key(self) -> int:
        """What the draws of this candidate are keyed by, beside its scene."""
        return self.attempt * 100 + self.candidate


@dataclass(frozen=True)
class Written:
    """A candidate's turns, or the faults for which it is refused before any judging; `lines` if it can be repaired."""

    turns: tuple[Turn, ...]
    fault: Fault | None
    faults: tuple[Fault, ...] = ()
    lines: tuple[Line, ...] = ()


class Writer(Protocol):
    """What writes dialogues; see `SkeletonWriter` and `cares.dialogue.free.FreeWriter`."""

    def draft(self, scene: Scene, topic: str, attempt: int, candidate: int) -> Draft:
        """The request for one candidate; every draw is keyed by scene, attempt and candidate."""
        ...

    def read(self, draft: Draft, answer: ChatAnswer) -> Written:
        """Read an answer and lint it; never raises for what a model wrote."""
        ...


@runtime_checkable
class Repairer(Protocol):
    """A writer that can write single turns again."""

    def mend(self, draft: Draft, lines: Sequence[Line], turn: int, number: int) -> ChatRequest:
        """The request for one turn of a dialogue; `number` counts what is asked for this turn of this draft."""
        ...

    def mended(self, draft: Draft, lines: Sequence[Line], turn: int, answer: ChatAnswer) -> Line | None:
        """The turn that an answer holds; None when it is not what was asked for."""
        ...

    def reread(self, draft: Draft, lines: Sequence[Line]) -> Written:
        """Lines, some of them written again, as turns, with all their faults."""
        ...


class SkeletonWriter:
    """Writes dialogues into a forced form, and single turns again; see `cares.dialogue.skeleton`.

    Args:
        catalog: the label space.
        params: lengths, temperature and the like.
        seed: the data set's seed.
        prompts: the folder of prompts.
    """

    def __init__(self, catalog: Catalog, params: DialoguesParams, seed: int, prompts: Path) -> None:
        self._catalog, self._params, self._seed, self._prompts = catalog, params, seed, prompts
        self._planner = Planner(catalog, seed)
        self._examples, self._pace = load_examples(), load_pace()

    def draft(self, scene: Scene, topic: str, attempt: int, candidate: int) -> Draft:
        """See `Writer`."""
        params, key = self._params, attempt * 100 + candidate
        draw = KeyedRandom(self._seed, "example", scene.scene_id, key)
        example = draw_example(self._examples, scene, draw)
        names = self._planner.names(scene)
        relation = self._catalog.relations[scene.relation]
        told = render(
            self._prompts / "dialogue_request.jinja",
            pair=relation.pair,
            manner=relation.manner,
            place=self._catalog.locations[scene.location].phrase,
            topic=topic,
            names=list(names.values()),
        )
        plans, max_tokens = self._planner.plan(scene, key), params.max_tokens
        if scene.length_s is not None:
            lengths = KeyedRandom(self._seed, "turn_lengths", scene.scene_id, key)
            plans = budgeted(plans, scene, self._pace, lengths)
            max_tokens = most_tokens(plans, params)
        request = self._request(
            (example.request(self._prompts), example.answer, told),
            derived_seed(self._seed, "dialogue", scene.scene_id, key),
            max_tokens,
            schema(plans, params),
        )
        return Draft(scene, topic, attempt, candidate, request, plans, example, told)

    def _request(self, talk: tuple[str, ...], seed: int, max_tokens: int, form: Json) -> ChatRequest:
        """A request: what is asked, or what a worked example was asked, what it answered, and what is asked."""
        return ChatRequest(
            messages=(
                ChatMessage(role="system", content=render(self._prompts / "dialogue_system.jinja")),
                *(ChatMessage(role=("user", "assistant")[n % 2], content=text) for n, text in enumerate(talk)),
            ),
            seed=seed,
            max_tokens=max_tokens,
            temperature=self._params.temperature,
            top_p=1.0,
            min_p=self._params.min_p,
            presence_penalty=self._params.presence_penalty,
            frequency_penalty=self._params.frequency_penalty,
            json_schema=form,
        )

    def read(self, draft: Draft, answer: ChatAnswer) -> Written:
        """See `Writer`."""
        if fault := answer_fault(answer):
            return Written((), fault)
        try:
            lines = read_lines(answer.text, draft.plans, self._params)
        except SkeletonFault as unread:
            return Written((), Fault(unread.reason, str(unread)))
        return self.reread(draft, lines)

    def reread(self, draft: Draft, lines: Sequence[Line]) -> Written:
        """See `Repairer`."""
        assert draft.example is not None
        cut = tuple(
            Fault("cut_text", f"turn {number}: {end}", number)
            for number, end in cut_texts(lines, draft.plans, self._params)
        )
        names = {plan.speaker: plan.name for plan in draft.plans}
        kept = tuple(trimmed(lines, draft.plans, draft.scene, self._catalog, draft.example.lines))
        draws = [
            KeyedRandom(self._seed, "break", draft.scene.scene_id, draft.key * 100 + turn) for turn in range(len(kept))
        ]
        try:
            turns = tuple(realise(kept, draft.plans, draft.scene, draws))
        except SkeletonFault as unmade:
            fault = Fault(unmade.reason, str(unmade), unmade.turn)
            return Written((), fault, (*cut, fault), kept)
        turns = without_surplus(turns, draft.scene, self._pace)
        found = (*cut, *faults(turns, draft.scene, self._catalog, draft.example.lines, names))
        if missed := length_fault(turns, draft.scene, self._pace, self._params.length_tolerance):
            found = (*found, missed)
        return Written(turns, found[0] if found else None, found, kept)

    def mend(self, draft: Draft, lines: Sequence[Line], turn: int, number: int) -> ChatRequest:
        """See `Repairer`."""
        return self._request(
            (self._asked(draft.told, draft.plans, lines, turn),),
            derived_seed(self._seed, "mend", draft.scene.scene_id, (draft.key * 100 + turn) * 100 + number),
            MENDED_TOKENS,
            schema(draft.plans, self._params, only=turn),
        )

    def _asked(self, told: str, plans: Sequence[TurnPlan], lines: Sequence[Line], turn: int) -> str:
        first = max(0, turn - SHOWN_BEFORE)
        talk = [f"{plan.name}: {' '.join(line.values())}" for plan, line in zip(plans, lines, strict=True)]
        after = talk[turn + 1] if turn + 1 < len(talk) else ""
        return render(self._prompts / "turn_request.jinja", told=told, talk=talk[first:turn], after=after)

    def mended(self, draft: Draft, lines: Sequence[Line], turn: int, answer: ChatAnswer) -> Line | None:
        """See `Repairer`."""
        if answer_fault(answer):
            return None
        try:
            return read_lines(answer.text, draft.plans, self._params, only=turn)[0]
        except SkeletonFault:
            return None


def answer_fault(answer: ChatAnswer) -> Fault | None:
    """Why an answer cannot be read at all, whatever was asked."""
    if answer.finish_reason == "error":
        return Fault("request_failed", answer.error)
    if answer.finish_reason == "length":
        return Fault("too_long", f"{answer.completion_tokens} tokens")
    if not answer.text.strip():
        return Fault("empty_answer", "")
    return None
