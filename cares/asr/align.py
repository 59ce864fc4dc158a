"""Forced alignment: known words put in time by the cross-attention of Whisper's decoder.

The known tokens are fed to the decoder (no search), the attention of the alignment heads over the sound is normalised,
and dynamic time warping finds the path (openai-whisper `whisper/timing.py`, `find_alignment`). A word's trailing
punctuation is a token of its own there and takes up the pause after the word, so that a word ends before its comma.
Silence at both ends of a word's time is then cut off by the sound's energy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cares.asr.types import AlignedWord
from cares.asr.whisper_model import HEARD_RATE, as_heard, to_sample
from cares.core.pcm import SAMPLE_RATE, Samples

if TYPE_CHECKING:
    from whisper.model import Whisper
    from whisper.tokenizer import Tokenizer

HOP = 441
"""Energy is looked at in steps of 10 ms."""
SILENCE_DB = -40.0
"""Below the loudest 10 ms of the sound by this much, a step counts as silence."""
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

    Args:
        load: gives the model; called only if there is anything to align.
        samples: int16 [T], 44.1 kHz, at most 30 s.
        words: what is said, in order, with punctuation.

    Raises:
        ValueError: the words are too many for one window.
    """
    if not words:
        return ()
    loud = _loud_steps(samples)
    if not loud.any():
        return tuple(_untimed(word, 0) for word in words)
    pieces = _find(load(), samples, words)
    aligned: list[AlignedWord] = []
    last = 0
    for word, (start_s, end_s, probability) in zip(words, pieces, strict=True):
        start, end = _trim(to_sample(start_s, len(samples)), to_sample(end_s, len(samples)), loud, len(samples))
        start = max(start, last)
        seconds = (end - start) / SAMPLE_RATE
        if SHORTEST_S <= seconds <= LONGEST_S and probability >= LEAST_PROBABILITY:
            aligned.append(
                AlignedWord(text=word, start_sample=start, end_sample=end, probability=probability, timed=True)
            )
            last = end
        else:
            aligned.append(_untimed(word, last, probability))
    return tuple(aligned)


def _find(model: Whisper, samples: Samples, words: Sequence[str]) -> list[tuple[float, float, float]]:
    """Start and end in seconds and probability of each word, its trailing punctuation left out."""
    from whisper.audio import N_FRAMES, N_SAMPLES, log_mel_spectrogram, pad_or_trim
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
    sound = as_heard(samples)
    mel = pad_or_trim(log_mel_spectrogram(sound, model.dims.n_mels, padding=N_SAMPLES), N_FRAMES)
    frames = min(-(-len(sound) * 100 // HEARD_RATE), N_FRAMES)
    found = find_alignment(model, known, flat, mel, frames)
    result: dict[int, tuple[float, float, float]] = {}
    for owner, timing in zip(owners, found, strict=True):
        if owner is not None:
            probability = min(max(float(timing.probability), 0.0), 1.0)
            result[owner] = (float(timing.start), float(timing.end), probability)
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


def _loud_steps(samples: Samples) -> NDArray[np.bool_]:
    """Which steps of 10 ms are not silence, by their energy relative to the loudest."""
    steps = -(-len(samples) // HOP)
    padded = np.zeros(steps * HOP, np.float64)
    padded[: len(samples)] = samples
    energy = np.square(padded.reshape(steps, HOP)).mean(axis=1) if steps else np.zeros(0)
    top = energy.max(initial=0.0)
    return np.asarray(energy > top * 10 ** (SILENCE_DB / 10)) if top > 0 else np.zeros(steps, np.bool_)


def _trim(start: int, end: int, loud: NDArray[np.bool_], n_samples: int) -> tuple[int, int]:
    """Cut silent steps off both ends; all silent gives an empty span at the start."""
    first = start // HOP
    heard = np.flatnonzero(loud[first : -(-end // HOP)])
    if len(heard) == 0:
        return start, start
    return max(start, (first + int(heard[0])) * HOP), min(end, (first + int(heard[-1]) + 1) * HOP, n_samples)


def _untimed(word: str, at: int, probability: float = 0.0) -> AlignedWord:
    return AlignedWord(text=word, start_sample=at, end_sample=at, probability=probability, timed=False)
