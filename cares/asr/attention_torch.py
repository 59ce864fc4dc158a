"""Attention of Whisper's decoder to known words in torch, by openai-whisper, on which whisper-timestamped stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cares.asr.boundaries import Span
from cares.asr.pieces import pieces_of
from cares.asr.whisper_model import MARGIN_FRAMES, log_mel, shorter_window
from cares.core.pcm import Samples

if TYPE_CHECKING:
    from whisper.model import Whisper


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


class TorchAttention:
    """Times by `whisper.timing.find_alignment`.

    Args:
        load: gives the model; called at the first use.
    """

    def __init__(self, load: Callable[[], Whisper]) -> None:
        self._load = load

    def attend(self, samples: Samples, words: Sequence[str]) -> list[tuple[Span, float]]:
        """See `cares.asr.align.Attention`."""
        from whisper.timing import find_alignment
        from whisper.tokenizer import get_tokenizer

        model = self._load()
        tokenizer = get_tokenizer(
            model.is_multilingual, num_languages=model.num_languages, language="en", task="transcribe"
        )
        pieces = pieces_of(tokenizer, words, model.dims.n_text_ctx - len(tokenizer.sot_sequence) - 2)
        known = _KnownWords(
            tokenizer.sot_sequence,
            tokenizer.no_timestamps,
            tokenizer.eot,
            list(pieces.texts),
            [list(tokens) for tokens in pieces.tokens],
        )
        mel, frames = log_mel(samples, model.dims.n_mels)
        with shorter_window(model, frames + MARGIN_FRAMES):
            found = find_alignment(model, known, pieces.flat, mel, frames)
        return [
            (Span(float(one.start), float(one.end)), min(max(float(one.probability), 0.0), 1.0))
            for owner, one in zip(pieces.owners, found, strict=True)
            if owner is not None
        ]
