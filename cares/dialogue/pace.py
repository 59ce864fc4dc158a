"""How long a written dialogue will be once it is spoken and mixed, before anything is spoken.

An utterance takes `start_s + letter_s * letters + mark_s * marks` seconds, with the mean of the voices of a gender; the
constants were measured on speech of this project's voices by benchmarks/bench_length.py and stand in data/pace.yaml.
To that come the gaps of the time line: one between turns, one at each sound, one decoy for each sound.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from cares.core.params import read_yaml
from cares.core.record import Record
from cares.dialogue.plan import DATA
from cares.records.dialogue import Turn
from cares.records.scene import Gender, Scene

SHORTEST_S = 0.25
LETTERS_OF_A_DIGIT = 4  # "7" is said as "seven", and of several digits each
GAPS_OF_A_SOUND = 2  # its own, and a decoy


class VoicePace(Record):
    """Mean pace of the voices of a gender, in seconds."""

    start_s: float
    letter_s: float
    mark_s: float

    def seconds(self, text: str) -> float:
        """How long a text is as one utterance."""
        return max(SHORTEST_S, self.start_s + self.letter_s * letters_of(text) + self.mark_s * marks_of(text))


class Pace(Record):
    """Measured constants: of voices by gender, of a gap, and of what lies before the first and after the last word."""

    F: VoicePace
    M: VoicePace
    gap_s: float
    edges_s: float

    def of(self, gender: Gender) -> VoicePace:
        """The pace of the voices of a gender."""
        return self.F if gender == "F" else self.M

    def silence(self, n_turns: int, n_events: int) -> float:
        """Seconds of a scene in which nobody speaks."""
        return self.edges_s + self.gap_s * (n_turns - 1 + GAPS_OF_A_SOUND * n_events)


@lru_cache(maxsize=1)
def load_pace() -> Pace:
    """The constants of data/pace.yaml."""
    path = DATA / "pace.yaml"
    return Pace.parse(read_yaml(path), path)


def letters_of(text: str) -> int:
    """Letters that are said, a digit as several."""
    return sum(character.isalpha() for character in text) + LETTERS_OF_A_DIGIT * sum(map(str.isdigit, text))


def marks_of(text: str) -> int:
    """Places at which a voice pauses inside a text: marks with more to say behind them."""
    return len(re.findall(r"[.?!,;:]+\s", text))


def utterances(turn: Turn) -> list[str]:
    """The texts of a turn that are spoken in one go: a segment `joined` goes on with the one before the sound."""
    said: list[str] = []
    for segment in turn.segments:
        if segment.event is not None:
            continue
        if segment.delivery == "joined" and said:
            said[-1] += f" {segment.text}"
        else:
            said.append(segment.text)
    return said


def predicted_seconds(turns: Sequence[Turn], scene: Scene, pace: Pace) -> float:
    """How long the finished scene will be.

    A pause inside a turn is as long as it is laid out; who interrupts leaves no gap and begins before the other has
    ended.
    """
    spoken = sum(
        pace.of(scene.genders["AB".index(turn.speaker)]).seconds(text) for turn in turns for text in utterances(turn)
    )
    pauses = sum(segment.pause_ms for turn in turns for segment in turn.segments) / 1000
    early = sum(pace.gap_s + turn.segments[0].overlap_ms / 1000 for turn in turns if turn.segments[0].overlap_ms)
    return pace.silence(len(turns), len(scene.events)) + spoken + pauses - early
