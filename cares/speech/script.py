"""From a dialogue to the utterances that are spoken: which segments make one, and what is said aloud."""

from __future__ import annotations

from typing import NamedTuple

from cares.core.errors import CaresError
from cares.records.dialogue import Dialogue, Segment
from cares.records.scene import Speaker
from cares.records.speech import SpokenSegment
from cares.speech.spoken import UnspeakableError, has_words, spoken_words


class ScriptError(CaresError):
    """A dialogue that cannot be spoken; `reason` names the kind, the message says where."""

    def __init__(self, reason: str, where: str, what: str) -> None:
        super().__init__(f"{reason}: {where}: {what}")
        self.reason = reason


class Line(NamedTuple):
    """One utterance to speak.

    `text` is what is heard, as written; `aloud` are the words that the engine is given and `n_heard` how many of them
    are heard: all, unless the line is cut.
    """

    turn: int
    speaker: Speaker
    text: str
    segments: tuple[SpokenSegment, ...]
    aloud: tuple[str, ...]
    n_heard: int

    @property
    def cut(self) -> bool:
        """Whether the end of what the engine speaks is cut off."""
        return self.n_heard < len(self.aloud)

    @property
    def heard(self) -> tuple[str, ...]:
        """The words that a listener should hear."""
        return self.aloud[: self.n_heard]


def script(dialogue: Dialogue) -> list[Line]:
    """The utterances of a dialogue in order; a segment `joined` continues the utterance of the one before it.

    Raises:
        ScriptError: `nothing_to_say`, `unspeakable`, `bad_cut` (spoken_as does not go on after the words of the text)
            or `bad_join` (no plain segment before it in its turn).
    """
    lines: list[Line] = []
    for number, turn in enumerate(dialogue.turns):
        groups: list[list[tuple[int, Segment]]] = []
        for index, segment in enumerate(turn.segments):
            if segment.event is not None:
                continue
            if segment.delivery != "joined":
                groups.append([(index, segment)])
            elif groups and groups[-1][-1][1].delivery != "cut":
                groups[-1].append((index, segment))
            else:
                raise ScriptError("bad_join", f"turn {number}, segment {index}", "no plain segment to continue")
        lines += [_line(number, turn.speaker, group) for group in groups]
    if not lines:
        raise ScriptError("nothing_to_say", "dialogue", "it holds no words")
    return lines


def _line(turn: int, speaker: Speaker, group: list[tuple[int, Segment]]) -> Line:
    where = f"turn {turn}, segment {group[0][0]}"
    text = " ".join(segment.text.strip() for _, segment in group)
    for _, segment in group:
        if not _speakable(segment.text, where):
            raise ScriptError("nothing_to_say", where, f"{segment.text!r} has no words")
    heard = _words(text)
    first = group[0][1]
    aloud = _words(first.spoken_as) if first.delivery == "cut" and _speakable(first.spoken_as, where) else heard
    if first.delivery == "cut" and (_bare(aloud[: len(heard)]) != _bare(heard) or len(aloud) == len(heard)):
        raise ScriptError("bad_cut", where, f"{first.spoken_as!r} does not go on after {text!r}")
    spans = tuple(SpokenSegment(turn=turn, segment=index, n_words=len(s.text.split())) for index, s in group)
    return Line(turn, speaker, text, spans, aloud, len(heard))


def _speakable(text: str, where: str) -> bool:
    try:
        return has_words(text)
    except UnspeakableError as error:
        raise ScriptError("unspeakable", where, str(error)) from None


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for words in spoken_words(text) for word in words)


def _bare(words: tuple[str, ...]) -> list[str]:
    return ["".join(character for character in word.lower() if character.isalnum()) for word in words]
