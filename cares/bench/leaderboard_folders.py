"""A leaderboard of models that were scored by `cares bench`, each in its own folder, without the pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cares.bench.items_file import read_items
from cares.bench.leaderboard_files import Files, Standing, leaderboard_files
from cares.bench.leaderboard_published import Published
from cares.catalog.catalog import Catalog
from cares.core.canonical import file_digest, read_json
from cares.core.errors import InputError
from cares.core.record import read_records
from cares.core.text import plain
from cares.records.answer import Answer

UNFINISHED = ("preflight.json", "run.json", "asked.jsonl")


def scored_folders(folders: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The folders that hold figures, and a line for each that holds a preflight or an unfinished run alone.

    Raises:
        InputError: none holds figures.
    """
    scored, lines = [], []
    for folder in folders:
        if not (folder / "metrics.json").exists() and any((folder / name).is_file() for name in UNFINISHED):
            lines.append(
                f"{folder} is left out: it holds no figures (a preflight alone, or a run that is not finished)"
            )
        else:
            scored.append(folder)
    if not scored:
        raise InputError("command line", "FOLDER", ", ".join(map(str, folders)), "a folder with figures of cares bench")
    return scored, lines


def compare_folders(
    folders: Sequence[Path],
    items_file: Path,
    published: Sequence[Published],
    catalog: Catalog,
    resamples: int,
    seed: int,
) -> Files:
    """The files of a leaderboard.

    A model's own figures are those of its metrics.json. Each difference is on the items that both models answered, so
    that one model may have been asked more tasks or splits than another.

    Args:
        folders: with answers.jsonl and metrics.json, as `cares bench` leaves them.
        items_file: the frozen questions.
        published: results of others.
        catalog: word forms, to find sounds in summaries.
        resamples: bootstrap resamples and draws of tests.
        seed: the data set's seed.

    Raises:
        InputError: a file is missing or is no metrics file, two folders hold the same system, or metrics are of other
            items.
    """
    items, digest = read_items(items_file), file_digest(items_file)
    systems: dict[str, Standing] = {}
    for folder in folders:
        where = folder / "metrics.json"
        metrics = read_json(where)
        if not isinstance(metrics, dict) or not isinstance(metrics.get("tasks"), dict):
            raise InputError(where, "", metrics, "what cares bench writes: system, model, items_sha256, tasks")
        # shown in a terminal and in tables, and from a folder that anybody may have made
        metrics |= {name: plain(str(metrics.get(name))) for name in ("system", "model")}
        name = metrics["system"]
        if name in systems:
            raise InputError(where, "system", name, "a system that no other folder holds")
        if (found := metrics.get("items_sha256")) != digest:
            raise InputError(
                where, "items_sha256", found, f"{digest}, the hash of {items_file}", "Run cares bench again."
            )
        systems[name] = Standing(read_records(Answer, folder / "answers.jsonl"), metrics)
    return leaderboard_files(items, digest, systems, published, catalog, resamples, seed, partial=True)
