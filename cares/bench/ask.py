"""Questions to a language model in fixed waves.

What a model writes depends, through rounding, on which requests share its batch. A wave's members therefore follow from
template numbers alone: the questions of `wave_templates` templates of consecutive number form a group, and a group is
handed over in waves of at most `wave_size` questions. A new or changed scene touches the waves of its own group only,
and scenes that were added to a set (`allocation.added`) are never in one group with those before them.
Questions of a group that are the same to the letter are asked once: to a system that cannot hear, both halves of a
grounding pair may read alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from cares.bench.params import BenchParams, answer_tokens
from cares.core.errors import CaresError, InputError
from cares.core.rng import derived_seed
from cares.llm.spread import complete_waves
from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest
from cares.records.item import Item


class AnswersWaves(Protocol):
    """A language model, stored or not, as far as the benchmark needs it."""

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """One answer a request, in the order of the requests."""
        ...


class Question(NamedTuple):
    """An item as one system puts it to the language model; `constrained`: nothing but a letter can be answered."""

    item: Item
    prompt: str
    constrained: bool = False
    repeat: int = 0


def waves(items: Sequence[Item], wave_templates: int, wave_size: int) -> list[list[int]]:
    """The places of the items that share a wave, wave by wave.

    Raises:
        InputError: a template's id is not "t" and a number.
    """
    return [
        group[start : start + wave_size]
        for group in _groups(items, wave_templates)
        for start in range(0, len(group), wave_size)
    ]


def ask(questions: Sequence[Question], model: AnswersWaves, params: BenchParams, seed: int) -> list[ChatAnswer]:
    """The model's answer to every question, in the order of the questions, at temperature 0.

    Args:
        questions: what to ask.
        model: answers whole waves.
        params: waves and length of answers.
        seed: the data set's seed.

    Raises:
        CaresError: the model failed as a whole, or gave another number of answers than it was asked for.
    """
    stands_for: dict[int, int] = {}
    for group in _groups([question.item for question in questions], params.wave_templates):
        first: dict[tuple[object, ...], int] = {}
        for place in group:
            stands_for[place] = first.setdefault(_same(questions[place], params), place)
    asked = sorted(set(stands_for.values()))
    answers: dict[int, ChatAnswer] = {}
    plan = waves([questions[place].item for place in asked], params.wave_templates, params.wave_size)
    wanted = [[_request(questions[asked[at]], params, seed) for at in wave] for wave in plan]
    for wave, fresh in zip(plan, complete_waves(model, wanted, "questions"), strict=True):
        places = [asked[at] for at in wave]
        if len(fresh) != len(places):
            raise CaresError(f"the language model gave {len(fresh)} answers to {len(places)} questions")
        answers.update(zip(places, fresh, strict=True))
    return [answers[stands_for[place]] for place in range(len(questions))]


def _groups(items: Sequence[Item], wave_templates: int) -> list[list[int]]:
    groups: dict[tuple[int, int], list[int]] = {}
    for place, item in enumerate(items):
        match = re.fullmatch(r"t(\d+)", item.template_id)
        if match is None:
            raise InputError("items.jsonl", f"{item.item_id}.template_id", item.template_id, '"t" and a number')
        groups.setdefault((item.added, int(match[1]) // wave_templates), []).append(place)
    return [places for _, places in sorted(groups.items())]


def _same(question: Question, params: BenchParams) -> tuple[object, ...]:
    """Questions that agree in this are one question."""
    tokens = answer_tokens(question.item, params.max_tokens)
    return question.prompt, question.item.letters, tokens, question.constrained, question.repeat


def _request(question: Question, params: BenchParams, seed: int) -> ChatRequest:
    return ChatRequest(
        messages=(ChatMessage(role="user", content=question.prompt),),
        seed=derived_seed(seed, "bench", question.item.item_id, question.repeat),
        max_tokens=answer_tokens(question.item, params.max_tokens),
        temperature=0.0,
        top_p=1.0,
        choices=tuple(question.item.letters) if question.constrained and question.item.choices else None,
    )
