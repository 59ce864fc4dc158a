"""The page about words: how many dialogues were accepted of what kind, how varied they are, and twenty to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cares.core.canonical import Json
from cares.core.rng import KeyedRandom
from cares.records.dialogue import Attempt, Dialogue, Segment
from cares.records.scene import REACTIONS, Event, Scene
from cares.report.attempts import WrittenTurn, best_attempt, read_turns
from cares.report.inputs import Inputs
from cares.report.pages import Page, Tools
from cares.report.tables import percent, reasons

SHOWN = 20
MEASURES = {
    "distinct_1": "distinct-1: different words among all words",
    "distinct_2": "distinct-2: different pairs of words among all pairs",
    "distinct_3": "distinct-3: different triples of words among all triples",
    "self_bleu": "self-BLEU: how much a line resembles lines of other scenes, 0 to 100; less is more varied",
}


class Row(NamedTuple):
    """One line of a table of acceptance; `bar` is the share of first attempts in percent, for the picture."""

    name: str
    cells: tuple[str, ...]
    bar: str


class Part(NamedTuple):
    """Words, or a sound with its label."""

    words: str
    event: Event | None


class SpokenTurn(NamedTuple):
    """One turn of a dialogue."""

    speaker: str
    parts: tuple[Part, ...]


class Read(NamedTuple):
    """A dialogue to read; `page` says whether the scene has a page of its own."""

    dialogue: Dialogue
    scene: Scene
    turns: tuple[SpokenTurn, ...]
    page: bool


class Refused(NamedTuple):
    """A scene without a dialogue: how its attempts ended, most frequent first, and the one that came furthest."""

    scene: Scene
    attempts: int
    reasons: tuple[tuple[str, int], ...]
    best: Attempt | None
    turns: tuple[WrittenTurn, ...]


def words_page(inputs: Inputs, tools: Tools) -> Page:
    """The page, whatever is there of metrics, attempts and dialogues."""
    figures: Mapping[str, Json] = inputs.metrics.get("dialogues") or {}
    ends = [(reason, count) for reason, count in reasons(inputs) if reason != "accepted"]
    body = tools.fragment(
        "words.html.jinja",
        figures=figures,
        labels=event_rows(figures.get("labels", {}), REACTIONS),
        registers=event_rows(figures.get("registers", {})),
        compositions=composition_rows(figures.get("compositions", {})),
        within=within_rows(figures.get("accepted_within", {})),
        reasons=[(reason, count, percent_bar(count, ends[0][1])) for reason, count in ends],
        attempts=len(inputs.attempts),
        diversity=diversity_rows(figures.get("diversity", {})),
        repeats=inputs.repeats,
        read=drawn(inputs, tools),
        accepted=len(inputs.dialogues),
        refused=refused(inputs),
    )
    return Page("words.html", "Words", body)


def event_rows(table: Mapping[str, Mapping[str, int]], order: Sequence[str] = ()) -> list[Row]:
    """Rows of labels or registers: events, accepted, first attempts, and how often the label was recovered."""
    rows = []
    for name in [*(name for name in order if name in table), *sorted(set(table) - set(order))]:
        row = table[name]
        cells = (
            str(row["events"]),
            _share(row["accepted"], row["events"]),
            _share(row["first_accepted"], row["events"]),
            str(row["judged"]),
            _share(row["recovered"], row["judged"]),
        )
        rows.append(Row(name, cells, percent_bar(row["first_accepted"], row["events"])))
    return rows


def composition_rows(table: Mapping[str, Mapping[str, int]]) -> list[Row]:
    """Rows of compositions: scenes, accepted, first attempts, attempts for each scene."""
    return [
        Row(
            name.replace("-", ", "),
            (
                str(row["scenes"]),
                _share(row["accepted"], row["scenes"]),
                _share(row["first_accepted"], row["scenes"]),
                f"{row['attempts'] / row['scenes']:.1f}",
            ),
            percent_bar(row["first_accepted"], row["scenes"]),
        )
        for name, row in sorted(table.items())
    ]


def within_rows(table: Mapping[str, Mapping[str, float | None]]) -> list[Row]:
    """Rows of the cumulated acceptance: within k waves, and within k candidates."""
    waves, candidates = table.get("waves", {}), table.get("candidates", {})
    return [
        Row(k, (percent(waves[k]), percent(candidates.get(k))), percent_bar(waves[k] or 0.0, 1))
        for k in sorted(waves, key=int)
    ]


def diversity_rows(found: Mapping[str, Json]) -> list[Row]:
    """Rows of the variety of words: dialogues, probes, and the one over the other."""
    if not found:
        return []
    return [
        Row(title, tuple(_number(found[part][key]) for part in ("accepted", "probes", "ratio")), "0")
        for key, title in MEASURES.items()
    ]


def drawn(inputs: Inputs, tools: Tools) -> list[Read]:
    """Twenty of the accepted dialogues, drawn by the data set's seed, or all if there are fewer; in order of ids."""
    scenes = {scene.scene_id: scene for scene in inputs.allocated}
    known = sorted(
        (dialogue for dialogue in inputs.dialogues if dialogue.scene_id in scenes), key=lambda one: one.scene_id
    )
    chosen = KeyedRandom(tools.seed, "report_dialogues").sample(known, min(SHOWN, len(known)))
    return [
        Read(one, scenes[one.scene_id], spoken(one, scenes[one.scene_id]), one.scene_id in tools.scene_pages)
        for one in sorted(chosen, key=lambda one: one.scene_id)
    ]


def spoken(dialogue: Dialogue, scene: Scene) -> tuple[SpokenTurn, ...]:
    """The turns with their sounds; a sentence that is broken off ends in a dash, and dots stand for a pause."""
    return tuple(
        SpokenTurn(
            turn.speaker,
            tuple(
                Part(as_said(segment), None) if segment.event is None else Part("", scene.events[segment.event])
                for segment in turn.segments
            ),
        )
        for turn in dialogue.turns
    )


def as_said(segment: Segment) -> str:
    """A segment's words: a dash where they are broken off, dots for a pause before them."""
    text = f"{segment.text.rstrip(' -–—…')}—" if segment.delivery == "cut" else segment.text
    return f"… {text}" if segment.pause_ms else text


def refused(inputs: Inputs) -> list[Refused]:
    """Allocated scenes that have no accepted dialogue."""
    if not inputs.attempts:
        return []
    accepted = {dialogue.scene_id for dialogue in inputs.dialogues}
    accepted |= {attempt.scene_id for attempt in inputs.attempts if attempt.reason == "accepted"}
    rows = []
    for scene in inputs.allocated:
        if scene.scene_id not in accepted:
            attempts = [attempt for attempt in inputs.attempts if attempt.scene_id == scene.scene_id]
            rows.append(refusal(scene, attempts))
    return rows


def refusal(scene: Scene, attempts: Sequence[Attempt]) -> Refused:
    """What became of a refused scene's attempts."""
    ends = sorted(Counter(attempt.reason for attempt in attempts).items(), key=lambda pair: (-pair[1], pair[0]))
    best = best_attempt(attempts, scene) if attempts else None
    turns = read_turns(best.text) if best else None
    return Refused(scene, len(attempts), tuple(ends), best, tuple(turns or ()))


def percent_bar(part: float, whole: float) -> str:
    """The length of a bar in whole percent."""
    return str(round(100 * part / whole)) if whole else "0"


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else "none"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
