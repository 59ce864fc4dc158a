"""Kokoro-82M (StyleTTS 2 with an ISTFTNet vocoder) through kokoro-onnx, speaking American English.

Its graph draws no random number: the same text, voice and speed give the same samples.
"""

from __future__ import annotations

import logging
import zipfile
from pathlib import Path

import numpy as np
from kokoro_onnx import Kokoro
from numpy.typing import NDArray

from cares.core.errors import CaresError, InputError
from cares.speech.engines import EngineError
from cares.speech.engines.onnx import only_file, open_session

RATE = 24_000
LANGUAGE = "en-us"


class KokoroEngine:
    """Kokoro with the voice vectors of one file.

    Args:
        folder: holds one .onnx and one .npz file.

    Raises:
        CaresError: a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        voices = only_file(folder, "*.npz")
        session = open_session(only_file(folder, "*.onnx"))
        logging.getLogger("phonemizer").setLevel(logging.ERROR)
        try:
            self._kokoro = Kokoro.from_session(session, str(voices))
            self._voices = {name: np.asarray(self._kokoro.voices[name]) for name in self._kokoro.voices.files}
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise CaresError(f"{voices.name}: not a readable file of voices ({error})") from None
        self._file = voices.name

    @property
    def rate(self) -> int:
        """24,000 Hz."""
        return RATE

    def speak(self, text: str, voice: str, speed: float, seed: int) -> NDArray[np.float32]:
        """See `Engine.speak`; `seed` has no effect. Texts beyond 510 phonemes are spoken in pieces and joined."""
        if voice not in self._voices:
            raise InputError(self._file, "voice", voice, f"one of {', '.join(sorted(self._voices))}")
        try:
            speech, _ = self._kokoro.create(text, self._voices[voice], speed=speed, lang=LANGUAGE, trim=False)
        except (ValueError, IndexError) as error:
            raise EngineError(f"kokoro: {error}") from None
        return np.asarray(speech, np.float32)
