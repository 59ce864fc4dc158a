"""A scene's timeline as plain shapes; positions are exact hundredths of a unit of the picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from cares.core.pcm import SAMPLE_RATE
from cares.records.timeline import MixedScene, PlacedEvent, PlacedGap
from cares.report.script import clock

LEFT = 70
WIDTH = 1000


class Box(NamedTuple):
    """A horizontal stretch: left edge and width in picture units, a style class and a text for people."""

    x: str
    width: str
    style: str
    title: str


class Mark(NamedTuple):
    """A text at a place; `anchor` is the side of the text that stands there."""

    x: str
    text: str
    anchor: str
    row: int
    style: str


class Picture(NamedTuple):
    """What the timeline template draws, lane by lane."""

    turns: dict[str, list[Box]]
    words: dict[str, list[Box]]
    events: list[Box]
    names: list[Mark]
    gaps: list[Box]
    ticks: list[Mark]


def timeline_picture(scene: MixedScene, gaps: Sequence[PlacedGap], names: dict[str, str]) -> Picture:
    """The lanes of one scene: turns and words of both speakers, sounds by label, and gaps if they are known."""
    total = scene.n_samples
    spans: dict[str, list[Box]] = {"A": [], "B": []}
    words: dict[str, list[Box]] = {"A": [], "B": []}
    for (speaker, turn), group in groupby(scene.words, key=lambda word: (word.speaker, word.turn)):
        run = list(group)
        start, end = min(word.start_sample for word in run), max(word.end_sample for word in run)
        spans[speaker].append(_box(start, end, total, "turn", f"turn {turn + 1}, {clock(start)} to {clock(end)}"))
        words[speaker].extend(
            _box(word.start_sample, word.end_sample, total, "word", f"{word.word} ({clock(word.start_sample)})")
            for word in run
        )
    step = next(step for step in (5, 10, 20, 30, 60) if total <= 15 * step * SAMPLE_RATE or step == 60)
    seconds = range(0, total // SAMPLE_RATE + 1, step)
    return Picture(
        turns=spans,
        words=words,
        events=[
            _box(
                e.start_sample,
                e.end_sample,
                total,
                e.reaction,
                f"{names[e.sound]}, {e.reaction}, {clock(e.start_sample)}",
            )
            for e in scene.events
        ],
        names=[_name(event, number, total, names[event.sound]) for number, event in enumerate(scene.events)],
        gaps=[
            _box(gap.start_sample, gap.end_sample, total, gap.kind, f"{gap.kind} gap, {clock(gap.start_sample)}")
            for gap in gaps
        ],
        ticks=[Mark(_x(s * SAMPLE_RATE, total), f"{s // 60}:{s % 60:02d}", "middle", 0, "tick") for s in seconds],
    )


def share(value: float) -> str:
    """The place of a share in [0, 1] on a picture's width."""
    return units(round(value * WIDTH * 100))


def _name(event: PlacedEvent, number: int, total: int, name: str) -> Mark:
    late = event.start_sample * 4 > total * 3
    at = event.end_sample if late else event.start_sample
    return Mark(_x(at, total), f"{name} ({event.reaction})", "end" if late else "start", number % 2, event.reaction)


def _box(start: int, end: int, total: int, style: str, title: str) -> Box:
    return Box(_x(start, total), units((end - start) * WIDTH * 100 // total), style, title)


def _x(sample: int, total: int) -> str:
    return units(LEFT * 100 + sample * WIDTH * 100 // total)


def units(hundredths: int) -> str:
    """Hundredths of a picture's unit as a decimal number, such as "12.05"."""
    return f"{hundredths // 100}.{hundredths % 100:02d}"
