"""What was tried for a scene: the attempt that came furthest, and its text for people to read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cares.core.canonical import Json
from cares.records.dialogue import Attempt
from cares.records.scene import Scene

_KEY = re.compile(r"(?P<number>[1-9][0-9]?) [^,]*(?:, (?P<cue>.*))?")


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
    """The turns of an attempt's text; None when it is of neither form, and is to be shown as it is.

    One form is the skeleton, a JSON object of strings whose keys begin with the number of their turn, from 1, where A
    speaks the odd ones: "2 Rita, is sure", then "2 a dog barks" and "2 goes on about it". The other is lines that begin
    with "A: " or "B: ", as a repaired attempt and the free writer have them.
    """
    lines = text.splitlines()
    if lines and all(line.startswith(("A: ", "B: ")) for line in lines):
        return [WrittenTurn(line[0], "", line[3:]) for line in lines]
    try:
        value: Json = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, Mapping) or not value:
        return None
    turns: dict[int, WrittenTurn] = {}
    for key, said in value.items():
        numbered = _KEY.fullmatch(key)
        if numbered is None or not isinstance(said, str):
            return None
        number = int(numbered["number"])
        speaker = "A" if number % 2 else "B"
        earlier = turns.get(number, WrittenTurn(speaker, numbered["cue"] or "", ""))
        turns[number] = earlier._replace(words=f"{earlier.words} {said.strip()}".strip())
    return [turn for _, turn in sorted(turns.items())]
