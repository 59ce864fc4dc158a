"""Text-to-speech engines behind one protocol.

An engine is loaded once a worker. What it gives is a function of text, voice, speed and seed alone; the one exception
is `openai`, a server, whose samples nobody promises to be the same again.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from cares.core.errors import CaresError
from cares.core.store import source_digest

EngineName = Literal["kokoro", "piper", "coqui", "openai"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
SERVED = frozenset({"openai"})
HERE = "cares.speech.engines"
_LIBRARIES = {
    "kokoro": ("espeakng-loader", "kokoro-onnx", "onnxruntime", "phonemizer"),
    "piper": ("onnxruntime", "piper-tts"),
    "coqui": (),
    "openai": (),
}


class EngineError(CaresError):
    """An engine could not speak one text; the utterance may be tried again."""


class TimedWord(NamedTuple):
    """Where the engine itself places a word, in its own samples; None where it says two words as one."""

    start_sample: int | None
    end_sample: int | None


class Speech(NamedTuple):
    """What an engine gives.

    Attributes:
        samples: float speech [T], full scale 1.
        rate: samples a second.
        words: one entry for each word of the text (as `str.split` cuts it), or None when the engine tells no times.
    """

    samples: NDArray[np.float32]
    rate: int
    words: tuple[TimedWord, ...] | None = None


class Engine(Protocol):
    """Speaks a text with a voice."""

    def speak(self, text: str, voice: str, speed: float, seed: int) -> Speech:
        """The spoken text.

        Args:
            text: words as they are said (see `cares.speech.spoken`).
            voice: name of the voice in the model.
            speed: 1.0 is the voice's own pace, 1.1 is a tenth faster.
            seed: for engines that draw random numbers.

        Raises:
            EngineError: the text gives no sound.
            InputError: the model has no such voice.
        """


def load_engine(
    name: str,
    model: str,
    folder: Path | None,
    url: str = "",
    request: Mapping[str, str | int | float | bool] | None = None,
) -> Engine:
    """The engine `name` with the weights of `model`.

    One thread, so that samples depend on neither the number of workers nor that of processors.

    Args:
        name: one of `ENGINES`.
        model: id in the registry; for `openai` the name under which the server offers the model.
        folder: the model's ready files; None for `openai`, which has none here.
        url: the server's address for `openai`, unless CARES_TTS_URL names it.
        request: further fields of every request to the server.

    Raises:
        CaresError: the name is unknown, the weights do not load, or a library or server is missing.
    """
    # imported here because each engine's library is large and a voice table may need only one of them
    if name == "openai":
        from cares.speech.engines.openai import OpenAIEngine, server_address, server_key

        return OpenAIEngine(model, server_address(url, model), server_key(), request)
    if folder is None:
        raise CaresError(f"{name} needs the folder of the weights of {model}")
    if name == "kokoro":
        from cares.speech.engines.kokoro import KokoroEngine

        return KokoroEngine(folder)
    if name == "piper":
        from cares.speech.engines.piper import PiperEngine

        return PiperEngine(folder)
    if name == "coqui":
        from cares.speech.engines.coqui_process import open_coqui

        return open_coqui(folder)
    raise CaresError(f"{name!r} is not an engine; known are {', '.join(ENGINES)} (model {model})")


def engine_version(name: EngineName) -> dict[str, str]:
    """What an item's key says of an engine: the digest of its code here and the versions of its libraries.

    Each engine has its own, so that a change to one leaves what the others have spoken.
    """
    if name == "coqui":
        from cares.speech.engines.coqui_process import coqui_versions

        libraries = coqui_versions()
    else:
        libraries = {library: _version(library) for library in _LIBRARIES[name]}
    shared = {"kokoro": ("onnx", "timing"), "piper": ("onnx", "timing"), "coqui": ("coqui_process",), "openai": ()}
    return {**libraries, "code": source_digest(*(f"{HERE}.{part}" for part in (name, *shared[name])))}


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        raise CaresError(f"{library} is not installed; install it with: pip install -e '.[build]'") from None
