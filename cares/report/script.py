"""A finished scene as turns of words with the sounds at their places, for pages and for the terminal."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from cares.core.pcm import SAMPLE_RATE
from cares.records.scene import Speaker
from cares.records.timeline import MixedScene, PlacedEvent, PlacedWord
from cares.records.transcript import as_talked


class Piece(NamedTuple):
    """A run of words, or a sound."""

    text: str
    event: PlacedEvent | None


class ScriptTurn(NamedTuple):
    """One turn; `start_sample` is that of its first word."""

    speaker: Speaker
    start_sample: int
    pieces: tuple[Piece, ...]


def script(scene: MixedScene) -> list[ScriptTurn]:
    """The turns of a scene in time order; a sound is part of the turn that its record names."""
    turns = []
    for turn in sorted({word.turn for word in scene.words}):
        words = [word for word in scene.words if word.turn == turn]
        events = [event for event in scene.events if event.turn == turn]
        pieces: list[Piece] = []
        for is_word, run in groupby(as_talked(words, events), key=lambda part: isinstance(part, PlacedWord)):
            if is_word:
                pieces.append(Piece(" ".join(part.word for part in run if isinstance(part, PlacedWord)), None))
            else:
                pieces.extend(Piece("", part) for part in run if isinstance(part, PlacedEvent))
        first = min(word.start_sample for word in words)
        turns.append(ScriptTurn(words[0].speaker, first, tuple(pieces)))
    return sorted(turns, key=lambda turn: turn.start_sample)


def clock(sample: int) -> str:
    """The time of a sample for people: minutes, seconds and tenths, such as "0:07.3" (rounded half up)."""
    minutes, tenths = divmod(_tenths(sample), 600)
    return f"{minutes}:{tenths // 10:02d}.{tenths % 10}"


def duration(samples: int) -> str:
    """A length for people, such as "42.2 s" or "2 min 7.3 s" (rounded half up)."""
    minutes, tenths = divmod(_tenths(samples), 600)
    seconds = f"{tenths // 10}.{tenths % 10} s"
    return f"{minutes} min {seconds}" if minutes else seconds


def _tenths(sample: int) -> int:
    return (sample * 10 + SAMPLE_RATE // 2) // SAMPLE_RATE


def decibels(hundredths: int) -> str:
    """A level in hundredths of a decibel for people, such as "-23.00"."""
    sign = "-" if hundredths < 0 else ""
    return f"{sign}{abs(hundredths) // 100}.{abs(hundredths) % 100:02d}"
