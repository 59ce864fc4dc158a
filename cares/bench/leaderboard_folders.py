"""A leaderboard of models that were scored by `cares bench`, each in its own folder, without the pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cares.bench.items_file import read_items
from cares.bench.leaderboard_files import Files, Standing, leaderboard_files
from cares.bench.leaderboard_published import Published
from cares.bench.scores_rows import task_key
from cares.catalog.catalog import Catalog
from cares.core.canonical import file_digest, read_json
from cares.core.errors import InputError
from cares.core.record import read_records
from cares.records.answer import Answer
from cares.records.item import Item


def compare_folders(
    folders: Sequence[Path],
    items_file: Path,
    published: Sequence[Published],
    catalog: Catalog,
    resamples: int,
    seed: int,
) -> Files:
    """The files of a leaderboard.

    A model's own figures are those of its metrics.json. Differences are on the items of a task that every model which
    was asked the task answered, so that one model may have been asked more splits than another.

    Args:
        folders: with answers.jsonl and metrics.json, as `cares bench` leaves them.
        items_file: the frozen questions.
        published: results of others.
        catalog: word forms, to find sounds in summaries.
        resamples: bootstrap resamples and draws of tests.
        seed: the data set's seed.

    Raises:
        InputError: a file is missing, two folders hold the same system, or metrics are of other items.
    """
    items, digest = read_items(items_file), file_digest(items_file)
    systems: dict[str, Standing] = {}
    for folder in folders:
        metrics = read_json(folder / "metrics.json")
        name = str(metrics.get("system"))
        if name in systems:
            raise InputError(folder / "metrics.json", "system", name, "a system that no other folder holds")
        if (found := metrics.get("items_sha256")) != digest:
            where = folder / "metrics.json"
            raise InputError(
                where, "items_sha256", found, f"{digest}, the hash of {items_file}", "Run cares bench again."
            )
        systems[name] = Standing(read_records(Answer, folder / "answers.jsonl"), metrics)
    common = common_items(items, [standing.answers for standing in systems.values()])
    known = {item.item_id for item in common}
    shared = {
        name: standing._replace(answers=[answer for answer in standing.answers if answer.item_id in known])
        for name, standing in systems.items()
    }
    return leaderboard_files(common, digest, shared, published, catalog, resamples, seed)


def common_items(items: Sequence[Item], answers: Sequence[Sequence[Answer]]) -> list[Item]:
    """The items of each task that all systems answered which answered any item of the task."""
    tasks = {item.item_id: task_key(item) for item in items}
    asked = [{answer.item_id for answer in one} for one in answers]
    of_system = [{tasks[item_id] for item_id in one if item_id in tasks} for one in asked]
    return [
        item
        for item in items
        if any(tasks[item.item_id] in known for known in of_system)
        and all(
            item.item_id in one for one, known in zip(asked, of_system, strict=True) if tasks[item.item_id] in known
        )
    ]
