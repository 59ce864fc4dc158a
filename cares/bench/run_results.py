"""What a bench run leaves: answers, scores, and beside them how long each answer took."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cares.bench.run_audio import Timing
from cares.bench.scores import headline, metrics, score_tasks
from cares.bench.scores_rows import task_key
from cares.bench.systems_repeats import flip_rate
from cares.catalog.catalog import Catalog
from cares.core.canonical import Json, write_json, write_jsonl
from cares.core.record import write_records
from cares.records.answer import STATUSES, Answer
from cares.records.item import Item


def scored(
    system: str,
    about: Json,
    items: Sequence[Item],
    answers: Sequence[Answer],
    items_sha256: str,
    catalog: Catalog,
    bootstrap: int,
    seed: int,
) -> Json:
    """The metrics of one system: figures by task, and under `run` what is known of how they came about.

    Args:
        system: whose they are.
        about: what `answer_items` says of the run; `model` is the model's name.
        items: the frozen questions; those that were not asked are left out.
        answers: the system's answers.
        items_sha256: of the file of items.
        catalog: word forms of the sounds, for summaries.
        bootstrap: resamples of the intervals.
        seed: the data set's seed.
    """
    found = metrics(system, str(about["model"]), items_sha256, score_tasks(items, answers, catalog, bootstrap, seed))
    run = {key: value for key, value in about.items() if key != "model"}
    run["constrained"] = any(answer.constrained for answer in answers)
    run["status"] = {
        status: sum(answer.status == status and answer.repeat == 0 for answer in answers) for status in STATUSES
    }
    if any(answer.repeat for answer in answers):
        run["flips"] = flip_rate(answers)
    return found | {"run": run}


def headlines(found: Json) -> list[str]:
    """One line a task: its first figure with the interval."""
    lines = []
    for task, figures in found["tasks"].items():
        name = headline(task)
        value = figures.get(name)
        if not isinstance(value, dict):
            continue
        ends = value.get("ci95")
        interval = f"95 % interval {ends[0]} to {ends[1]}" if ends else "too few templates for an interval"
        lines.append(f"{task:24} {name.replace('_', ' ')} {value['value']}, {interval}, n {figures['n']}")
    return lines


def asked_items(items: Sequence[Item], answers: Sequence[Answer]) -> list[Item]:
    """The items of the tasks that were asked: figures are of these."""
    asked = {answer.item_id for answer in answers}
    tasks = {task_key(item) for item in items if item.item_id in asked}
    return [item for item in items if task_key(item) in tasks]


def write_results(out: Path, found: Json, answers: Sequence[Answer], timings: Sequence[Timing]) -> None:
    """Write answers.jsonl, metrics.json and timings.jsonl into a folder, each atomically."""
    write_records(out / "answers.jsonl", answers)
    write_jsonl(out / "timings.jsonl", (timing._asdict() for timing in timings))
    write_json(out / "metrics.json", found)
