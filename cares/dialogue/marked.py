"""Transcripts with their sounds marked: what an evaluator reads, whoever wrote them.

A transcript is a sequence of pieces in time order. A piece is something said by one speaker or the place of a sound. A
sound inside a turn stands between two pieces of the same speaker. The labels are not in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from cares.core.record import Record
from cares.records.dialogue import Turn
from cares.records.scene import Speaker


class Said(Record):
    """Words of one speaker between two sounds, or a whole turn."""

    speaker: Speaker
    text: Annotated[str, Field(min_length=1)]


class Heard(Record):
    """The place of a sound; `event` is its index in the scene's events, or its order in a probe.

    `sound` is an id of the catalog, or any other name without spaces.
    """

    sound: Annotated[str, Field(pattern=r"^\S+$")]
    event: Annotated[int, Field(ge=0)]


Piece = Said | Heard
Pieces = tuple[Piece, ...]


@dataclass(frozen=True)
class Around:
    """What is said around one sound.

    Attributes:
        heard: the sound.
        earlier: whole turns before the turn of the sound, the latest last.
        tail: what the speaker said in the turn of the sound before it; "" when the turn begins with the sound.
        after: the first words after the sound, up to the next sound or the end of the turn.
        later: the turns after that, at most three, up to the next sound.
        beyond: whole turns after the first two of `later`, to the end of the talk.
        resumes: whether the speaker before the sound is the speaker after it.
    """

    heard: Heard
    earlier: tuple[str, ...]
    tail: str
    after: str
    later: tuple[str, ...]
    beyond: tuple[str, ...]
    resumes: bool


def from_turns(turns: Sequence[Turn], sounds: Sequence[str]) -> Pieces:
    """The pieces of written turns; `sounds` are the ids of the scene's events, by event index.

    Utterances of a turn with no sound between them are one piece: a pause is nothing that is read.

    Raises:
        IndexError: a segment's event is not among `sounds`.
    """
    pieces: list[Piece] = []
    for turn in turns:
        words: list[str] = []
        for segment in turn.segments:
            if segment.event is None:
                words.append(segment.text)
                continue
            if words:
                pieces.append(Said(speaker=turn.speaker, text=" ".join(words)))
            pieces.append(Heard(sound=sounds[segment.event], event=segment.event))
            words = []
        if words:
            pieces.append(Said(speaker=turn.speaker, text=" ".join(words)))
    return tuple(pieces)


def spoken_turns(pieces: Pieces) -> list[str]:
    """The words of each turn, sounds left out: consecutive pieces of one speaker are one turn."""
    turns: list[str] = []
    last: Speaker | None = None
    for piece in pieces:
        if isinstance(piece, Said):
            if piece.speaker == last:
                turns[-1] = f"{turns[-1]} {piece.text}"
            else:
                turns.append(piece.text)
            last = piece.speaker
    return turns


def around(pieces: Pieces, place: int) -> Around:
    """What is said around the sound at index `place` of `pieces`; TypeError when no sound is there."""
    heard = pieces[place]
    if not isinstance(heard, Heard):
        raise TypeError(f"piece {place} is no sound")
    before = [piece for piece in pieces[:place] if isinstance(piece, Said)]
    after = list(pieces[place + 1 :])
    while after and isinstance(after[0], Heard):
        after.pop(0)
    first = after[0] if after else None
    assert first is None or isinstance(first, Said)
    tail = before[-1:]
    while tail and len(tail) < len(before) and before[-len(tail) - 1].speaker == tail[0].speaker:
        tail = before[-len(tail) - 1 :]
    later = _later(after[1:], first)
    following = spoken_turns(tuple(piece for piece in after if isinstance(piece, Said)))
    return Around(
        heard=heard,
        earlier=tuple(spoken_turns(tuple(before[: len(before) - len(tail)]))),
        tail=" ".join(piece.text for piece in tail),
        after=first.text if first else "",
        later=later,
        beyond=tuple(following[1 + min(2, len(later)) :]),
        resumes=bool(tail) and first is not None and tail[-1].speaker == first.speaker,
    )


def _later(pieces: Sequence[Piece], first: Said | None) -> tuple[str, ...]:
    """Up to three turns after the piece `first` and what its speaker goes on to say, up to the next sound."""
    kept: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Heard):
            break
        kept.append(piece)
    if first is not None and kept and isinstance(kept[0], Said) and kept[0].speaker == first.speaker:
        kept = kept[1:]
    return tuple(spoken_turns(tuple(kept))[:3])
