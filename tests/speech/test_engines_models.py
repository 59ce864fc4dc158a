"""Kokoro and Piper for real: the same clip anywhere, their own times of words, unusual texts, damaged files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import engine_jobs
import numpy as np
import pytest
from engine_jobs import Clip, open_engines, spoken

from cares.core.errors import CaresError
from cares.core.executor import map_items
from cares.models.ensure import ensure
from cares.speech.engines import EngineError, Speech, load_engine
from cares.speech.engines.onnx import open_session

pytestmark = pytest.mark.models
ROOT = Path(__file__).parents[2]
KINDS = [("kokoro", "kokoro-82m", "jm_kumo"), ("piper", "piper-joe", "")]
CLIPS = [
    Clip(engine, model, voice, text, speed, seed)
    for engine, model, voice in KINDS
    for text, speed, seed in (("Not today.", 1.0, 3), ("He left.", 1.06, 4))
]
ESPEAK = """
import sys
from pathlib import Path
from cares.core.errors import CaresError
from cares.speech.engines import load_engine
engine, folder, voice = sys.argv[1:]
if engine == "piper":
    import piper.voice
    piper.voice.EspeakPhonemizer = lambda folder: (_ for _ in ()).throw(RuntimeError("Failed to initialize espeak-ng"))
try:
    load_engine(engine, "model", Path(folder)).speak("Yes.", voice, 1.0, 1)
except CaresError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def engines() -> dict[str, engine_jobs.Engine]:
    open_engines(str(Path(__file__).parent))
    return engine_jobs.ENGINES


def say(engines: dict[str, engine_jobs.Engine], engine: str, voice: str, text: str) -> Speech:
    return engines[engine].speak(text, voice, 1.0, 5)


def test_one_two_and_four_workers_speak_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    here = str(Path(__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), here]))
    by_count = [
        map_items(spoken, CLIPS, desc="clips", workers=count, setup=open_engines, setup_args=(here,))
        for count in (1, 2, 4)
    ]
    assert by_count[0] == by_count[1] == by_count[2]
    assert len(set(by_count[0])) == len(CLIPS)
    assert [spoken(clip) for clip in reversed(CLIPS)] == by_count[0][::-1]


@pytest.mark.parametrize(("engine", "model", "voice"), KINDS)
def test_an_engine_tells_when_it_says_each_word(
    engines: dict[str, engine_jobs.Engine], engine: str, model: str, voice: str
) -> None:
    text = "Stop, all of the people left. Yes!"
    speech = say(engines, engine, voice, text)
    assert speech.words is not None
    assert len(speech.words) == len(text.split())
    known = [edge for word in speech.words for edge in word if edge is not None]
    assert known == sorted(known)
    assert known[0] >= 0
    assert known[-1] <= len(speech.samples)
    assert len(known) >= 2 * (len(speech.words) - 2)
    first, last = speech.words[0], speech.words[-1]
    assert first.end_sample is not None
    assert last.start_sample is not None
    loudness = np.abs(speech.samples)
    # what is before the first word is silence; the last word is the last that is loud
    assert loudness[first.start_sample : first.end_sample].mean() > 3 * loudness[: first.start_sample // 2 + 1].mean()
    assert loudness[last.start_sample : last.end_sample].max() > loudness.max() / 4
    assert loudness[last.end_sample + speech.rate // 20 :].max(initial=0.0) < loudness.max() / 20


def test_asking_for_times_changes_no_sample(engines: dict[str, engine_jobs.Engine]) -> None:
    from kokoro_onnx import Kokoro

    folder = ensure("kokoro-82m")
    plain = Kokoro.from_session(open_session(folder / "kokoro-v1.0.int8.onnx"), str(folder / "voices.npz"))
    expected, _ = plain.create("He left.", "jm_kumo", 1.0, "en-us", trim=False)
    np.testing.assert_array_equal(say(engines, "kokoro", "jm_kumo", "He left.").samples, expected)


@pytest.mark.parametrize(("engine", "model", "voice"), KINDS)
@pytest.mark.parametrize(
    "text",
    [
        "7",
        "Oh!",
        "Hmm.",
        'She said "no" (twice) [loud] {really} <now>.',
        "Café déjà vu, naïve.",
        "Nice \N{GRINNING FACE} day.",
        "привет",
        "日本",
    ],
)
def test_unusual_texts_give_finite_speech_of_plausible_length(
    engines: dict[str, engine_jobs.Engine], engine: str, model: str, voice: str, text: str
) -> None:
    speech = say(engines, engine, voice, text)
    assert np.isfinite(speech.samples).all()
    assert 0.01 < float(np.abs(speech.samples).max()) < 2
    assert 0.2 < len(speech.samples) / speech.rate < 12
    assert speech.words is None or len(speech.words) == len(text.split())


@pytest.mark.parametrize(("engine", "model", "voice"), KINDS)
@pytest.mark.parametrize("text", ["", "   ", "\N{GRINNING FACE}"])
def test_a_text_without_a_sound_is_an_error_of_the_text(
    engines: dict[str, engine_jobs.Engine], engine: str, model: str, voice: str, text: str
) -> None:
    try:
        speech = say(engines, engine, voice, text)
    except EngineError as error:
        assert engine in str(error)
    else:  # espeak-ng has names for some signs
        assert text.strip()
        assert len(speech.samples)


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "model", "voice"), KINDS)
def test_four_hundred_characters_without_a_stop_are_spoken_whole(
    engines: dict[str, engine_jobs.Engine], engine: str, model: str, voice: str
) -> None:
    text = ("people walk along the river while the other ones wait for a bus and " * 6)[:400].rsplit(" ", 1)[0]
    speech = say(engines, engine, voice, text)
    assert 12 < len(speech.samples) / speech.rate < 40
    assert speech.words is not None
    assert len(speech.words) == len(text.split())


@pytest.mark.parametrize(
    ("model", "file", "said"),
    [
        ("kokoro-82m", "voices.npz", r"voices\.npz: not a readable file of voices"),
        ("kokoro-82m", "kokoro-v1.0.int8.onnx", r"int8\.onnx: not a readable ONNX model"),
        ("piper-joe", "en_US-joe-medium.onnx", r"medium\.onnx: not a readable ONNX model"),
        ("piper-joe", "en_US-joe-medium.onnx.json", r"medium\.onnx\.json"),
    ],
)
@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_a_file_that_is_cut_short_is_named(tmp_path: Path, model: str, file: str, said: str, kept: float) -> None:
    for path in ensure(model).iterdir():
        if path.name == file:
            (tmp_path / file).write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
        elif path.is_file() and not path.name.startswith("."):
            (tmp_path / path.name).symlink_to(path)
    with pytest.raises(CaresError, match=said):
        load_engine(model.split("-")[0], model, tmp_path)


@pytest.mark.parametrize(("engine", "model", "voice"), KINDS)
def test_a_missing_espeak_is_told_with_what_to_install(tmp_path: Path, engine: str, model: str, voice: str) -> None:
    library = tmp_path / "libespeak-ng.so"
    library.write_bytes(b"not a library")
    away = {"PHONEMIZER_ESPEAK_LIBRARY": str(library), "PATH": str(tmp_path), "PYTHONPATH": str(ROOT)}
    if shutil.which("espeak-ng") and engine == "kokoro":
        pytest.skip("espeak-ng is installed on this machine, and is used instead")
    command = [sys.executable, "-c", ESPEAK, engine, str(ensure(model)), voice]
    found = subprocess.run(command, env={**os.environ, **away}, cwd=ROOT, capture_output=True, text=True)
    assert f"{engine}: espeak-ng cannot be used" in found.stdout, found.stderr
    assert "pip install --force-reinstall" in found.stdout
    assert "apt install espeak-ng" in found.stdout
