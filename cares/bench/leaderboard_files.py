"""Everything that the leaderboard is written as: tables, differences, and a small file of metrics."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cares.bench.leaderboard import our_row, published_row, to_csv, to_json, to_latex, to_markdown
from cares.bench.leaderboard_published import Published
from cares.bench.scores import headline, score_tasks
from cares.bench.scores_compare import Difference, compare
from cares.bench.scores_summary import Judged
from cares.catalog.catalog import Catalog
from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.text import no_formula
from cares.records.answer import Answer
from cares.records.item import Item


class Standing(NamedTuple):
    """One system: its answers, what metrics/bench/SYSTEM.json says, and a judge's verdicts on its summaries."""

    answers: Sequence[Answer]
    metrics: Json
    verdicts: Sequence[Judged] = ()


class Files(NamedTuple):
    """Texts by file name, the figures of the report, and the small metrics."""

    texts: dict[str, str]
    report: Json
    metrics: Json


def leaderboard_files(
    items: Sequence[Item],
    items_sha256: str,
    systems: Mapping[str, Standing],
    published: Sequence[Published],
    catalog: Catalog,
    resamples: int,
    seed: int,
    partial: bool = False,
) -> Files:
    """The files of the leaderboard.

    Args:
        items: the frozen questions.
        items_sha256: hash of their file.
        systems: by name, in the order of the table.
        published: results of others.
        catalog: word forms, to find sounds in summaries.
        resamples: bootstrap resamples and draws of tests.
        seed: the data set's seed.
        partial: whether systems may have answered different items, as folders of results do.

    Raises:
        InputError: a system's metrics are of other items.
    """
    for name, standing in systems.items():
        if standing.metrics.get("items_sha256") != items_sha256:
            found = standing.metrics.get("items_sha256")
            raise InputError(f"metrics/bench/{name}.json", "items_sha256", found, items_sha256, "Run dvc repro.")
    rows = [our_row(name, standing.metrics["model"], standing.metrics["tasks"]) for name, standing in systems.items()]
    rows += [published_row(entry) for entry in published]
    answers = {name: one.answers for name, one in systems.items()}
    differences = compare(items, answers, catalog, resamples, seed, partial)
    judged = {
        name: _judged(items, standing, catalog, resamples, seed)
        for name, standing in systems.items()
        if standing.verdicts
    }
    texts = {
        "leaderboard.csv": to_csv(rows),
        "leaderboard.md": to_markdown(rows),
        "leaderboard.tex": to_latex(rows),
        "differences.csv": differences_csv(differences),
    }
    report = {"rows": to_json(rows), "differences": [one.to_json() for one in differences], "judged": judged}
    return Files(texts, report, _small(systems, judged))


def differences_csv(differences: Sequence[Difference]) -> str:
    """One line a comparison."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("task", "figure", "a", "b", "difference", "low", "high", "p", "p_holm", "n", "templates"))
    for one in differences:
        low, high = one.ci95 or ("", "")
        known = (one.task, one.figure, no_formula(one.a), no_formula(one.b), one.difference, low, high)
        writer.writerow((*known, f"{one.p:.5f}", one.p_holm, one.n, one.templates))
    return stream.getvalue()


def _judged(items: Sequence[Item], standing: Standing, catalog: Catalog, resamples: int, seed: int) -> Json:
    """The judge's figures by task."""
    wanted = [item for item in items if item.task == "summary"]
    known = {item.item_id for item in wanted}
    answers = [answer for answer in standing.answers if answer.item_id in known]
    found = score_tasks(wanted, answers, catalog, resamples, seed, standing.verdicts)
    return {task: figures["judge"] for task, figures in found.items() if "judge" in figures}


def _small(systems: Mapping[str, Standing], judged: Mapping[str, Json]) -> Json:
    """First figures only, one number a system and task, so that runs can be compared side by side."""
    found: dict[str, Json] = {}
    for name, standing in systems.items():
        tasks = standing.metrics["tasks"]
        found[name] = {task: figures[headline(task)]["value"] for task, figures in tasks.items()}
        for task, figures in judged.get(name, {}).items():
            found[name][f"{task}-judged"] = figures["mention_rate"]["value"]
    return found
