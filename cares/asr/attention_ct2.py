"""Attention of Whisper's decoder to known words in CTranslate2, the engine of faster-whisper.

`ctranslate2.models.Whisper.align` is what faster-whisper's own word times come from (faster_whisper/transcribe.py,
`find_alignment`); it is called here with the known tokens instead of recognised ones. Sums run in another order than in
torch, so a time may differ by a step of 20 ms.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cares.asr.boundaries import Span
from cares.asr.pieces import pieces_of, timed_pieces
from cares.asr.whisper_model import MARGIN_FRAMES, log_mel
from cares.core.errors import CaresError
from cares.core.pcm import Samples

if TYPE_CHECKING:
    import ctranslate2

TEXT_CONTEXT = 448
MEDIAN_FILTER = 7
LANGUAGES = 99


class Ct2Attention:
    """Times by CTranslate2, in 32-bit floats on one thread of the processor.

    Args:
        folder: a model of CTranslate2's: model.bin, config.json and vocabulary.txt.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def attend(self, samples: Samples, words: Sequence[str]) -> list[tuple[Span, float]]:
        """See `cares.asr.align.Attention`.

        Raises:
            CaresError: ctranslate2 is not installed, or the folder holds no model of its form.
        """
        from ctranslate2 import StorageView
        from whisper.tokenizer import get_tokenizer

        model = self._model
        tokenizer = get_tokenizer(model.is_multilingual, num_languages=LANGUAGES, language="en", task="transcribe")
        pieces = pieces_of(tokenizer, words, TEXT_CONTEXT - len(tokenizer.sot_sequence) - 2)
        mel, frames = log_mel(samples, model.n_mels)
        length = min(2 * (-(-(frames + MARGIN_FRAMES) // 2)), mel.shape[-1])
        features = StorageView.from_array(np.ascontiguousarray(mel[None, :, :length].numpy()))
        (found,) = model.align(
            features, list(tokenizer.sot_sequence), [pieces.flat], frames, median_filter_width=MEDIAN_FILTER
        )
        return timed_pieces(pieces, found.alignments, found.text_token_probs)

    @cached_property
    def _model(self) -> ctranslate2.models.Whisper:
        try:
            from ctranslate2.models import Whisper
        except ImportError:
            hint = "install it with: pip install -e '.[faster-whisper]'"
            raise CaresError(f"align.backend faster-whisper needs ctranslate2; {hint}") from None
        try:
            return Whisper(str(self._folder), device="cpu", compute_type="float32", inter_threads=1, intra_threads=1)
        except (RuntimeError, ValueError) as error:
            hint = "set align.recogniser to a model in that form, such as whisper-base-ct2"
            raise CaresError(f"{self._folder.name}: no model of CTranslate2's ({error}); {hint}") from None
