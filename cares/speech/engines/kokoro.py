"""Kokoro-82M (StyleTTS 2 with an ISTFTNet vocoder) through kokoro-onnx, speaking American English.

Its graph draws no random number: the same text, voice and speed give the same samples. Its durations are those that
the graph predicts before it makes any sound, in frames of 25 ms.
"""

from __future__ import annotations

import logging
import zipfile
from pathlib import Path

import numpy as np
from kokoro_onnx import Kokoro

from cares.core.errors import CaresError, InputError
from cares.speech.engines import EngineError, Speech, TimedWord
from cares.speech.engines.espeak import espeak_missing
from cares.speech.engines.onnx import only_file, open_session, with_durations
from cares.speech.engines.timing import Phoneme, timed_words

RATE = 24_000
LANGUAGE = "en-us"
DURATIONS = "/encoder/Clip_output_0"


class KokoroEngine:
    """Kokoro with the voice vectors of one file.

    Args:
        folder: holds one .onnx and one .npz file.

    Raises:
        CaresError: a file is missing or damaged, or espeak-ng cannot be loaded.
    """

    def __init__(self, folder: Path) -> None:
        voices = only_file(folder, "*.npz")
        model = only_file(folder, "*.onnx")
        session = open_session(with_durations(model.read_bytes(), DURATIONS), model.name)
        session._model_path = str(model)  # kokoro-onnx asks whether the file is there
        logging.getLogger("phonemizer").setLevel(logging.ERROR)
        logging.getLogger("kokoro_onnx").setLevel(logging.CRITICAL)
        try:
            self._kokoro = Kokoro.from_session(session, str(voices))
            self._voices = {name: np.asarray(self._kokoro.voices[name]) for name in self._kokoro.voices.files}
        except (OSError, ValueError, EOFError, AttributeError, zipfile.BadZipFile) as error:
            raise CaresError(f"{voices.name}: not a readable file of voices ({error})") from None
        except RuntimeError as error:
            raise espeak_missing("kokoro", "espeakng-loader", error) from None
        self._file = voices.name

    def speak(self, text: str, voice: str, speed: float, seed: int) -> Speech:
        """See `Engine.speak`; `seed` has no effect. Texts beyond 510 phonemes are spoken in pieces and joined."""
        if voice not in self._voices:
            raise InputError(self._file, "voice", voice, f"one of {', '.join(sorted(self._voices))}")
        try:
            samples, _, phonemes = self._kokoro.create_timed(
                text, self._voices[voice], speed=speed, lang=LANGUAGE, trim=False, sentence_pause=0.0, clause_pause=0.0
            )
        except (ValueError, IndexError) as error:
            raise EngineError(f"kokoro: {error}") from None
        except RuntimeError as error:
            raise espeak_missing("kokoro", "espeakng-loader", error) from None
        timed = [Phoneme(one.phoneme, round(one.start * RATE), round(one.end * RATE)) for one in phonemes]
        words = self._words(text, timed) if timed else None
        return Speech(np.asarray(samples, np.float32), RATE, words)

    def _words(self, text: str, timed: list[Phoneme]) -> tuple[TimedWord, ...] | None:
        return timed_words(text.split(), timed, lambda word: str(self._kokoro.tokenizer.phonemize(word, LANGUAGE)))
