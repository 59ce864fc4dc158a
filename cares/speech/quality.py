"""What can be wrong with an utterance, each kind with its name.

`silent`, `not_finite` and `beyond_scale` are seen in what the engine gives; `too_short` and `too_long` in its length
after trimming; `misheard` when a recogniser understands other words, `number_lost` when it does not hear a number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cares.asr.wer import WordErrors
from cares.core.pcm import SAMPLE_RATE
from cares.speech.hearing import lost_numbers
from cares.speech.params import SpeechParams
from cares.speech.signal import peak_beyond_scale

SILENCE_PEAK = 10 ** (-50 / 20)
# an utterance of a word or two has room for breath and attack beyond the pace of its letters
EXTRA_SECONDS = 1.0
# the aligner hears one window of 30 s
LONGEST_SECONDS = 30.0


def fault_of_signal(speech: NDArray[np.float32]) -> str:
    """Name of what is wrong with an engine's float speech [T], or ""."""
    if not np.isfinite(speech).all():
        return "not_finite"
    if float(np.max(np.abs(speech), initial=0.0)) < SILENCE_PEAK:
        return "silent"
    return "beyond_scale" if peak_beyond_scale(speech) else ""


def fault_of_length(n_samples: int, words: Sequence[str], params: SpeechParams) -> str:
    """Name of what is wrong with the length of trimmed speech for its words, or ""."""
    letters = sum(character.isalnum() for word in words for character in word)
    slowest, fastest = params.letters_per_second
    seconds = n_samples / SAMPLE_RATE
    if seconds < letters / fastest:
        return "too_short"
    return "too_long" if seconds > min(letters / slowest + EXTRA_SECONDS, LONGEST_SECONDS) else ""


def fault_of_words(wanted: Sequence[str], heard: str, errors: WordErrors, params: SpeechParams) -> str:
    """Name of what is wrong with the words that were heard, or "".

    `misheard` when more than the allowed share of the words is wrong; one wrong word is always allowed: names,
    interjections and the last word before a cut are often written in another way than they are said, and in an
    utterance of two words that is half of it. A number that was swallowed would pass as this one word.
    """
    wrong = errors.substitutions + errors.deletions + errors.insertions
    if wrong > max(1.0, params.max_word_error_rate * errors.n_reference):
        return "misheard"
    return "number_lost" if lost_numbers(wanted, heard) else ""
