"""CARES as tasks of Inspect (https://inspect.aisi.org.uk).

    inspect eval cares.py@cares --model openai/gpt-4o-audio-preview -T task=reactions-time
    inspect eval cares.py@cares_summary --model openai/gpt-4o-audio-preview

Standard errors are clustered by template: scenes of one template are not independent.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentAudio, ContentText
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    grouped,
    mean,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState, generate

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from cares_reader import mentions, read_choice, read_items  # noqa: E402


@task
def cares(task: str | None = None) -> Task:
    """The questions with options, all or those of one task, such as "scene" or "reactions-time"."""
    items = [item for item in read_items(HERE / "items.jsonl") if item["choices"] and task in (None, item["task"])]
    if not items:
        known = sorted({item["task"] for item in read_items(HERE / "items.jsonl") if item["choices"]})
        raise ValueError(f"no items of task {task!r}; the tasks are {', '.join(known)}")
    return Task(
        dataset=MemoryDataset([_sample(item) for item in items], name="cares"),
        solver=generate(),
        scorer=chosen(),
    )


@task
def cares_summary(words: int | None = None) -> Task:
    """The summaries, of all lengths or of one: the share of the scene's sounds that each mentions."""
    items = [item for item in read_items(HERE / "items.jsonl") if not item["choices"] and item["sounds"]]
    items = [item for item in items if words in (None, item["words"])]
    return Task(
        dataset=MemoryDataset([_sample(item) for item in items], name="cares_summary"),
        solver=generate(),
        scorer=mentioned(),
    )


def _sample(item: dict[str, Any]) -> Sample:
    audio = ContentAudio(audio=str(HERE / item["audio"]), format="wav")
    known = ("task", "level", "scene_id", "template_id", "choices", "texts", "answer", "label", "pair", "sounds")
    return Sample(
        id=item["id"],
        input=[ChatMessageUser(content=[audio, ContentText(text=item["question"])])],
        target=item["answer"],
        metadata={name: item[name] for name in known},
    )


@metric
def balanced_accuracy() -> Metric:
    """Mean over the right answers of the share of items with this answer that are right."""

    def of(scores: list[SampleScore]) -> float:
        by_answer = defaultdict(list)
        for score in scores:
            by_answer[(score.sample_metadata or {})["answer"]].append(score.score.as_float())
        return float(sum(sum(values) / len(values) for values in by_answer.values()) / len(by_answer))

    return of


@metric
def pair_accuracy() -> Metric:
    """Share of pairs of grounding with both halves right; NaN where there is no pair."""

    def of(scores: list[SampleScore]) -> float:
        pairs = defaultdict(list)
        for score in scores:
            if pair := (score.sample_metadata or {})["pair"]:
                pairs[pair].append(score.score.as_float())
        return sum(min(values) for values in pairs.values()) / len(pairs) if pairs else float("nan")

    return of


@scorer(
    metrics=[
        accuracy(),
        stderr(cluster="template_id"),
        grouped(accuracy(), "task", all=False, name_template="{group_name} accuracy"),
        grouped(balanced_accuracy(), "task", all=False, name_template="{group_name} balanced accuracy"),
        pair_accuracy(),
    ]
)
def chosen() -> Scorer:
    """Right where the answer names the right option and no other."""

    async def score(state: TaskState, target: Target) -> Score:
        choice = read_choice(state.output.completion, state.metadata["choices"], state.metadata["texts"])
        return Score(
            value=CORRECT if choice == target.text else INCORRECT,
            answer=choice,
            explanation=None if choice else "unreadable",
        )

    return score


@scorer(
    metrics=[
        mean(),
        stderr(cluster="template_id"),
        grouped(mean(), "task", all=False, name_template="{group_name}"),
    ]
)
def mentioned() -> Scorer:
    """The share of the scene's sounds that the summary names."""

    async def score(state: TaskState, target: Target) -> Score:
        named = mentions(state.output.completion, state.metadata["sounds"])
        return Score(
            value=sum(named) / len(named),
            metadata={sound["sound"]: yes for sound, yes in zip(state.metadata["sounds"], named, strict=True)},
        )

    return score
