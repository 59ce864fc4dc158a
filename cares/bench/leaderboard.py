"""The leaderboard: our systems and published results in one table, as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from cares.bench.leaderboard_published import Published
from cares.bench.scores import headline
from cares.bench.scores_rows import TASK_KEYS
from cares.core.canonical import Json
from cares.core.text import no_formula, plain

MARK = "†"
NONE_PUBLISHED = (
    "No published result is entered in cares/bench/published.yaml: the figures of the CARES paper are to be taken from "
    "its tables. None are made up."
)
COLUMNS = ("kind", "system", "model", "task", "figure", "value", "low", "high", "n", "source", "where", "note")
_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


class Cell(NamedTuple):
    """One figure of one system."""

    figure: str
    value: float
    ci95: tuple[float, float] | None
    n: int | None


class Row(NamedTuple):
    """One line of the table; `cells` by task, only tasks that have a figure."""

    kind: Literal["ours", "published"]
    system: str
    model: str
    source: str
    where: str
    note: str
    cells: Mapping[str, Cell]


def our_row(system: str, model: str, tasks: Mapping[str, Json]) -> Row:
    """The line of a system that was scored here: the first figure of each task (`cares.bench.scores.headline`).

    Answers that are errors are told in its note; a task of errors alone has no figure.
    """
    cells, errors = {}, []
    for task, figures in tasks.items():
        found = figures[headline(task)]
        if failed := figures.get("status", {}).get("error", 0):
            errors.append(f"{failed} of {figures['n']} in {task}")
        if found["value"] is not None and failed < figures["n"]:
            ends = found["ci95"]
            cells[task] = Cell(headline(task), found["value"], (ends[0], ends[1]) if ends else None, figures["n"])
    note = f"errors instead of answers: {', '.join(errors)}" if errors else ""
    return Row("ours", system, model, "", "", note, cells)


def published_row(entry: Published) -> Row:
    """The line of a published result; the first figure of a task where it has it, else the first that it has."""
    cells = {}
    for task, figures in entry.figures.items():
        name = headline(task) if headline(task) in figures else next(iter(figures))
        cells[task] = Cell(name, figures[name].value, figures[name].ci95, figures[name].n)
    return Row("published", entry.model, entry.model, entry.source, entry.where, entry.note, cells)


def tasks_of(rows: Sequence[Row]) -> list[str]:
    """The tasks that any line has a figure for, in the order of the benchmark."""
    return [task for task in TASK_KEYS if any(task in row.cells for row in rows)]


def to_csv(rows: Sequence[Row]) -> str:
    """One line a figure, published ones marked in the column `kind`."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        for task in tasks_of([row]):
            cell = row.cells[task]
            low, high = cell.ci95 or ("", "")
            n = "" if cell.n is None else cell.n
            figures = (task, cell.figure, cell.value, low, high, n)
            named = (row.kind, no_formula(row.system), no_formula(row.model))
            writer.writerow((*named, *figures, *(no_formula(text) for text in (row.source, row.where, row.note))))
    return stream.getvalue()


def to_markdown(rows: Sequence[Row]) -> str:
    """A table with a line a system and a column a task, in percent, and its notes."""
    tasks = tasks_of(rows)
    lines = [
        "| " + " | ".join(["system", *(f"{task}<br>{_plain(headline(task))}" for task in tasks)]) + " |",
        "| " + " | ".join(["---"] + ["---:"] * len(tasks)) + " |",
    ]
    for row in rows:
        cells = [_cell(row.cells.get(task), task, "–") for task in tasks]
        lines.append("| " + " | ".join([_pipe(_name(row)), *cells]) + " |")
    return "\n".join([*lines, "", *(f"{_pipe(note)}  " for note in _notes(rows))]) + "\n"


def to_latex(rows: Sequence[Row]) -> str:
    """The same as a tabular of the package booktabs."""
    tasks = tasks_of(rows)
    head = " & ".join(["system", *(_escaped(task) for task in tasks)])
    figures = " & ".join(["", *(_escaped(_plain(headline(task))) for task in tasks)])
    lines = [f"\\begin{{tabular}}{{l{'r' * len(tasks)}}}", r"\toprule", f"{head} \\\\", f"{figures} \\\\", r"\midrule"]
    for row in rows:
        cells = [_cell(row.cells.get(task), task, "--").replace("%", r"\%") for task in tasks]
        name = _escaped(_name(row)).replace(MARK, r"\textsuperscript{\textdagger}")
        lines.append(f"{name} & {' & '.join(cell.replace(MARK, '*') for cell in cells)} \\\\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {plain(note)}" for note in _notes(rows))]) + "\n"


def to_json(rows: Sequence[Row]) -> Json:
    """For the report: every line with its cells by task."""
    return [
        {
            **{name: getattr(row, name) for name in ("kind", "system", "model", "source", "where", "note")},
            "cells": {
                task: {**cell._asdict(), "ci95": None if cell.ci95 is None else list(cell.ci95)}
                for task, cell in row.cells.items()
            },
        }
        for row in rows
    ]


def _name(row: Row) -> str:
    return f"{row.system} {MARK}" if row.kind == "published" else row.system


def _cell(cell: Cell | None, task: str, none: str) -> str:
    if cell is None:
        return none
    text = f"{100 * cell.value:.1f}"
    if cell.ci95 is not None:
        text += f" ({100 * cell.ci95[0]:.1f} to {100 * cell.ci95[1]:.1f})"
    if cell.figure != headline(task):
        text += f" {_plain(cell.figure)}"
    return text if cell.n is None else f"{text}, n {cell.n}"


def _notes(rows: Sequence[Row]) -> list[str]:
    notes = ["Percent, with 95 % intervals clustered by template; n is the number of items.", *_unlike(rows)]
    notes += [f"{row.system}: {row.note}" for row in rows if row.kind == "ours" and row.note]
    published = [row for row in rows if row.kind == "published"]
    if not published:
        return [*notes, NONE_PUBLISHED]
    notes.append(f"{MARK} published elsewhere, on other recordings; not scored here:")
    for row in published:
        notes.append(f"{row.system}: {', '.join(part for part in (row.source, row.where, row.note) if part)}")
    return notes


def _unlike(rows: Sequence[Row]) -> list[str]:
    """Tasks in which our systems answered different numbers of items, as when they were asked other splits."""
    numbers = {
        task: {row.system: row.cells[task].n for row in rows if row.kind == "ours" and task in row.cells}
        for task in tasks_of(rows)
    }
    return [
        f"{task} was not asked alike: {', '.join(f'{system} {n} items' for system, n in found.items())}; "
        "each difference is on the items that both answered (n in differences.csv)."
        for task, found in numbers.items()
        if len(set(found.values())) > 1
    ]


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _pipe(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in text)
