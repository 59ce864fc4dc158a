"""Tables of the page "Speech": quality control, breaks, alignment and word error rates, as the metrics have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.report.inputs import Inputs
from cares.report.tables import percent, plain

SPREAD = ("lowest", "p5", "median", "p95", "highest")
SPREADS = {
    "letters_per_s": "pace, letters a second without pauses",
    "longest_pause_ms": "longest pause inside an utterance, ms",
    "likeness_of_a_speakers_utterances": "likeness of an utterance to its speaker's others, cosine",
    "likeness_of_two_speakers": "likeness of a scene's two speakers, cosine",
}
GROUPS = {
    "pauses_and_pitch": "pauses and pitch",
    "pauses": "pauses alone",
    "pitch": "pitch alone",
    "cut": "how the last word ends",
    "repetition": "words said again",
    "all": "all of these",
}
MEASURES = {
    "pauses": "pauses after the sound",
    "longest_pause_s": "longest of them, s",
    "pause_at_turn_end_s": "pause at the end of the turn, s",
    "fall_before_st": "fall of the pitch before the sound, semitones",
    "fall_rate_st_per_s": "its slope, semitones a second",
    "reset_st": "step of the pitch over the sound, semitones",
    "begins_like_turn_st": "distance from the turn's first pitch, semitones",
    "last_word_stretch": "length of the last word over the turn's pace, logarithm",
    "energy_slope_db_per_s": "slope of the level before the sound, dB/s",
    "level_step_db": "step of the level over the sound, dB",
    "said_again": "nearness of what follows to what was said",
}
TIMING = ("median_ms", "p95_ms", "bias_ms")
HEARD = {"dry": "dry voices", "mix": "mix"}


class Row(NamedTuple):
    """A line of a table: its name and its cells."""

    name: str
    cells: tuple[str, ...]


class Figures(NamedTuple):
    """All tables; an empty one belongs to a file of `missing`, or to figures that an earlier build did not write."""

    counts: tuple[Row, ...]
    faults: tuple[Row, ...]
    spreads: tuple[Row, ...]
    turns: tuple[Row, ...]
    areas: tuple[Row, ...]
    registers: tuple[Row, ...]
    measures: tuple[Row, ...]
    alignment: tuple[Row, ...]
    timing: tuple[Row, ...]
    wer: tuple[Row, ...]
    missing: tuple[str, ...]


def figures(inputs: Inputs) -> Figures:
    """The tables of a build.

    Raises:
        InputError: a metrics file lacks a figure that its stage always writes.
    """
    names = ("speech", "breaks", "alignment", "wer")
    speech, breaks, alignment, wer = (_Table(name, inputs.metrics.get(name)) for name in names)
    return Figures(
        counts=_counts(speech),
        faults=tuple(Row(name, (plain(count),)) for name, count in speech.optional("faults").items()),
        spreads=tuple(
            Row(title, tuple(plain(speech.optional(name)[share]) for share in SPREAD))
            for name, title in SPREADS.items()
            if speech.optional(name)
        ),
        turns=_turns(breaks),
        areas=_areas(breaks),
        registers=_registers(breaks),
        measures=_measures(breaks),
        alignment=_alignment(alignment),
        timing=_timing(alignment),
        wer=_wer(wer),
        missing=tuple(f"metrics/{name}.json" for name in names if name not in inputs.metrics),
    )


class _Table:
    """A metrics file, or nothing where it is not there."""

    def __init__(self, name: str, content: Json) -> None:
        self.file, self.content = f"metrics/{name}.json", content
        if content is not None and not isinstance(content, Mapping):
            raise InputError(self.file, "", content, "an object")

    def __bool__(self) -> bool:
        return self.content is not None

    def optional(self, name: str) -> Json:
        """A table of the file, empty where it is not there."""
        found = (self.content or {}).get(name) or {}
        if not isinstance(found, Mapping):
            raise InputError(self.file, name, found, "an object")
        return found

    def need(self, *path: str) -> Json:
        """A figure by its path; InputError where a step of it is not there."""
        found = self.content
        for place, name in enumerate(path):
            if not isinstance(found, Mapping) or name not in found:
                where = ".".join(path[: place + 1])
                raise InputError(self.file, where, "nothing", "a figure", "Make the file again with `dvc repro`.")
            found = found[name]
        return found


def _counts(speech: _Table) -> tuple[Row, ...]:
    names = {
        "utterances": "utterances",
        "utterances_spoken_again": "of them spoken again",
        "tries": "tries in all",
        "scenes": "scenes",
        "failed_scenes": "of them without speech",
        "scenes_with_other_voices": "spoken by other voices than the first",
    }
    return tuple(Row(title, (plain(speech.need(name)),)) for name, title in names.items()) if speech else ()


def _areas(breaks: _Table) -> tuple[Row, ...]:
    """A row for each group of measures, and for the two that are judged so by voices that the model has not heard."""
    rows = []
    for name, title in GROUPS.items() if breaks else ():
        told = {heard: breaks.need(heard, "told_apart", name) for heard in HEARD}
        rows.append(Row(title, tuple(_area(breaks, heard, "told_apart", name) for heard in HEARD)))
        if all("other_voices" in found for found in told.values()):
            cells = tuple(_number(found["other_voices"]) for found in told.values())
            rows.append(Row(f"{title}, of voices not learnt from", cells))
    return tuple(rows)


def _area(breaks: _Table, *path: str) -> str:
    area, interval = breaks.need(*path, "auc"), breaks.need(*path, "ci95")
    if area is None:
        return plain(breaks.need(*path).get("note") or "none")
    return _number(area) + (f" ({interval[0]:.3f} to {interval[1]:.3f})" if interval else "")


def _number(area: float | None) -> str:
    return "none" if area is None else f"{area:.3f}"


def _turns(breaks: _Table) -> tuple[Row, ...]:
    if not breaks:
        return ()
    labels = ("behavioral", "ambient")
    return tuple(
        Row(
            title,
            (*(plain(breaks.need(heard, "turns", label)) for label in labels), plain(breaks.need(heard, "voices"))),
        )
        for heard, title in HEARD.items()
    )


def _registers(breaks: _Table) -> tuple[Row, ...]:
    """By register: turns, then the area by all measures, dry and in the mix."""
    if not breaks:
        return ()
    tables = {heard: breaks.need(heard, "told_apart", "all").get("by_register") or {} for heard in HEARD}
    rows = []
    for register in sorted(set().union(*tables.values())):
        found = [table.get(register) for table in tables.values()]
        turns = max(row["turns"] for row in found if row)
        rows.append(Row(register, (plain(turns), *(_number(row["auc"] if row else None) for row in found))))
    return tuple(rows)


def _measures(breaks: _Table) -> tuple[Row, ...]:
    """The middle of every measure: of breaks and of ambient turns, dry; then the same of the mix."""
    if not breaks:
        return ()
    tables = [breaks.need(heard, "medians") for heard in HEARD]
    names = [name for name in MEASURES if all(name in table for table in tables)]
    return tuple(
        Row(MEASURES[name], tuple(plain(table[name][label]) for table in tables for label in ("behavioral", "ambient")))
        for name in names
    )


def _alignment(alignment: _Table) -> tuple[Row, ...]:
    if not alignment:
        return ()
    return (
        Row("words", (plain(alignment.need("words")),)),
        Row("without a time of their own", (percent(alignment.need("interpolated_share")),)),
        Row("mean confidence", (plain(alignment.need("mean_confidence")),)),
    )


def _timing(alignment: _Table) -> tuple[Row, ...]:
    """By engine, for starts and ends of words: number, median, 95th percentile and bias of the differences in ms."""
    rows = []
    for engine, found in sorted(alignment.optional("against_engine_timing").items()):
        for part in ("starts", "ends"):
            values = [alignment.need("against_engine_timing", engine, part, key) for key in ("n", *TIMING)]
            rows.append(Row(f"{engine}, {part} of words", (plain(found.get("utterances")), *map(plain, values))))
    return tuple(rows)


def _wer(wer: _Table) -> tuple[Row, ...]:
    if not wer:
        return ()
    rows = []
    for heard, title in HEARD.items():
        found = wer.need(heard)
        interval = found.get("ci95")
        told = f"{percent(interval[0])} to {percent(interval[1])}" if interval else "none"
        rows.append(Row(title, (percent(wer.need(heard, "word_error_rate")), told, plain(found.get("words")))))
    return tuple(rows)
