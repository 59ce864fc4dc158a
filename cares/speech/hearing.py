"""What the speech family asks of a recogniser, and what is wrong with what was heard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from cares.asr.types import AlignedWord, RecognisedWord
from cares.asr.wer import WordErrors, normalised, word_errors
from cares.core.pcm import Samples
from cares.speech.spoken import UnspeakableError, spoken_text


class Listener(Protocol):
    """The part of `cares.asr.recogniser.Recogniser` that is used here; sounds are int16 [T] at 44,100 Hz."""

    def words(self, sound: Samples) -> tuple[RecognisedWord, ...]:
        """The words that are heard, as the recogniser writes them."""

    def text(self, sound: Samples) -> str:
        """These words, joined by spaces."""

    def align(self, sound: Samples, known_text: str) -> tuple[AlignedWord, ...]:
        """The place of each word of `known_text`; at most 30 s."""


def heard_errors(wanted: Sequence[str], heard: str) -> WordErrors:
    """Word errors between spoken words and a recogniser's text, whose numerals are spelt out first as they are said."""
    return word_errors(" ".join(wanted), as_said(heard))


def lost_numbers(wanted: Sequence[str], heard: str) -> list[str]:
    """The numbers of two or more digits among the wanted words that are not heard, as digits.

    Single digits are left out: "one" is a pronoun, and "to", "for" and "ate" sound like numbers.
    """
    digits = "".join(_numbers(as_said(heard)))
    return [number for number in _numbers(" ".join(wanted)) if len(number) > 1 and number not in digits]


def as_said(heard: str) -> str:
    """A recogniser's text with its numerals and signs as words; as it is where it holds a sign that has none."""
    try:
        return spoken_text(heard)
    except UnspeakableError:
        return heard


def _numbers(text: str) -> list[str]:
    return re.findall(r"\d+", normalised(text))
