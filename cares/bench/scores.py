"""All scores of one system, task by task: the one way in for stages and commands.

The figures of each task are those of `scores_choice` (multiple choice), with `scores_pairs` for grounding, and of
`scores_summary`. Every figure is {"value", "ci95": [low, high]} with a bootstrap interval over templates
(`cares.bench.statistics`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cares.bench.scores_choice import choice_figures
from cares.bench.scores_pairs import pair_figures
from cares.bench.scores_rows import NOT_READ, Rows, by_task
from cares.bench.scores_summary import Judged, summary_figures
from cares.catalog.catalog import Catalog
from cares.core.canonical import Json
from cares.records.answer import Answer
from cares.records.item import Item

HEADLINES: Mapping[str, str] = {
    "scene": "accuracy_all",
    "sounds": "accuracy_all",
    "reactions": "balanced_accuracy",
    "grounding": "pair_accuracy",
    "summary": "mention_rate",
}


def headline(task: str) -> str:
    """The name of a task's first figure: that of leaderboards and of comparisons."""
    return HEADLINES[task.partition("-")[0]]


def score_tasks(
    items: Sequence[Item],
    answers: Sequence[Answer],
    catalog: Catalog,
    resamples: int,
    seed: int,
    verdicts: Iterable[Judged] = (),
) -> dict[str, Json]:
    """The figures of each task that a system answered.

    Args:
        items: the frozen questions.
        answers: one system's answers, in any order; repetitions are left out.
        catalog: word forms, to find sounds in summaries.
        resamples: bootstrap resamples of templates.
        seed: the data set's seed.
        verdicts: a judge's verdicts on this system's summaries.

    Returns:
        Figures by task: "scene", "sounds", "reactions-time", "reactions-time_and_name", "reactions-neither",
        "grounding", "summary-25" and so on.

    Raises:
        InputError: answers do not belong to the items, or answer a task in part.
    """
    judged = {(verdict.item_id, verdict.sound): verdict for verdict in verdicts}
    found = {}
    for task, rows in by_task(items, answers).items():
        if task.startswith("summary"):
            found[task] = summary_figures(rows, catalog, judged, resamples, seed)
            continue
        found[task] = choice_figures(rows, resamples, seed)
        if task == "grounding":
            found[task] |= pair_figures(rows, resamples, seed)
    return found


def metrics(system: str, model: str, items_sha256: str, tasks: Mapping[str, Json]) -> Json:
    """What metrics/bench/SYSTEM.json holds: whose figures they are, on which items, and the figures by task."""
    return {"system": system, "model": model, "items_sha256": items_sha256, "tasks": dict(tasks)}


def confusion_rows(items: Sequence[Item], answers: Sequence[Answer]) -> list[tuple[str, str, str]]:
    """(task, right, answered) of every item whose task has the same choices everywhere, for DVC's confusion plot."""
    return [
        (task, item.answer, answer.choice or NOT_READ)
        for task, rows in by_task(items, answers).items()
        if _plotted(task, rows)
        for item, answer in zip(rows.items, rows.answers, strict=True)
    ]


def _plotted(task: str, rows: Rows) -> bool:
    return not task.startswith("summary") and rows.fixed
