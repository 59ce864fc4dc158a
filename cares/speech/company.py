"""A scene's utterances beside each other: does each speaker keep one voice and one level, and are the two told apart?

Of each utterance the voiceprint is compared with the mean voiceprint of the speaker's other utterances in the scene,
and with that of the other speaker's; its level with the median of the speaker's. Utterances below one second say too
little of a voice and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from cares.core.pcm import SAMPLE_RATE
from cares.speech.params import SpeechParams
from cares.speech.voiceprint import Print

SHORTEST_SAMPLES = SAMPLE_RATE
# an utterance is the other speaker's when it is nearer to that voice by more than chance
MARGIN = 0.05
TIE = 1e-4


class Voiced(NamedTuple):
    """An utterance that passed its own checks: who speaks, its voiceprint (None when short) and its level in dB."""

    speaker: str
    voiceprint: Print | None
    level_db: float


class Standing(NamedTuple):
    """How an utterance stands among the others.

    Attributes:
        own, other: cosine of its voiceprint with the mean of the speaker's others, and of the other speaker's; None
            when there is nothing to compare.
        level_off_db: its level less the median of the speaker's.
    """

    own: float | None
    other: float | None
    level_off_db: float


def standings(scene: Sequence[Voiced | None]) -> list[Standing | None]:
    """Each utterance among the others; None stays None and counts for nobody."""
    return [None if one is None else _standing(one, index, scene) for index, one in enumerate(scene)]


def faults(scene: Sequence[Voiced | None], placed: Sequence[Standing | None], params: SpeechParams) -> list[str]:
    """The fault of each utterance among the others, or "".

    A wrong voice spoils the mean with which the speaker's right ones are compared, the more the fewer they are. So of
    those of a speaker that seem wrong only the one least like its others is named; once it is spoken again, all are
    compared anew.
    """
    found = ["" if standing is None else fault_of_standing(standing, params) for standing in placed]
    for speaker in "AB":
        likeness = {
            index: standing.own
            for index, (one, standing) in enumerate(zip(scene, placed, strict=True))
            if one is not None and one.speaker == speaker and standing is not None and standing.own is not None
            if found[index] == "other_voice"
        }
        for index, own in likeness.items():
            if own > min(likeness.values()) + TIE:
                found[index] = ""
    return found


def fault_of_standing(standing: Standing, params: SpeechParams) -> str:
    """`other_voice`, `other_level` or ""."""
    own, other = standing.own, standing.other
    if own is not None and (own < params.min_voice_likeness or (other is not None and other > own + MARGIN)):
        return "other_voice"
    return "other_level" if abs(standing.level_off_db) > params.max_level_off_db else ""


def speakers_likeness(scene: Sequence[Voiced | None]) -> float | None:
    """Cosine of the mean voiceprints of A and B; None when one of them has no utterance of a second."""
    return _cosine(_mean(scene, "A"), _mean(scene, "B"))


def _standing(one: Voiced, index: int, scene: Sequence[Voiced | None]) -> Standing:
    others = [*scene[:index], *scene[index + 1 :]]
    levels = [voiced.level_db for voiced in scene if voiced is not None and voiced.speaker == one.speaker]
    return Standing(
        own=_cosine(one.voiceprint, _mean(others, one.speaker)),
        other=_cosine(one.voiceprint, _mean(others, "B" if one.speaker == "A" else "A")),
        level_off_db=one.level_db - median(levels),
    )


def _mean(scene: Sequence[Voiced | None], speaker: str) -> Print | None:
    prints = [
        one.voiceprint for one in scene if one is not None and one.speaker == speaker and one.voiceprint is not None
    ]
    return None if not prints else np.mean(np.stack(prints), axis=0)


def _cosine(one: Print | None, two: Print | None) -> float | None:
    if one is None or two is None:
        return None
    return float(one @ two / max(float(np.linalg.norm(one) * np.linalg.norm(two)), 1e-9))
