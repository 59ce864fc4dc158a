"""Text-to-speech engines behind one protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cares.core.errors import CaresError


class EngineError(CaresError):
    """An engine could not speak one text; the utterance may be tried again."""


class Engine(Protocol):
    """Speaks a text with a voice."""

    @property
    def rate(self) -> int:
        """Samples a second of what `speak` returns."""

    def speak(self, text: str, voice: str, speed: float, seed: int) -> NDArray[np.float32]:
        """Float speech [T], full scale 1, a function of the arguments alone.

        Args:
            text: words as they are said (see `cares.speech.spoken`).
            voice: name of the voice in the model.
            speed: 1.0 is the voice's own pace, 1.1 is a tenth faster.
            seed: for engines that draw random numbers.

        Raises:
            EngineError: the text gives no sound.
            InputError: the model has no such voice.
        """


def load_engine(name: str, model: str, folder: Path) -> Engine:
    """The engine `name` with the weights of `model` in `folder`.

    One thread, so that samples depend on neither the number of workers nor that of processors.

    Raises:
        CaresError: the name is unknown or the weights do not load.
    """
    # imported here because each engine's library is large and a voice table may need only one of them
    if name == "kokoro":
        from cares.speech.engines.kokoro import KokoroEngine

        return KokoroEngine(folder)
    if name == "piper":
        from cares.speech.engines.piper import PiperEngine

        return PiperEngine(folder)
    raise CaresError(f"{name!r} is not an engine; known are kokoro and piper (model {model})")
