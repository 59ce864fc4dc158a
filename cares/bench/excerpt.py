"""The transcript that is shown with a question to a system that cannot hear.

Lines have times, in the form of the question, where the question tells a time; elsewhere they would only cost tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from cares.bench.questions import clock
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE
from cares.records.item import Item
from cares.records.timeline import MixedScene, PlacedEvent, PlacedWord
from cares.records.transcript import HeardWord, as_talked

W = TypeVar("W", PlacedWord, HeardWord)
PAUSE_S = 0.6
LINE_WORDS = 12
QUESTIONED = "(the sound in question)"


def true_transcript(scene: MixedScene, item: Item, names: Mapping[str, str], context_s: float, marked: bool) -> str:
    """The true words, one line a turn: "S1: ...", and if `marked` every sound: "(sound: dog bark)".

    A sound inside a turn stands between two lines of it. The recording that lacks a sound (the muted half of a pair)
    has no mark of it. The speakers are S1 and S2, because A and B would be read as the letters of the options. Where
    the question tells a time, only what lies within `context_s` seconds of it is shown.

    Raises:
        InputError: a sound that `names` does not hold.
    """
    muted = item.event if item.task == "grounding" and item.level == "muted" else None
    events = [event for event in scene.events if event.event != muted] if marked else []
    speakers = {word.turn: word.speaker for word in scene.words}
    lines: list[str] = []
    turn: int | None = None
    for piece in as_talked(_shown(scene.words, item, context_s), _shown_events(events, item, context_s)):
        if isinstance(piece, PlacedEvent):
            if piece.sound not in names:
                where = f"{scene.scene_id}.events.{piece.event}.sound"
                raise InputError("scenes.jsonl", where, piece.sound, "a catalog sound")
            lines.append(f"{_stamp(item, piece.start_sample)}(sound: {names[piece.sound]})")
            turn = None
            continue
        if piece.turn != turn:
            turn = piece.turn
            lines.append(f"{_stamp(item, piece.start_sample)}S{'AB'.index(speakers[turn]) + 1}:")
        lines[-1] += f" {piece.word}"
    return "\n".join(lines)


def heard_transcript(words: Sequence[HeardWord], item: Item, context_s: float) -> str:
    """Recognised words: a new line after a pause of 0.6 s, or after twelve words.

    Where the question tells the time of a sound, "(the sound in question)" stands at that time: nothing that the
    question does not tell.
    """
    lines: list[list[str]] = []
    at = item.time_ms * SAMPLE_RATE // 1000 if tells_time(item) and item.time_ms is not None else None
    end = None
    for word in sorted(_shown(words, item, context_s), key=lambda word: (word.start_sample, word.end_sample)):
        if at is not None and word.start_sample + word.end_sample >= 2 * at:
            lines.append([_stamp(item, at) + QUESTIONED])
            at, end = None, None
        if end is None or word.start_sample - end >= PAUSE_S * SAMPLE_RATE or len(lines[-1]) >= LINE_WORDS:
            lines.append([_stamp(item, word.start_sample) + word.word])
        else:
            lines[-1].append(word.word)
        end = word.end_sample
    if at is not None:
        lines.append([_stamp(item, at) + QUESTIONED])
    return "\n".join(" ".join(line) for line in lines)


def tells_time(item: Item) -> bool:
    """Whether the question itself tells when its sound is heard."""
    return item.task == "reactions" and item.level in ("time", "time_and_name")


def _shown(words: Sequence[W], item: Item, context_s: float) -> list[W]:
    first, last = _window(item, context_s)
    return [word for word in words if word.end_sample > first and word.start_sample < last]


def _shown_events(events: Sequence[PlacedEvent], item: Item, context_s: float) -> list[PlacedEvent]:
    first, last = _window(item, context_s)
    return [event for event in events if event.end_sample > first and event.start_sample < last]


def _window(item: Item, context_s: float) -> tuple[float, float]:
    if not tells_time(item) or item.time_ms is None:
        return float("-inf"), float("inf")
    at, reach = item.time_ms * SAMPLE_RATE / 1000, context_s * SAMPLE_RATE
    return at - reach, at + reach


def _stamp(item: Item, sample: int) -> str:
    """The time before a line, if the question tells one: "[0:07.1] "."""
    return f"[{clock((sample * 1000 + SAMPLE_RATE // 2) // SAMPLE_RATE)}] " if tells_time(item) else ""
