"""The report's tables, from records and metrics to rows of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cares.core.canonical import Json
from cares.records.scene import REACTIONS
from cares.report.inputs import SHOWN_TASK, Inputs
from cares.report.picture import share

SYSTEM_ORDER = ("majority", "random", "oracle", "oracle-unmarked", "cascade")


class SystemRow(NamedTuple):
    """One system's balanced accuracy in telling the reactions, with the places of its interval on the picture."""

    system: str
    n: str
    balanced: str
    interval: str
    recall: tuple[str, ...]
    unreadable: str
    collapse: str
    low: str
    at: str
    span: str


class Unfinished(NamedTuple):
    """A scene that is not in the data set, with the stage and the reason that stopped it."""

    scene_id: str
    stage: str
    reason: str
    detail: str
    attempts: int


class Licences(NamedTuple):
    """How many takes come from one source under one licence by one author."""

    source: str
    licence: str
    author: str
    takes: int


def flat(value: Json, name: str = "") -> Iterator[tuple[str, str]]:
    """A metrics file as (dotted name, text) rows, in the order of the file."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and any(isinstance(inner, Mapping | list) for inner in value):
        for place, inner in enumerate(value):
            yield from flat(inner, f"{name}.{place}")
    elif isinstance(value, list):
        yield name, ", ".join(plain(inner) for inner in value)
    else:
        yield name, plain(value)


def plain(value: object) -> str:
    """A value for a table: at most four decimals, "none" for None, yes and no for booleans."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    return str(value)


def percent(value: float | None) -> str:
    """A share as "41.7 %", "none" for None."""
    return "none" if value is None else f"{value * 100:.1f} %"


def system_rows(bench: Mapping[str, Json]) -> list[SystemRow]:
    """One row a system that was asked about reactions with time and name given, the known ones first."""
    rows = []
    for system in ordered_systems(bench):
        scores = bench[system].get("tasks", {}).get(SHOWN_TASK)
        if scores is None:
            continue
        value = scores["balanced_accuracy"]["value"]
        low, high = scores["balanced_accuracy"]["ci95"] or (value, value)
        collapse = scores["collapse"]
        rows.append(
            SystemRow(
                system=system,
                n=str(scores["n"]),
                balanced=percent(value),
                interval=f"{percent(low)} to {percent(high)}" if scores["balanced_accuracy"]["ci95"] else "none",
                recall=tuple(percent(scores["recall"][label]["value"]) for label in REACTIONS),
                unreadable=str(scores["unreadable"]),
                collapse=f"{collapse['top'] or 'none'}, {percent(collapse['top_share'])}",
                low=share(low),
                at=share(value),
                span=share(high - low),
            )
        )
    return rows


def unfinished(inputs: Inputs) -> list[Unfinished]:
    """Allocated scenes that did not become a file: the last attempt's reason, or what the speech stage says."""
    finished = {scene.scene_id for scene in inputs.scenes}
    speech = {scene.scene_id: scene.failure for scene in inputs.speech if scene.failure}
    rows = []
    for scene in inputs.allocated:
        if scene.scene_id in finished:
            continue
        attempts = [attempt for attempt in inputs.attempts if attempt.scene_id == scene.scene_id]
        if scene.scene_id in speech:
            rows.append(Unfinished(scene.scene_id, "speech", "failed", speech[scene.scene_id], len(attempts)))
        elif not attempts:
            rows.append(Unfinished(scene.scene_id, "dialogues", "no attempt", "", 0))
        elif any(attempt.reason == "accepted" for attempt in attempts):
            rows.append(Unfinished(scene.scene_id, "after dialogues", "accepted but not mixed", "", len(attempts)))
        else:
            last = attempts[-1]
            rows.append(Unfinished(scene.scene_id, "dialogues", last.reason, last.detail, len(attempts)))
    return rows


def reasons(inputs: Inputs) -> list[tuple[str, int]]:
    """How many attempts ended for each reason, the most frequent first."""
    counts = Counter(attempt.reason for attempt in inputs.attempts)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def licences(inputs: Inputs) -> list[Licences]:
    """Takes counted by source, licence and author."""
    counts = Counter((take.source, take.licence, take.author) for take in inputs.takes)
    return [Licences(*key, takes) for key, takes in sorted(counts.items())]


def model_rows(models: Json) -> list[dict[str, str]]:
    """Name, kind, licence and official source of every model of models.json, whatever else the file says."""
    entries = models.get("models", models) if isinstance(models, Mapping) else models
    entries = list(entries.values()) if isinstance(entries, Mapping) else entries or []
    wanted = ("id", "name", "kind", "licence", "repository", "revision")
    return [{key: plain(entry.get(key)) for key in wanted} for entry in entries if isinstance(entry, Mapping)]


def answers_by_event(inputs: Inputs, scene_id: str) -> dict[int, list[tuple[str, str, bool]]]:
    """For each event of a scene: (system, how it says the speakers react, whether it is right), time and name given."""
    items = {item.item_id: item for item in inputs.items if item.scene_id == scene_id}
    rows: dict[int, list[tuple[str, str, bool]]] = {}
    for system in ordered_systems(inputs.answers):
        for answer in inputs.answers[system]:
            item = items.get(answer.item_id)
            if item is not None and item.event is not None and not answer.repeat:
                right = answer.choice == item.answer
                rows.setdefault(item.event, []).append((system, answer.choice or answer.status, right))
    return rows


def ordered_systems(systems: Mapping[str, object]) -> list[str]:
    """Names of systems, the controls first."""
    known = [system for system in SYSTEM_ORDER if system in systems]
    return known + sorted(set(systems) - set(known))
