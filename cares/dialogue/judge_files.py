"""Transcripts of others, to be judged: one JSON object a line, and the verdicts in the same form.

In:  {"id": "x1", "turns": [{"speaker": "A", "text": "..."}, {"sound": "dog_bark"}, ...]}
Out: {"id": "x1", "reactions": [{"sound": "dog_bark", "label": "verbal", "scores": {...}}]}

A sound may have any name. One that the catalog knows, in whatever case and with spaces or hyphens, is read as that
sound; any other goes by its words.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.record import Record
from cares.dialogue.marked import Heard, Piece, Pieces, Said
from cares.records.dialogue import Verdict
from cares.records.scene import Speaker


class GivenTurn(Record):
    """Something said (speaker and text), or a sound, which falls where it stands."""

    speaker: Speaker | None = None
    text: str | None = None
    sound: Annotated[str, Field(max_length=200)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if self.sound is not None:
            if self.speaker is not None or self.text is not None:
                raise ValueError("either a sound, or a speaker with a text, not both")
            if not sound_id(self.sound):
                raise ValueError("a sound needs a name with a letter or a digit")
        elif self.speaker is None or self.text is None:
            raise ValueError('either {"sound": ...} or {"speaker": "A" or "B", "text": ...}')
        elif not self.text.strip():
            raise ValueError("a text needs words")
        return self


class GivenTranscript(Record):
    """One line of a file to be judged."""

    id: Annotated[str, Field(min_length=1)] | int
    turns: Annotated[tuple[GivenTurn, ...], Field(min_length=1)]

    @property
    def sounds(self) -> tuple[str, ...]:
        """The names of its sounds as they were given, in their order."""
        return tuple(turn.sound for turn in self.turns if turn.sound is not None)

    @property
    def pieces(self) -> Pieces:
        """The transcript as evaluators read it."""
        pieces: list[Piece] = []
        for turn in self.turns:
            if turn.sound is not None:
                event = sum(isinstance(piece, Heard) for piece in pieces)
                pieces.append(Heard(sound=sound_id(turn.sound), event=event))
            elif turn.speaker is not None and turn.text is not None:
                pieces.append(Said(speaker=turn.speaker, text=turn.text.strip()))
        return tuple(pieces)


def sound_id(name: str) -> str:
    """A sound's name in the form of an id, in any script: "Dog bark" is dog_bark; "" when nothing is left of it."""
    kept = (sign if unicodedata.category(sign)[0] in "LNM" else " " for sign in name.lower())
    return "_".join("".join(kept).split())


def read_transcripts(path: Path) -> list[GivenTranscript]:
    """All transcripts of a file. A byte order mark, Windows line ends and blank lines at the end are taken.

    Raises:
        InputError: the file is missing, empty or not UTF-8; a line is not valid JSON, has an unknown or repeated key or
            a wrong value; or an id occurs twice.
    """
    found: list[GivenTranscript] = []
    lines: dict[str, int] = {}
    for number, text in _lines(path):
        transcript = GivenTranscript.parse(_value(path, number, text), path, f"line {number}")
        key = json.dumps(transcript.id)
        if key in lines:
            raise InputError(path, f"line {number}.id", transcript.id, f"an id other than that of line {lines[key]}")
        lines[key] = number
        found.append(transcript)
    if not found:
        raise InputError(path, "", "no line", 'at least one line {"id": ..., "turns": [...]}')
    return found


def answer_line(transcript: GivenTranscript, verdicts: Sequence[Verdict]) -> Json:
    """The line that answers a transcript; sounds bear the names that they came with.

    `label` is null where nothing was recovered. `detail` and `votes` are there where an evaluator gives them.
    """
    reactions = []
    for name, verdict in zip(transcript.sounds, verdicts, strict=True):
        line: dict[str, Json] = {"sound": name, "label": verdict.label, "scores": verdict.scores}
        if verdict.detail:
            line["detail"] = verdict.detail
        if verdict.votes:
            line["votes"] = verdict.votes
        reactions.append(line)
    return {"id": transcript.id, "reactions": reactions}


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(path, "", "no such file", "a JSON Lines file of transcripts") from None
    except IsADirectoryError:
        raise InputError(path, "", "a folder", "a JSON Lines file of transcripts") from None
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", error.object[error.start], "UTF-8 text") from None
    yield from enumerate(text.rstrip().split("\n") if text.strip() else [], 1)


def _value(path: Path, number: int, text: str) -> Json:
    def once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        value = dict(pairs)
        if len(value) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(path, f"line {number}.{twice}", value[twice], "a key that occurs once")
        return value

    try:
        return json.loads(text, object_pairs_hook=once)
    except ValueError as error:
        raise InputError(path, f"line {number}", text[:80], f"valid JSON ({error})") from None
    except RecursionError:
        raise InputError(path, f"line {number}", text[:80], "JSON that is nested less deeply") from None
