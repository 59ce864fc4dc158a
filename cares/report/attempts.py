"""What was tried for a scene: the attempt that came furthest, and its text for people to read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cares.core.canonical import Json
from cares.records.dialogue import Attempt
from cares.records.scene import Scene


class WrittenTurn(NamedTuple):
    """One turn as the writer gave it: who speaks, the cue that it was given, and the words."""

    speaker: str
    cue: str
    words: str


def best_attempt(attempts: Sequence[Attempt], scene: Scene) -> Attempt:
    """The attempt that came furthest, the last of equal ones.

    Judged ones come before those that a check refused, then the more labels recovered, then the nearer to the topic.
    """

    def rank(place: int) -> tuple[bool, bool, int, float, int]:
        attempt = attempts[place]
        found = {verdict.event: verdict.label for verdict in attempt.verdicts}
        right = sum(found.get(index) == event.reaction for index, event in enumerate(scene.events))
        judged = attempt.topic_similarity is not None
        return bool(attempt.text.strip()), judged, right, attempt.topic_similarity or 0.0, place

    return attempts[max(range(len(attempts)), key=rank)]


def read_turns(text: str) -> list[WrittenTurn] | None:
    """The turns of an attempt's text; None when it is not a list of turns, and is to be shown as it is.

    A list of turns is one in JSON, or lines that begin with "A: " or "B: ", as a repaired attempt has them.
    """
    lines = text.splitlines()
    if lines and all(line.startswith(("A: ", "B: ")) for line in lines):
        return [WrittenTurn(line[0], "", line[3:]) for line in lines]
    try:
        value: Json = json.loads(text)
    except ValueError:
        return None
    if isinstance(value, Mapping):
        value = next((inner for inner in value.values() if isinstance(inner, list)), None)
    if not isinstance(value, list) or not value or not all(isinstance(turn, Mapping) for turn in value):
        return None
    return [_turn(turn) for turn in value]


def _turn(turn: Mapping[str, Json]) -> WrittenTurn:
    who = next((str(turn[key]) for key in ("who", "speaker") if key in turn), "")
    speaker, _, cue = who.partition(",")
    words = " ".join(part for key, inner in turn.items() if key not in ("who", "speaker") for part in _texts(inner))
    return WrittenTurn(speaker.strip(), cue.strip(), words)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
