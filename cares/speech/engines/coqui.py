"""Coqui's models through coqui-tts: VITS with many speakers (VCTK), and XTTS v2.

Both draw random numbers from PyTorch's generator, which is seeded before every utterance. The library needs torchaudio
and so lives in an environment of its own (extra `coqui`); `cares.speech.engines.coqui_process` speaks with it there.
"""

from __future__ import annotations

import os
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cares.core.errors import CaresError, InputError
from cares.speech.engines import EngineError, Speech, TimedWord
from cares.speech.engines.espeak import espeak_missing
from cares.speech.engines.timing import Phoneme, timed_words

LANGUAGE = "en"
CONFIGURATION = "config.json"
CHECKPOINTS = ("model_file.pth", "model.pth")
SPEAKERS = ("speaker_ids.json", "speakers.pth")


class CoquiEngine:
    """A checkpoint of VITS or XTTS v2 with its configuration.

    Args:
        folder: holds config.json, the checkpoint, and the file of speakers of a VITS with many; for XTTS v2
            model.pth, vocab.json and speakers_xtts.pth.

    Raises:
        CaresError: the library or espeak-ng is missing, or a file is missing, damaged or of another kind of model.
    """

    def __init__(self, folder: Path) -> None:
        torch.set_num_threads(1)
        # published checkpoints are pickles; nothing but tensors and plain containers is read of them
        os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
        self._name = folder.name
        self._model, self._config = _loaded(folder)
        self._is_xtts = self._config.model == "xtts"
        self._pace = float(getattr(self._model, "length_scale", 1.0))
        audio = self._config.audio
        self._rate = int(audio.output_sample_rate if self._is_xtts else audio.sample_rate)
        manager = self._model.speaker_manager
        names = [] if manager is None else manager.speakers if self._is_xtts else manager.name_to_id
        self._voices = {str(name).strip(): str(name) for name in names}

    def speak(self, text: str, voice: str, speed: float, seed: int) -> Speech:
        """See `Engine.speak`; a model of one speaker takes the voice ""."""
        if voice not in (self._voices or {"": ""}):
            known = ", ".join(sorted(self._voices)) or "the empty name, for the model has one voice"
            raise InputError(self._name, "voice", voice, f"one of {known}")
        if not text.strip():
            raise EngineError(f"coqui: {text!r} gives no sound")
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        speaker = self._voices.get(voice)
        try:
            with torch.inference_mode():
                if self._is_xtts:
                    given = self._model.synthesize(text, speaker=speaker, language=LANGUAGE, speed=speed)
                else:
                    self._model.length_scale = self._pace / speed
                    given = self._model.synthesize(text, speaker=speaker)
        except (RuntimeError, ValueError, IndexError, AssertionError) as error:
            raise EngineError(f"coqui: {text!r}: {_brief(error)}") from None
        samples = np.atleast_1d(np.asarray(given["wav"], np.float32).squeeze())
        if not len(samples):
            raise EngineError(f"coqui: {text!r} gives no sound")
        words = None if self._is_xtts else self._words(text, given)
        return Speech(samples, self._rate, words)

    def _words(self, text: str, given: dict[str, Any]) -> tuple[TimedWord, ...] | None:
        """Times by the durations that VITS gives each token; blanks between tokens belong to the one before."""
        tokenizer = self._model.tokenizer
        hop = int(self._config.audio.hop_length)
        tokens = [int(token) for token in given["text_inputs"].flatten()]
        ends = np.cumsum(given["outputs"]["durations"].flatten().numpy()).astype(int) * hop
        if len(ends) != len(tokens):
            return None
        blank = getattr(tokenizer.characters, "blank_id", None)
        timed: list[Phoneme] = []
        reached = 0
        for token, end in zip(tokens, ends, strict=True):
            if token == blank and timed:
                timed[-1] = timed[-1]._replace(end_sample=int(end))
            elif token != blank:
                timed.append(Phoneme(str(tokenizer.characters.id_to_char(token)), reached, int(end)))
            reached = int(end)

        def alone(word: str) -> str:
            ids = tokenizer.text_to_ids(word, language=None)
            return "".join(str(tokenizer.characters.id_to_char(token)) for token in ids if token != blank)

        return timed_words(text.split(), timed, alone)


def _loaded(folder: Path) -> tuple[Any, Any]:
    """The model ready to speak and its configuration."""
    try:
        from TTS.config import load_config
        from TTS.tts.models import setup_model
    except ImportError as error:
        raise CaresError(f"coqui-tts cannot be loaded: {_brief(error)}. Install it: pip install '.[coqui]'") from None
    described = folder / CONFIGURATION
    checkpoint = next((folder / name for name in CHECKPOINTS if (folder / name).is_file()), None)
    if not described.is_file() or checkpoint is None:
        raise CaresError(f"{folder.name}: expected {CONFIGURATION} and one of {', '.join(CHECKPOINTS)}")
    try:
        config = load_config(str(described))
        if config.model not in ("vits", "xtts"):
            raise CaresError(f"{described.name}: a model of kind {config.model!r}; known are vits and xtts")
        speakers = next((folder / name for name in SPEAKERS if (folder / name).is_file()), None)
        if config.model == "vits" and speakers is not None:
            # published configurations name the file where it lay when the model was trained
            config.speakers_file = config.model_args.speakers_file = str(speakers)
        model = setup_model(config)
    except CaresError:
        raise
    except Exception as error:  # the library raises bare Exceptions when it finds no espeak-ng
        if "espeak" in str(error).lower():
            raise espeak_missing("coqui", "espeakng-loader", error) from None
        raise CaresError(f"{described.name}: not a configuration of coqui-tts ({_brief(error)})") from None
    try:
        if config.model == "xtts":
            model.load_checkpoint(config, checkpoint_dir=str(folder), eval=True)
        else:
            model.load_checkpoint(config, checkpoint_path=str(checkpoint), eval=True)
    except (OSError, RuntimeError, ValueError, KeyError, EOFError, pickle.UnpicklingError) as error:
        raise CaresError(f"{checkpoint.name}: not a readable checkpoint ({_brief(error)})") from None
    model.eval()
    return model, config


def _brief(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
