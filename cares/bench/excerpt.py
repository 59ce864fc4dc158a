"""The piece of transcript that is shown with a question, with the sound marked at its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from cares.core.pcm import SAMPLE_RATE
from cares.records.item import Item
from cares.records.timeline import MixedScene, PlacedEvent, PlacedWord
from cares.records.transcript import HeardWord, in_time_order

W = TypeVar("W", PlacedWord, HeardWord)


def marked_speech(scene: MixedScene, item: Item, context_s: float) -> str:
    """The true words around the item's sound, one line a turn ("S1: ... [SOUND] ..."); no other sound is marked.

    The speakers are S1 and S2, because A and B would be read as the letters of the options.
    """
    event = next(event for event in scene.events if event.event == item.event)
    speakers = {word.turn: word.speaker for word in scene.words}
    lines: list[str] = []
    turn = -1
    for piece in in_time_order(_near(scene.words, event, context_s), [event]):
        if piece.turn != turn:
            turn = piece.turn
            lines.append(f"S{'AB'.index(speakers[turn]) + 1}:")
        lines[-1] += " " + (piece.word if isinstance(piece, PlacedWord) else "[SOUND]")
    return "\n".join(lines)


def marked_hearing(words: Sequence[HeardWord], event: PlacedEvent, context_s: float) -> str:
    """Recognised words around the sound, on one line, with [SOUND] at its place."""
    pieces = in_time_order(_near(words, event, context_s), [event])
    return " ".join(piece.word if isinstance(piece, HeardWord) else "[SOUND]" for piece in pieces)


def _near(words: Sequence[W], event: PlacedEvent, context_s: float) -> list[W]:
    reach = round(context_s * SAMPLE_RATE)
    first, last = event.start_sample - reach, event.end_sample + reach
    return [word for word in words if word.end_sample > first and word.start_sample < last]
