"""Coqui's engine with a small VITS of random weights, in the environment of CARES_COQUI_PYTHON or in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from cares.core.errors import CaresError
from cares.speech.engines import Engine, engine_version, load_engine
from cares.speech.engines.coqui_process import CoquiProcess, coqui_versions

HERE = Path(__file__).parent
PYTHON = sys.executable if find_spec("TTS") else os.environ.get("CARES_COQUI_PYTHON", "")
needs_coqui = pytest.mark.skipif(
    not PYTHON, reason="coqui-tts is not installed here and CARES_COQUI_PYTHON names no interpreter that has it"
)
TEXT = "We could paint the fence."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vits")
    made = subprocess.run([PYTHON, str(HERE / "make_vits.py"), str(path)], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return path


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[Engine]:
    opened = load_engine("coqui", "coqui-vits-vctk", folder)
    yield opened
    if isinstance(opened, CoquiProcess):
        opened.close()


@needs_coqui
def test_a_vits_is_loaded_and_follows_its_seed_voice_and_speed(engine: Engine, folder: Path) -> None:
    one = engine.speak(TEXT, "p225", 1.0, 3)
    assert one.rate == 22_050
    assert one.samples.dtype == np.float32
    assert np.isfinite(one.samples).all()
    assert len(one.samples) > one.rate // 4
    other = engine.speak(TEXT, "p225", 1.0, 4)
    assert other.samples.tobytes() != one.samples.tobytes()
    again = engine.speak(TEXT, "p225", 1.0, 3)
    assert again.samples.tobytes() == one.samples.tobytes()
    assert again.words == one.words
    assert engine.speak(TEXT, "p226", 1.0, 3).samples.tobytes() != one.samples.tobytes()
    assert len(engine.speak(TEXT, "p225", 1.3, 3).samples) < len(one.samples)
    assert len(engine.speak(TEXT, "ED", 1.0, 3).samples)
    fresh = load_engine("coqui", "coqui-vits-vctk", folder)
    assert fresh.speak(TEXT, "p225", 1.0, 3).samples.tobytes() == one.samples.tobytes()


@needs_coqui
def test_its_durations_are_the_times_of_the_words(engine: Engine) -> None:
    speech = engine.speak(TEXT, "p225", 1.0, 3)
    assert speech.words is not None
    assert len(speech.words) == 5
    edges = [edge for word in speech.words for edge in word if edge is not None]
    assert edges == sorted(edges)
    assert 0 <= edges[0] < edges[-1] <= len(speech.samples)


@needs_coqui
def test_a_voice_that_is_not_there_is_named_with_those_that_are(engine: Engine) -> None:
    with pytest.raises(CaresError, match=r"voice: got 'p999', expected one of ED, p225, p226"):
        engine.speak(TEXT, "p999", 1.0, 1)


@needs_coqui
def test_a_text_without_words_is_an_error_of_the_text(engine: Engine) -> None:
    with pytest.raises(CaresError, match="gives no sound"):
        engine.speak("  ", "p225", 1.0, 1)
    assert len(engine.speak("7 \N{GRINNING FACE} (naïve)!", "p225", 1.0, 1).samples)


@needs_coqui
@pytest.mark.parametrize(("file", "data"), [("model_file.pth", b"PK\x03\x04 cut"), ("config.json", b'{"model": "vi')])
def test_a_damaged_file_is_named(folder: Path, tmp_path: Path, file: str, data: bytes) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / file).unlink()
    (tmp_path / file).write_bytes(data)
    with pytest.raises(CaresError, match=file.replace(".", r"\.")):
        load_engine("coqui", "coqui-vits-vctk", tmp_path)
    (tmp_path / file).unlink()
    with pytest.raises(CaresError, match=r"expected config\.json and one of model_file\.pth"):
        load_engine("coqui", "coqui-vits-vctk", tmp_path)


@needs_coqui
def test_the_key_names_the_librarys_version() -> None:
    assert engine_version("coqui")["coqui-tts"] == coqui_versions()["coqui-tts"]


@pytest.mark.skipif(
    bool(find_spec("TTS")), reason="coqui-tts is installed here, so that no other interpreter is asked for"
)
def test_without_coqui_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CARES_COQUI_PYTHON", raising=False)
    with pytest.raises(CaresError, match=r"CARES_COQUI_PYTHON names no interpreter that has it: python3\.11 -m venv"):
        load_engine("coqui", "coqui-vits-vctk", tmp_path)
    monkeypatch.setenv("CARES_COQUI_PYTHON", str(tmp_path / "python"))
    with pytest.raises(CaresError, match="cannot be started"):
        load_engine("coqui", "coqui-vits-vctk", tmp_path)
    with pytest.raises(CaresError, match="cannot be started"):
        coqui_versions()
    monkeypatch.setenv("CARES_COQUI_PYTHON", sys.executable)
    with pytest.raises(CaresError, match="has no coqui-tts"):
        coqui_versions()
    with pytest.raises(
        CaresError, match=r"coqui-tts cannot be loaded: .*pip install '\.\[coqui\]'|expected config\.json"
    ):
        load_engine("coqui", "coqui-vits-vctk", tmp_path)


def test_a_process_that_dies_is_told(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho broken interpreter >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(CaresError, match=r"its process ended \(exit status 3\): broken interpreter"):
        CoquiProcess(tmp_path, str(program))
