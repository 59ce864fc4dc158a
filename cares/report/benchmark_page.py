"""The page about the benchmark: leaderboard, every task's figures with intervals, confusions, differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cares.core.canonical import Json
from cares.records.item import LEVELS, TASKS
from cares.records.scene import REACTIONS
from cares.report.inputs import Inputs
from cares.report.pages import Page, Tools
from cares.report.picture import WIDTH, share
from cares.report.tables import ordered_systems, percent, plain

TITLES = {
    "scene": "Where are they?",
    "sounds": "Which sound is heard?",
    "reactions-time": "How do they react? Time given",
    "reactions-time_and_name": "How do they react? Time and name given",
    "reactions-neither": "How do they react? Neither given",
    "grounding": "Is the sound there? Pairs with and without it",
    "summary-25": "Summary in 25 words",
    "summary-75": "Summary in 75 words",
    "summary-200": "Summary in 200 words",
}
ORDER = [
    key
    for task in TASKS
    for key in ([task] if task == "grounding" else [f"{task}-{level}" if level else task for level in LEVELS[task]])
]
FIRST = {"scene": "accuracy_all", "sounds": "accuracy_all", "grounding": "pair_accuracy", "summary": "mention_rate"}
PAIR_CHANCE = 0.25


class Mark(NamedTuple):
    """One system's figure on a picture of WIDTH units: places of the interval's low end, of the value, and its span."""

    system: str
    text: str
    low: str
    at: str
    span: str


class Matrix(NamedTuple):
    """Answers of one system: column names, and a row of counts for each right answer."""

    system: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]


class Section(NamedTuple):
    """What is shown of one task. `columns` and `rows` are a table of figures as texts, a row a system."""

    key: str
    title: str
    figure: str
    chance: str
    chance_text: str
    marks: list[Mark]
    columns: tuple[str, ...]
    rows: list[tuple[str, tuple[str, ...]]]
    matrices: list[Matrix]


def benchmark_page(inputs: Inputs, tools: Tools) -> Page:
    """The page, whatever is there of systems and leaderboard."""
    board = inputs.leaderboard or {"rows": [], "differences": [], "judged": {}}
    tasks = {system: inputs.bench[system].get("tasks", {}) for system in ordered_systems(inputs.bench)}
    body = tools.fragment(
        "benchmark.html.jinja",
        board=board["rows"],
        board_tasks=[key for key in ORDER if any(key in row["cells"] for row in board["rows"])],
        titles=TITLES,
        cell=board_cell,
        published=[row for row in board["rows"] if row["kind"] == "published"],
        sections=[section(key, tasks, board["judged"]) for key in ORDER if any(key in one for one in tasks.values())],
        differences=[difference_cells(one) for one in board["differences"]],
        models=[(system, str(inputs.bench[system].get("model", ""))) for system in tasks],
        WIDTH=WIDTH,
    )
    return Page("benchmark.html", "Benchmark", body)


def first_figure(key: str) -> str:
    """The name of a task's first figure."""
    return FIRST.get(key.partition("-")[0], "balanced_accuracy")


def section(key: str, tasks: Mapping[str, Mapping[str, Json]], judged: Mapping[str, Json]) -> Section:
    """One task, with the systems that answered it."""
    found = {system: one[key] for system, one in tasks.items() if key in one}
    name = first_figure(key)
    chance = _chance(key, found)
    if key.startswith("summary"):
        columns, rows = _summary_table(key, found, judged)
    elif key == "grounding":
        columns, rows = _grounding_table(found)
    else:
        columns, rows = _choice_table(found)
    return Section(
        key=key,
        title=TITLES[key],
        figure=name.replace("_all", "").replace("_", " "),
        chance="" if chance is None else share(chance),
        chance_text="" if chance is None else percent(chance),
        marks=[_mark(system, one[name]) for system, one in found.items() if one[name]["value"] is not None],
        columns=columns,
        rows=rows,
        matrices=[matrix(system, figures["confusion"]) for system, figures in found.items() if "confusion" in figures],
    )


def interval_text(figure: Json) -> str:
    """A figure as "41.7 % (30.0 % to 52.1 %)"; "none" where it is not defined."""
    if not isinstance(figure, Mapping) or figure.get("value") is None:
        return "none"
    ends = figure.get("ci95")
    return percent(figure["value"]) + (f" ({percent(ends[0])} to {percent(ends[1])})" if ends else "")


def board_cell(row: Json, key: str) -> str:
    """One figure of the leaderboard; its name is added where it is not the task's first one."""
    cell = row["cells"].get(key)
    if cell is None:
        return "–"
    other = "" if cell["figure"] == first_figure(key) else f" {cell['figure'].replace('_', ' ')}"
    return interval_text(cell) + other


def matrix(system: str, confusion: Json) -> Matrix:
    """A confusion matrix as the metrics file holds it."""
    rows = tuple((label, tuple(counts)) for label, counts in _in_order(confusion["counts"]).items())
    return Matrix(system, tuple(confusion["answers"]), rows)


def difference_cells(one: Json) -> tuple[str, ...]:
    """One comparison as texts, the last one "yes" where it holds after the correction."""
    ends = one["ci95"]
    points = f"{100 * one['difference']:+.1f}"
    interval = f"{100 * ends[0]:+.1f} to {100 * ends[1]:+.1f}" if ends else "none"
    return (
        TITLES.get(one["task"], one["task"]),
        one["a"],
        one["b"],
        points,
        interval,
        f"{one['p']:.4f}",
        f"{one['p_holm']:.4f}",
        "yes" if one["p_holm"] < 0.05 else "no",
    )


def _chance(key: str, found: Mapping[str, Json]) -> float | None:
    if key == "grounding":
        return PAIR_CHANCE
    known = [figures["chance"] for figures in found.values() if "chance" in figures]
    return known[0] if known else None


def _mark(system: str, figure: Json) -> Mark:
    value = figure["value"]
    low, high = figure["ci95"] or (value, value)
    return Mark(system, interval_text(figure), share(low), share(value), share(high - low))


def _choice_table(found: Mapping[str, Json]) -> tuple[tuple[str, ...], list[tuple[str, tuple[str, ...]]]]:
    labels = list(_in_order(next(iter(found.values())).get("recall", {})))
    labels = labels if set(labels) <= set(REACTIONS) else []
    columns = (
        "items",
        "balanced accuracy",
        "accuracy",
        "of readable",
        "not readable",
        *(f"recall {label}" for label in labels),
        *(f"precision {label}" for label in labels),
        "commonest answer",
        "entropy, bits",
        "order matters, p",
    )
    rows = []
    for system, figures in found.items():
        collapse = figures["collapse"]
        top = "none" if collapse["top"] is None else f"{collapse['top']}, {percent(collapse['top_share'])}"
        cells = (
            str(figures["n"]),
            interval_text(figures["balanced_accuracy"]),
            interval_text(figures["accuracy_all"]),
            interval_text(figures["accuracy_readable"]),
            unreadable_text(figures),
            *(interval_text(figures["recall"].get(label)) for label in labels),
            *(interval_text(figures["precision"].get(label)) for label in labels),
            top,
            plain(collapse["entropy_bits"]),
            plain(figures["order_effect"]["p"]),
        )
        rows.append((system, cells))
    return columns, rows


def _grounding_table(found: Mapping[str, Json]) -> tuple[tuple[str, ...], list[tuple[str, tuple[str, ...]]]]:
    columns = (
        "pairs",
        "both right",
        "sensitivity",
        "specificity",
        *(f"sensitivity {label}" for label in REACTIONS),
        "not readable",
        "commonest answer",
        "order matters, p",
    )
    rows = []
    for system, figures in found.items():
        collapse = figures["collapse"]
        top = "none" if collapse["top"] is None else f"{collapse['top']}, {percent(collapse['top_share'])}"
        cells = (
            str(figures["pairs"]),
            *(interval_text(figures[name]) for name in ("pair_accuracy", "sensitivity", "specificity")),
            *(interval_text(figures["sensitivity_by_label"].get(label)) for label in REACTIONS),
            unreadable_text(figures),
            top,
            plain(figures["order_effect"]["p"]),
        )
        rows.append((system, cells))
    return columns, rows


def _summary_table(
    key: str, found: Mapping[str, Json], judged: Mapping[str, Json]
) -> tuple[tuple[str, ...], list[tuple[str, tuple[str, ...]]]]:
    """A row a system, found by word forms, and one more for a judge's verdicts where there are some."""
    columns = (
        "sounds",
        "mentioned",
        *(f"mentioned {label}" for label in REACTIONS),
        "pivot minus ambient",
        "mentioned though absent",
        "mean words",
        "not readable",
        "quotes not found",
    )
    rows = []
    for system, figures in found.items():
        length = plain(figures["length"]["mean_words"])
        tail = (length, unreadable_text(figures), "")
        rows.append((f"{system}, by word forms", (str(figures["sounds"]), *_mention_cells(figures), *tail)))
        if verdict := judged.get(system, {}).get(key):
            tail = (length, str(verdict["unreadable"]), str(verdict["unsupported"]))
            rows.append((f"{system}, by the judge", (str(figures["sounds"]), *_mention_cells(verdict), *tail)))
    return columns, rows


def _mention_cells(figures: Json) -> tuple[str, ...]:
    return (
        interval_text(figures["mention_rate"]),
        *(interval_text(figures["mention_rate_by_label"].get(label)) for label in REACTIONS),
        interval_text(figures["salience_gap"]),
        interval_text(figures["false_mention_rate"]),
    )


def unreadable_text(figures: Json) -> str:
    """How many answers could not be read, and as what: "3 (refused 2, loop 1)"."""
    kinds = [f"{status} {count}" for status, count in sorted(figures["status"].items()) if status != "ok"]
    return f"{figures['unreadable']} ({', '.join(kinds)})" if kinds else str(figures["unreadable"])


def _in_order(table: Mapping[str, Json]) -> dict[str, Json]:
    """Labels as REACTIONS has them first: a metrics file sorts its keys."""
    known: Sequence[str] = [label for label in REACTIONS if label in table]
    return {label: table[label] for label in [*known, *(name for name in table if name not in known)]}
