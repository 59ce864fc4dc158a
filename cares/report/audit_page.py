"""The page about leaks: what tells a label besides the reaction, and every measurement's distribution by label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from cares.core.canonical import Json
from cares.records.scene import REACTIONS
from cares.report.inputs import Inputs
from cares.report.pages import Page, Tools
from cares.report.tables import percent, plain

VIEWS = {
    "": "the sound, its gap and the levels around it",
    "from_sound_by_trees": "the same, by a random forest",
    "with_rare_sounds": "the same, rare sounds among them",
    "from_talk": "how the turn around it is spoken",
    "from_scene": "how many sounds the scene has, and which this is",
    "from_all_measured": "all that can be measured in the file",
    "from_annotation": "its place to the sample, as the annotation has it",
    "from_sound_identity": "which sound it is",
    "from_transcript": "the words of its turn and the next",
}
# what a measurement is called, and its unit
NAMES = {
    "heard_gap_s": ("from the last word to the next one", "s"),
    "length_s": ("length of the sound", "s"),
    "place": ("place in the scene", "0 start, 1 end"),
    "words_over_s": ("words under the sound", "s"),
    "pause_before_s": ("from the last word to the sound", "s"),
    "pause_after_s": ("from the sound to the next word", "s"),
    "level_db": ("level while it sounds", "dBFS"),
    "crest_db": ("peak over level", "dB"),
    "gap_level_db": ("level in the gap", "dBFS"),
    "gap_floor_db": ("quietest 50 ms of the gap", "dBFS"),
    "ambience_db": ("level of the ambience", "dBFS"),
    "margin_db": ("level over the ambience", "dB"),
    "level_before_db": ("level before the sound", "dBFS"),
    "level_after_db": ("level after the sound", "dBFS"),
    "onset_step_db": ("rise where it starts", "dB"),
    "overlap_step_db": ("over speech against in the gap", "dB"),
    "end_step_db": ("rise where it ends", "dB"),
    "log_centroid": ("mean frequency", "log10 Hz"),
    "into_turn_s": ("from the turn's start to the gap", "s"),
    "rest_of_turn_s": ("from the gap to the turn's end", "s"),
    "words_per_s_before": ("pace before", "words/s"),
    "words_per_s_after": ("pace after", "words/s"),
    "spoken_before": ("share of speech before", "0 to 1"),
    "spoken_after": ("share of speech after", "0 to 1"),
    "last_word_s": ("length of the last word", "s"),
    "next_word_s": ("length of the next word", "s"),
    "last_word_db": ("last word over those before", "dB"),
    "next_word_db": ("next word over those after", "dB"),
    "voice_step_db": ("voice after over before", "dB"),
    "sounds_in_scene": ("sounds in the scene", "count"),
    "order": ("sounds before this one", "count"),
    "gap_s": ("length of the gap that was placed", "s"),
    "onset_before_gap_s": ("start of the sound before that gap", "s"),
    "end_after_gap_s": ("end of the sound after that gap", "s"),
}
ROW, BARS, LEFT = 30, 176, 78


class View(NamedTuple):
    """A line of the table of scores; `low`, `at`, `span` are places on a picture of 0 to 100."""

    name: str
    events: str
    score: str
    interval: str
    note: str
    low: str
    at: str
    span: str
    holds_chance: bool


class Bar(NamedTuple):
    """One bin of one label: left edge and height in picture units, and a text for people."""

    x: str
    height: str
    title: str


class Panel(NamedTuple):
    """A measurement's distribution: a row of bars a label, the ends of the axis, and the whole in words."""

    title: str
    unit: str
    low: str
    high: str
    width: str
    rows: tuple[tuple[str, tuple[Bar, ...]], ...]
    text: str


class CorpusRow(NamedTuple):
    """A made-up corpus: how it was made, its scores and what gives the labels away."""

    name: str
    made: str
    views: list[View]
    given_away: tuple[str, ...]
    panels: list[Panel]


def audit_page(inputs: Inputs, tools: Tools) -> Page:
    """The page: the data set's own audit, then the corpora."""
    metrics, figures = inputs.metrics.get("audit"), inputs.audit
    body = tools.fragment(
        "audit.html.jinja",
        metrics=metrics or {},
        views=views(metrics) if metrics else [],
        panels=panels(_bins(figures.bins)),
        features=[_feature_cells(row) for row in figures.features],
        corpora=[corpus_row(name, result) for name, result in figures.corpora.items()],
        ROW=ROW,
        LEFT=LEFT,
        BARS=BARS,
    )
    return Page("audit.html", "Leakage audit", body)


def views(result: Json) -> list[View]:
    """A line for each thing that a classifier may look at."""
    found = []
    for key, name in VIEWS.items():
        figures = result if not key else result.get(key)
        if figures is None or "balanced_accuracy" not in figures:
            continue
        events, note = plain(figures.get("n_events")), figures.get("note") or ""
        if figures["balanced_accuracy"] is None or figures["ci95"] is None:
            found.append(View(name, events, "none", "none", note, "0", "0", "0", True))
            continue
        low, high = figures["ci95"]
        places = (f"{100 * low:.1f}", f"{100 * figures['balanced_accuracy']:.1f}", f"{100 * (high - low):.1f}")
        interval = f"{percent(low)} to {percent(high)}"
        score = percent(figures["balanced_accuracy"])
        found.append(View(name, events, score, interval, note, *places, low <= 0.25 <= high))
    return found


def panels(bins: Mapping[str, Json]) -> list[Panel]:
    """The distributions as pictures, in the order of `NAMES`."""
    order = [name for name in NAMES if name in bins] + sorted(set(bins) - set(NAMES))
    return [_panel(name, bins[name]["edges"], bins[name]["counts"]) for name in order]


def corpus_row(name: str, result: Json) -> CorpusRow:
    """One corpus, from the file that `cares audit --corpus` wrote."""
    params = result.get("params", {})
    changed = ", ".join(params.get("changed", [])) or "params.yaml as it was"
    made = (
        f"{result['corpus']['scenes']} scenes of {result['corpus']['seconds']['mean']} s, "
        f"{result['n_events']} sounds; lengths of turns: {result['corpus']['lengths']}; {changed}"
    )
    away = tuple(NAMES.get(row["name"], (row["name"], ""))[0] for row in result["features"] if row["gives_away"])
    return CorpusRow(name, made, views(result), away, panels(result.get("distributions", {})))


def _panel(name: str, edges: Sequence[float], counts: Mapping[str, Sequence[int]]) -> Panel:
    title, unit = NAMES.get(name, (name, ""))
    labels = [label for label in REACTIONS if sum(counts.get(label, ()))]
    shares = {label: [count / sum(counts[label]) for count in counts[label]] for label in labels}
    highest = max((share for row in shares.values() for share in row), default=1.0)
    width = BARS / max(1, len(edges) - 1)
    rows = []
    for label in labels:
        bars = tuple(
            Bar(
                f"{LEFT + place * width:.2f}",
                f"{(ROW - 5) * share / highest:.2f}",
                f"{label}: {percent(share)} from {edges[place]:.3g} to {edges[place + 1]:.3g} {unit}",
            )
            for place, share in enumerate(shares[label])
            if share
        )
        rows.append((label, bars))
    middles = ", ".join(f"{label} {_median(edges, counts[label]):.3g}" for label in labels)
    text = f"{title} in {unit}, by label. Medians: {middles}"
    return Panel(title, unit, f"{edges[0]:.3g}", f"{edges[-1]:.3g}", f"{width - 0.6:.2f}", tuple(rows), text)


def _median(edges: Sequence[float], counts: Sequence[int]) -> float:
    """The middle of the bin that holds the median."""
    half, seen = sum(counts) / 2, 0
    for place, count in enumerate(counts):
        seen += count
        if seen >= half:
            return (edges[place] + edges[place + 1]) / 2
    return edges[-1]


def _bins(rows: Iterable[Mapping[str, str]]) -> dict[str, Json]:
    """Rows of audit_distributions.csv as edges and counts by measurement."""
    found: dict[str, Json] = {}
    for row in rows:
        table = found.setdefault(row["feature"], {"edges": [], "counts": {}})
        counts = table["counts"].setdefault(row["label"], [])
        if len(table["counts"]) == 1:
            table["edges"] += [float(row["low"])] if not counts else []
            table["edges"].append(float(row["high"]))
        counts.append(int(row["events"]))
    return found


def _feature_cells(row: Mapping[str, str]) -> tuple[str, ...]:
    name, unit = NAMES.get(row["feature"], (row["feature"], ""))
    aucs = [row.get(f"auc_{label}") or "none" for label in REACTIONS]
    return (f"{name}, {unit}", row["importance"], row["p"] or "none", *aucs, row.get("gives_away", ""))
