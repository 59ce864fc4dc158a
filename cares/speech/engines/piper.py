"""Piper (VITS) with one voice a model.

Its graph draws noise from a generator that ONNX Runtime seeds when a session is opened and that runs on from call to
call, so every utterance opens a session of its own: its samples then depend on its own seed alone. The model is
optimised once when the engine is loaded, so that this takes 0.1 s instead of 0.5 s. Its durations are those that the
graph draws before it makes any sound, in hops of the decoder (12 ms).
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import onnxruntime
from piper import AudioChunk, PiperVoice, SynthesisConfig
from piper.config import PiperConfig

from cares.core.canonical import read_json
from cares.core.errors import CaresError
from cares.speech.engines import EngineError, Speech, TimedWord
from cares.speech.engines.espeak import espeak_missing
from cares.speech.engines.onnx import only_file, open_session, optimised, with_durations
from cares.speech.engines.timing import Phoneme, timed_words

DURATIONS = "/Ceil_output_0"


class PiperEngine:
    """One Piper voice.

    Args:
        folder: holds one .onnx file and its .onnx.json.

    Raises:
        CaresError: a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        model = only_file(folder, "*.onnx")
        described = only_file(folder, "*.onnx.json")
        try:
            self._config = PiperConfig.from_dict(read_json(described))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CaresError(f"{described.name}: not a Piper configuration ({error!r})") from None
        self._name = model.name
        self._model = optimised(with_durations(model.read_bytes(), DURATIONS), model.name)

    def speak(self, text: str, voice: str, speed: float, seed: int) -> Speech:
        """See `Engine.speak`; `voice` has no effect, because the model has one."""
        onnxruntime.set_seed(seed)
        speaker = PiperVoice(session=open_session(self._model, self._name, ready=True), config=self._config)
        style = SynthesisConfig(length_scale=self._config.length_scale / speed, normalize_audio=False)
        try:
            sentences = list(speaker.synthesize(text, style, include_alignments=True))
        except RuntimeError as error:
            raise espeak_missing("piper", "piper-tts", error) from None
        if not sentences:
            raise EngineError(f"piper: {text!r} gives no phoneme")
        samples = np.concatenate([sentence.audio_float_array for sentence in sentences])
        return Speech(samples, int(self._config.sample_rate), _words(text, sentences, speaker))


def _words(text: str, sentences: list[AudioChunk], speaker: PiperVoice) -> tuple[TimedWord, ...] | None:
    timed: list[Phoneme] = []
    reached = 0
    for sentence in sentences:
        if sentence.phoneme_alignments is None:
            return None
        at = reached
        for one in sentence.phoneme_alignments:
            timed.append(Phoneme(one.phoneme, at, at + int(one.num_samples)))
            at += int(one.num_samples)
        reached += len(sentence.audio_float_array)
        timed.append(Phoneme(" ", reached, reached))
    return timed_words(text.split(), timed, lambda word: "".join(chain.from_iterable(speaker.phonemize(word))))
