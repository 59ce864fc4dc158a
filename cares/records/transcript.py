"""What a recogniser heard in a finished scene, and how sounds are set among words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from cares.core.record import Record
from cares.records.bank import Sha256
from cares.records.names import Name
from cares.records.timeline import Sample


class HeardWord(Record):
    """A recognised word, in samples from the start of the mix."""

    word: str
    start_sample: Sample
    end_sample: Sample


class Transcript(Record):
    """One line of transcripts.jsonl: a whole mix as a recogniser heard it."""

    scene_id: Name
    audio_sha256: Sha256
    recogniser: str
    words: tuple[HeardWord, ...]


class _Span(Protocol):
    @property
    def start_sample(self) -> int: ...
    @property
    def end_sample(self) -> int: ...


class _Placed(_Span, Protocol):
    @property
    def gap_start(self) -> int: ...


W = TypeVar("W", bound=_Span)
E = TypeVar("E", bound=_Placed)


def as_talked(words: Sequence[W], sounds: Sequence[E]) -> list[W | E]:
    """Words and sounds in one sequence: words turn by turn, and a sound where its gap in the talk begins.

    That is before the first word whose middle does not lie before the gap. The sound itself may begin a little earlier,
    over the last word that it does not interrupt. Words keep the order in which they are given: where one speaker
    begins before the other has ended, each turn stays whole.
    """
    merged: list[W | E] = []
    waiting = sorted(sounds, key=lambda sound: sound.gap_start)
    for word in words:
        while waiting and word.start_sample + word.end_sample >= 2 * waiting[0].gap_start:
            merged.append(waiting.pop(0))
        merged.append(word)
    return [*merged, *waiting]
