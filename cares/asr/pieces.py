"""Known words as tokens of Whisper, and from the path of attention back to the words' times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cares.asr.boundaries import Span

if TYPE_CHECKING:
    from whisper.tokenizer import Tokenizer

PUNCTUATION = "\"'“”‘’¿([{-.。,，!！?？:：)]}、—–…;"
STEPS_PER_S = 50


@dataclass(frozen=True)
class Pieces:
    """The tokens of each word and, apart from them, of its trailing punctuation, which takes up the pause after it.

    `owners[k]` is the word that piece k times; None for punctuation.
    """

    texts: tuple[str, ...]
    tokens: tuple[tuple[int, ...], ...]
    owners: tuple[int | None, ...]

    @property
    def flat(self) -> list[int]:
        """All tokens in order."""
        return [token for tokens in self.tokens for token in tokens]


def pieces_of(tokenizer: Tokenizer, words: Sequence[str], room: int) -> Pieces:
    """Divide the words into pieces.

    Raises:
        ValueError: more than `room` tokens.
    """
    texts: list[str] = []
    tokens: list[tuple[int, ...]] = []
    owners: list[int | None] = []
    for place, word in enumerate(words):
        bare = word.rstrip(PUNCTUATION) or word
        texts.append(bare)
        tokens.append(tuple(tokenizer.encode(f" {bare}")))
        owners.append(place)
        if tail := word[len(bare) :]:
            texts.append(tail)
            tokens.append(tuple(tokenizer.encode(tail)))
            owners.append(None)
    pieces = Pieces(tuple(texts), tuple(tokens), tuple(owners))
    if len(pieces.flat) > room:
        raise ValueError(f"{len(pieces.flat)} tokens to align in one window, at most {room}")
    return pieces


def timed_pieces(
    pieces: Pieces, path: Sequence[tuple[int, int]], probabilities: Sequence[float]
) -> list[tuple[Span, float]]:
    """Each word's span and probability from a path of dynamic time warping.

    Args:
        pieces: what was aligned.
        path: pairs (token, step of 20 ms), both rising; the token after the last stands for the end of the text.
        probabilities: of each token.
    """
    tokens: NDArray[np.int64] = np.array([token for token, _ in path], np.int64)
    steps: NDArray[np.int64] = np.array([step for _, step in path], np.int64)
    came = steps[np.diff(tokens, prepend=-1) > 0] / STEPS_PER_S
    edges = np.cumsum([0, *map(len, pieces.tokens)])
    result: list[tuple[Span, float]] = []
    for owner, first, last in zip(pieces.owners, edges, edges[1:], strict=False):
        if owner is not None:
            mean = float(np.mean(probabilities[first:last]))
            result.append((Span(float(came[first]), float(came[last])), min(max(mean, 0.0), 1.0)))
    return result
