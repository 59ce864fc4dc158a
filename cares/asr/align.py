"""Forced alignment: known words put in time by the cross-attention of Whisper's decoder.

The known tokens are fed to the decoder (no search, so no other word can be found), the attention of the alignment heads
over the sound is normalised, and dynamic time warping finds the path (openai-whisper `whisper/timing.py`,
`find_alignment`). whisper-timestamped's own function hears what it times and offers no way to give it the words, so of
that library its base is used. A word's trailing punctuation is a piece of its own there and takes up the pause after
the word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cares.asr.boundaries import Span, place_words
from cares.asr.types import AlignedWord
from cares.core.pcm import SAMPLE_RATE, Samples

SHORTEST_S = 0.03
LONGEST_S = 3.0
LEAST_PROBABILITY = 1e-4


class Attention(Protocol):
    """A backend."""

    def attend(self, samples: Samples, words: Sequence[str]) -> list[tuple[Span, float]]:
        """When attention came to each word and left it, and the word's probability.

        Args:
            samples: int16 [T], 44.1 kHz, at most 30 s, not all zero.
            words: at least one.

        Raises:
            ValueError: the words are too many for one window.
        """


def align_words(attention: Attention, samples: Samples, words: Sequence[str]) -> tuple[AlignedWord, ...]:
    """Each word's start and end in the sound, monotonic and inside it.

    A word is marked as not timed when its span is shorter than 30 ms or longer than 3 s, or when the model finds it
    all but impossible there.

    Args:
        attention: asked only if there is anything to align.
        samples: int16 [T], 44.1 kHz, at most 30 s.
        words: what is said, in order, with punctuation.

    Raises:
        ValueError: the words are too many for one window.
    """
    if not words:
        return ()
    if not samples.any():
        nowhere = AlignedWord(text="", start_sample=0, end_sample=0, probability=0.0, timed=False)
        return tuple(nowhere.model_copy(update={"text": word}) for word in words)
    found = attention.attend(samples, words)
    places = place_words([span for span, _ in found], samples)
    return tuple(
        AlignedWord(
            text=word,
            start_sample=start,
            end_sample=end,
            probability=probability,
            timed=SHORTEST_S <= (end - start) / SAMPLE_RATE <= LONGEST_S and probability >= LEAST_PROBABILITY,
        )
        for word, (start, end), (_, probability) in zip(words, places, found, strict=True)
    )
