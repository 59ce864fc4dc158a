"""A dialogue that is a little too long for its scene loses sentences that nobody answers.

Texts are asked for with room to end a sentence, so that a dialogue without a fault comes out some percent too long
rather than too short. What is too much is taken from turns far from any sound: first from the middle of a turn of
three sentences or more, which neither answers what was said before nor is answered, then the second of two, if it asks
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cares.dialogue.breaks import split_sentences
from cares.dialogue.pace import Pace, predicted_seconds
from cares.records.dialogue import Segment, Turn
from cares.records.scene import Scene

AFTER_A_SOUND = 3  # turns that may belong to the reaction
LEAST_LEFT = 20  # characters of what a turn keeps
SLACK = 0.03  # share of the target above which there is surplus: dialogues that are too short cannot be helped


class _Sentence(NamedTuple):
    """A sentence that a dialogue can do without: its turn and place, how soon it may go, and what that saves."""

    turn: int
    place: int
    order: int
    seconds: float


def without_surplus(turns: Sequence[Turn], scene: Scene, pace: Pace) -> tuple[Turn, ...]:
    """The turns without sentences that are too much for the scene's target; as they are where none is asked for.

    As long as it is too long by more than SLACK the longest sentence goes that takes it not below the target; one turn
    loses one sentence at most.
    """
    kept = tuple(turns)
    if scene.length_s is None:
        return kept
    slack = SLACK * scene.length_s
    excess = predicted_seconds(kept, scene, pace) - scene.length_s
    spare = _spare(kept, scene, pace)
    for order in (0, 1):
        while excess > slack:
            fitting = [one for one in spare if one.order == order and one.seconds <= excess]
            if not fitting:
                break
            best = max(fitting, key=lambda one: (one.seconds, -one.turn))
            sentences = split_sentences(kept[best.turn].segments[0].text)
            text = " ".join(sentences[: best.place] + sentences[best.place + 1 :])
            shorter = Turn(speaker=kept[best.turn].speaker, segments=(Segment(text=text),))
            kept = (*kept[: best.turn], shorter, *kept[best.turn + 1 :])
            spare = [one for one in spare if one.turn != best.turn]
            excess -= best.seconds
    return kept


def _spare(turns: Sequence[Turn], scene: Scene, pace: Pace) -> list[_Sentence]:
    found = []
    since = AFTER_A_SOUND + 1
    for number, turn in enumerate(turns):
        since = 0 if any(segment.event is not None for segment in turn.segments) else since + 1
        if since <= AFTER_A_SOUND or len(turn.segments) != 1 or turn.segments[0].delivery != "plain":
            continue
        text = turn.segments[0].text
        sentences, voice = split_sentences(text), pace.of(scene.genders["AB".index(turn.speaker)])
        if " ".join(sentences) != text:
            continue
        middle = len(sentences) > 2
        for place in range(1, len(sentences) - 1) if middle else range(1, len(sentences)):
            rest = " ".join(sentences[:place] + sentences[place + 1 :])
            if len(rest) >= LEAST_LEFT and (middle or not sentences[place].endswith("?")):
                seconds = voice.seconds(text) - voice.seconds(rest)
                found.append(_Sentence(number, place, 0 if middle else 1, seconds))
    return found
