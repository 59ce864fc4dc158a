"""Forced alignment: known words put in time by the cross-attention of Whisper's decoder.

The known tokens are fed to the decoder (no search), the attention of the alignment heads over the sound is normalised,
and dynamic time warping finds the path (openai-whisper `whisper/timing.py`, `find_alignment`). A word's trailing
punctuation is a piece of its own there and takes up the pause after the word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cares.asr.boundaries import Span, place_words
from cares.asr.types import AlignedWord
from cares.asr.whisper_model import log_mel, shorter_window
from cares.core.pcm import SAMPLE_RATE, Samples

if TYPE_CHECKING:
    from whisper.model import Whisper
    from whisper.tokenizer import Tokenizer

MARGIN_FRAMES = 100
SHORTEST_S = 0.03
LONGEST_S = 3.0
LEAST_PROBABILITY = 1e-4
PUNCTUATION = "\"'“”‘’¿([{-.。,，!！?？:：)]}、—–…;"


@dataclass(frozen=True)
class _KnownWords:
    """What `find_alignment` asks of a tokenizer, with our own division of the tokens into words."""

    sot_sequence: tuple[int, ...]
    no_timestamps: int
    eot: int
    pieces: list[str]
    piece_tokens: list[list[int]]

    def split_to_word_tokens(self, tokens: list[int]) -> tuple[list[str], list[list[int]]]:
        return [*self.pieces, ""], [*self.piece_tokens, [self.eot]]


def align_words(load: Callable[[], Whisper], samples: Samples, words: Sequence[str]) -> tuple[AlignedWord, ...]:
    """Each word's start and end in the sound, monotonic and inside it.

    A word is marked as not timed when its span is shorter than 30 ms or longer than 3 s, or when the model finds it
    all but impossible there.

    Args:
        load: gives the model; called only if there is anything to align.
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
    found = _attend(load(), samples, words)
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


def _attend(model: Whisper, samples: Samples, words: Sequence[str]) -> list[tuple[Span, float]]:
    """When attention came to each word and left it, and the word's probability."""
    from whisper.timing import find_alignment
    from whisper.tokenizer import get_tokenizer

    tokenizer = get_tokenizer(
        model.is_multilingual, num_languages=model.num_languages, language="en", task="transcribe"
    )
    pieces, owners = _pieces(tokenizer, words)
    known = _KnownWords(
        tokenizer.sot_sequence,
        tokenizer.no_timestamps,
        tokenizer.eot,
        [text for text, _ in pieces],
        [tokens for _, tokens in pieces],
    )
    flat = [token for _, tokens in pieces for token in tokens]
    room = model.dims.n_text_ctx - len(tokenizer.sot_sequence) - 2
    if len(flat) > room:
        raise ValueError(f"{len(flat)} tokens to align in one window, at most {room}")
    mel, frames = log_mel(samples, model.dims.n_mels)
    with shorter_window(model, frames + MARGIN_FRAMES):
        found = find_alignment(model, known, flat, mel, frames)
    result: dict[int, tuple[Span, float]] = {}
    for owner, timing in zip(owners, found, strict=True):
        if owner is not None:
            probability = min(max(float(timing.probability), 0.0), 1.0)
            result[owner] = Span(float(timing.start), float(timing.end)), probability
    return [result[place] for place in range(len(words))]


def _pieces(tokenizer: Tokenizer, words: Sequence[str]) -> tuple[list[tuple[str, list[int]]], list[int | None]]:
    """The tokens of each word and, apart from them, of its trailing punctuation; with the word that a piece times."""
    pieces: list[tuple[str, list[int]]] = []
    owners: list[int | None] = []
    for place, word in enumerate(words):
        bare = word.rstrip(PUNCTUATION) or word
        pieces.append((bare, tokenizer.encode(f" {bare}")))
        owners.append(place)
        if tail := word[len(bare) :]:
            pieces.append((tail, tokenizer.encode(tail)))
            owners.append(None)
    return pieces, owners
