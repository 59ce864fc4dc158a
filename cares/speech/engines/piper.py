"""Piper (VITS) with one voice a model.

Its graph draws noise from a generator that ONNX Runtime seeds when a session is opened and that runs on from call to
call, so every utterance opens a session of its own (0.3 s): its samples then depend on its own seed alone.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from piper import PiperVoice, SynthesisConfig
from piper.config import PiperConfig

from cares.core.canonical import read_json
from cares.core.errors import CaresError
from cares.speech.engines import EngineError
from cares.speech.engines.onnx import only_file, open_session


class PiperEngine:
    """One Piper voice.

    Args:
        folder: holds one .onnx file and its .onnx.json.

    Raises:
        CaresError: a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._model = only_file(folder, "*.onnx")
        described = only_file(folder, "*.onnx.json")
        try:
            self._config = PiperConfig.from_dict(read_json(described))
        except (KeyError, TypeError, ValueError) as error:
            raise CaresError(f"{described.name}: not a Piper configuration ({error!r})") from None
        open_session(self._model)

    @property
    def rate(self) -> int:
        """Samples a second as the model's configuration says; 22,050 for voices of medium quality."""
        return int(self._config.sample_rate)

    def speak(self, text: str, voice: str, speed: float, seed: int) -> NDArray[np.float32]:
        """See `Engine.speak`; `voice` has no effect, because the model has one."""
        onnxruntime.set_seed(seed)
        speaker = PiperVoice(session=open_session(self._model), config=self._config)
        style = SynthesisConfig(length_scale=self._config.length_scale / speed, normalize_audio=False)
        sentences: list[NDArray[np.float32]] = [chunk.audio_float_array for chunk in speaker.synthesize(text, style)]
        if not sentences:
            raise EngineError(f"piper: {text!r} gives no phoneme")
        return np.concatenate(sentences)
