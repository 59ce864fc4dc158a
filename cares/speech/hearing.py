"""What the speech family asks of a recogniser, and the word errors of what was heard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cares.asr.types import AlignedWord, RecognisedWord
from cares.asr.wer import WordErrors, word_errors
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
    try:
        said = spoken_text(heard)
    except UnspeakableError:
        said = heard
    return word_errors(" ".join(wanted), said)
