"""What can be measured in one utterance without understanding it: its edges, pauses, level and pace.

Samples are int16 [T] at 44,100 Hz. Levels come from the frames of 10 ms of `cares.speech.signal`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE, Samples
from cares.speech.signal import FRAME, HOP, frame_levels

# a frame this far below the loudest is a pause, though there may be breath or a decaying room in it
PAUSE_DB = 40.0
# frames of speech for its level; quieter ones are sounds between
ACTIVE_DB = 30.0
# below this many milliseconds a pause is part of a word: the closure of a stop
CLOSURE_MS = 150


class Measures(NamedTuple):
    """Of one utterance.

    Attributes:
        start_db, end_db: level of the first and the last 10 ms, in dB of the loudest frame; -inf is silence.
        pause_ms: longest pause between the first and the last frame of speech.
        level_db: root mean square of the frames of speech, in dB of full scale.
        letters_per_s: letters and digits of the spoken words a second, pauses of 150 ms and more left out.
    """

    start_db: float
    end_db: float
    pause_ms: int
    level_db: float
    letters_per_s: float


NO_MEASURES = Measures(-math.inf, -math.inf, 0, -math.inf, 0.0)


def measure(samples: Samples, words: Sequence[str]) -> Measures:
    """The measures of trimmed speech and the words that are said in it; silence has -inf everywhere."""
    levels = frame_levels(samples)
    loudest = float(levels.max(initial=0.0))
    if loudest == 0.0:
        return NO_MEASURES
    relative = levels / loudest
    spans = _pauses(relative < 10 ** (-PAUSE_DB / 20))
    pauses = [(end - start) * HOP * 1000 // SAMPLE_RATE for start, end in spans]
    spoken_s = len(samples) / SAMPLE_RATE - sum(ms for ms in pauses if ms >= CLOSURE_MS) / 1000
    active = levels[relative >= 10 ** (-ACTIVE_DB / 20)]
    last = samples[-FRAME:].astype(np.float64)
    return Measures(
        start_db=_db(float(relative[0])),
        end_db=_db(float(np.sqrt(np.mean(last**2))) / loudest),
        pause_ms=max(pauses, default=0),
        level_db=_db(float(np.sqrt(np.mean(active**2))) / 32768),
        letters_per_s=count_letters(words) / spoken_s,
    )


def count_letters(words: Sequence[str]) -> int:
    """Letters and digits of words; what an utterance's length is compared with."""
    return sum(character.isalnum() for word in words for character in word)


def _pauses(quiet: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Runs of quiet frames that lie between louder ones."""
    padded = np.concatenate([[False], quiet, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1]).reshape(-1, 2)
    return [(int(start), int(end)) for start, end in edges if start > 0 and end < len(quiet)]


def _db(ratio: float) -> float:
    return 20 * math.log10(ratio) if ratio > 0 else -math.inf
