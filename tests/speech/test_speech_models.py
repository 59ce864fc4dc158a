"""The real engines and the real recogniser."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from speech_world import PARAMS, dialogue, scene

from cares.asr.recogniser import Recogniser
from cares.core.errors import CaresError, InputError
from cares.core.store import ItemStore
from cares.models.ensure import ensure, model_digest
from cares.speech.align import align_scene
from cares.speech.engines import load_engine
from cares.speech.scene import speak_scene
from cares.speech.studio import Studio
from cares.speech.voiceprint import SpeakerEncoder
from cares.speech.voices import load_voices

pytestmark = pytest.mark.models
ROOT = Path(__file__).parents[2]
TEXT = "We could paint the fence on Sunday."
ENGINES = [("kokoro", "kokoro-82m", "jm_kumo"), ("piper", "piper-joe", "")]
OTHER_PROCESS = """
import hashlib, sys
from cares.models.ensure import ensure
from cares.speech.engines import load_engine
engine, model, voice, text = sys.argv[1:]
speaker = load_engine(engine, model, ensure(model))
speaker.speak("Something else first.", voice, 1.1, 5)
print(hashlib.sha256(speaker.speak(text, voice, 0.97, 11).samples.tobytes()).hexdigest())
"""


@pytest.mark.parametrize(("engine", "model", "voice"), ENGINES)
def test_another_process_with_other_calls_before_gives_the_same_samples(engine: str, model: str, voice: str) -> None:
    speech = load_engine(engine, model, ensure(model)).speak(TEXT, voice, 0.97, 11).samples
    assert np.isfinite(speech).all()
    command = [sys.executable, "-c", OTHER_PROCESS, engine, model, voice, TEXT]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2"}
    found = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == hashlib.sha256(speech.tobytes()).hexdigest()


@pytest.mark.parametrize(("engine", "model", "voice"), ENGINES)
def test_a_higher_speed_is_shorter(engine: str, model: str, voice: str) -> None:
    speaker = load_engine(engine, model, ensure(model))
    assert len(speaker.speak(TEXT, voice, 1.2, 1).samples) < 0.95 * len(speaker.speak(TEXT, voice, 0.9, 1).samples)


def test_piper_follows_its_seed() -> None:
    speaker = load_engine("piper", "piper-joe", ensure("piper-joe"))
    assert len(speaker.speak(TEXT, "", 1.0, 1).samples) != len(speaker.speak(TEXT, "", 1.0, 2).samples)


def test_a_voice_that_the_file_lacks_is_named() -> None:
    speaker = load_engine("kokoro", "kokoro-82m", ensure("kokoro-82m"))
    with pytest.raises(InputError, match=r"voices\.npz: voice: got 'af_none', expected one of jf_alpha"):
        speaker.speak(TEXT, "af_none", 1.0, 1)


def test_a_damaged_file_of_voices_is_named(tmp_path: Path) -> None:
    for file in ensure("kokoro-82m").iterdir():
        if file.suffix == ".onnx":
            (tmp_path / file.name).symlink_to(file)
        elif file.suffix == ".npz":
            shutil.copy(file, tmp_path / file.name)
            with (tmp_path / file.name).open("r+b") as stream:
                stream.truncate(file.stat().st_size // 2)
    with pytest.raises(CaresError, match=r"voices\.npz: not a readable file of voices"):
        load_engine("kokoro", "kokoro-82m", tmp_path)


def test_a_dialogue_is_spoken_cut_heard_and_aligned(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    studio = Studio(
        voices=load_voices(),
        params=PARAMS,
        seed=3,
        store=ItemStore("speech", tmp_path),
        model_digest=model_digest,
        open_engine=lambda voice: load_engine(voice.engine, voice.model, ensure(voice.model)),
        listener=(recogniser := Recogniser("whisper-base", ItemStore("asr", tmp_path))),
        voiceprinter=SpeakerEncoder("ge2e-resemblyzer", ItemStore("voiceprint", tmp_path)),
    )
    cut = {
        "text": "I can drive her if you",
        "delivery": "cut",
        "spoken_as": "I can drive her if you look after the chairs.",
    }
    talk = dialogue([cut, {"event": 0}, {"text": "Sorry, what did you say?"}], [{"text": "It was $180 last year."}])
    spoken = speak_scene(scene(genders="FM"), talk, ("jf_alpha", "joe"), studio, "x")
    assert spoken.record.failure == ""
    assert spoken.errors.rate < 0.15
    words = align_scene(spoken.record, spoken.samples, recogniser).words
    assert [word.word for word in words][:6] == ["I", "can", "drive", "her", "if", "you"]
    assert sum(word.interpolated for word in words) <= 1
    heard = recogniser.text(spoken.samples[: spoken.record.utterances[0].n_samples]).lower()
    assert "drive" in heard
    assert "after" not in heard
