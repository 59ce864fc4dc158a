"""The section `bench` of params.yaml."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from cares.bench.adapters.params import TransformersParams
from cares.core.record import Record
from cares.records.item import LEVELS, TASKS, Item

SYSTEM = re.compile(r"majority|random|(?:oracle|oracle-unmarked|cascade|openai|transformers)(?:-constrained)?")
GROUPS = frozenset(
    {*TASKS, *(f"{task}-{level}" for task in TASKS if task != "grounding" for level in LEVELS[task] if level)}
)


def _different(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(values)) != len(values):
        raise ValueError("the same entry occurs twice")
    return values


def _known_system(name: str) -> str:
    if SYSTEM.fullmatch(name) is None:
        raise ValueError(
            "majority, random, oracle, oracle-unmarked, cascade, openai or transformers; the last five also with "
            "-constrained"
        )
    return name


def check_group(name: str) -> str:
    """The name of a task or of one of its levels; ValueError for any other, and for one half of `grounding`."""
    if name not in GROUPS:
        raise ValueError(f"a task or one of its levels: {', '.join(sorted(GROUPS))}")
    return name


class BenchParams(Record):
    """Who answers which questions, and how.

    systems: `majority`, `random`, `oracle` (true transcript, sounds marked), `oracle-unmarked` (without the marks),
        `cascade` (what a recogniser heard), `openai` (a served model that hears the recording), `transformers` (one
        that runs in this process). With `-constrained` a system can write nothing but a letter.
    tasks: tasks, or levels of them such as "summary-25", that models are asked; `majority` and `random` answer all.
    wave_templates, wave_size: the questions of this many templates of consecutive number form a group, which is handed
        to the language model in waves of at most `wave_size`.
    context_s: seconds of transcript shown before and after the sound, where the question tells its time.
    max_tokens: length of an answer; a summary may have three tokens for each word that is asked for.
    repeats: so many questions are asked once more, for the flip rate.
    bootstrap: resamples of the intervals.
    judge_summaries: whether the model `models.judge` judges what summaries mention, beside the word forms.
    audio_model: the name under which a server of CARES_LLM_URL offers the model that `openai` asks.
    transformers: the model of the system `transformers`.
    """

    systems: Annotated[
        tuple[Annotated[str, AfterValidator(_known_system)], ...], Field(min_length=1), AfterValidator(_different)
    ]
    tasks: Annotated[
        tuple[Annotated[str, AfterValidator(check_group)], ...], Field(min_length=1), AfterValidator(_different)
    ] = TASKS
    wave_templates: Annotated[int, Field(ge=1, le=1000)]
    wave_size: Annotated[int, Field(ge=1, le=1024)]
    context_s: Annotated[float, Field(gt=0, le=120)]
    max_tokens: Annotated[int, Field(ge=1, le=8192)]
    repeats: Annotated[int, Field(ge=0, le=10_000)] = 0
    bootstrap: Annotated[int, Field(ge=100, le=100_000)]
    judge_summaries: bool = False
    audio_model: str | None = None
    transformers: TransformersParams | None = None

    def asks(self, item: Item) -> bool:
        """Whether the item belongs to `tasks`."""
        return item.task in self.tasks or item.group in self.tasks


def answer_tokens(item: Item, max_tokens: int) -> int:
    """Most tokens of an answer to this item."""
    return max_tokens if item.words is None else 3 * item.words + 16
