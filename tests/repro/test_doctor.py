"""What `cares doctor` finds wrong with settings, and how it tells memory and disk."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cares.repro.doctor import describe
from cares.repro.environment import VARIABLES, findings
from cares.repro.machine import disk, memory_text

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CARES_WORKERS", "0"),
        ("CARES_WORKERS", "two"),
        ("CARES_WORKERS", "²"),
        ("CARES_WORKERS", ""),
        ("CARES_DEVICE", "gpu"),
        ("CARES_HUB", "yes"),
        ("CARES_LLM_URL", "localhost:8000"),
        ("CARES_LLM_URL", "http://"),
        ("CARES_LLM_URL", "http://a:port"),
        ("CARES_LLM_URL", "http://a:8000,ftp://b"),
        ("CARES_LLM_URL", ","),
        ("CARES_LLM_URL", "http://me:secret@a"),
        ("CARES_LLM_KEY", "a key"),
        ("CARES_COQUI_PYTHON", "/no/such/python"),
        ("CARES_TTS_URL", "localhost:8091"),
        ("CARES_WEIGHTS", "/no/such/folder"),
        ("CARES_CACHE", str(Path(__file__) / "cache")),
        ("CARES_STORE", __file__),
    ],
)
def test_a_value_that_cannot_be_right_is_found(name, value):
    (found,) = findings({name: value, "PATH": "/bin"})
    assert found.name == name and found.wrong and "expected" in str(found)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CARES_WORKERS", "2"),
        ("CARES_DEVICE", "cpu"),
        ("CARES_HUB", "1"),
        ("CARES_LLM_URL", "http://127.0.0.1:8000/v1"),
        ("CARES_LLM_URL", "http://a:1, https://b"),
        ("CARES_WEIGHTS", "."),
        ("CARES_STORE", ""),
    ],
)
def test_a_value_that_can_be_right_is_not_blamed(name, value):
    (found,) = findings({name: value})
    assert found.wrong is None and found.note is None


def test_a_folder_that_can_be_made_is_fine(tmp_path):
    (found,) = findings({"CARES_CACHE": str(tmp_path / "new" / "folder")})
    assert found.wrong is None


def test_an_unknown_name_is_pointed_out_but_is_no_fault():
    (found,) = findings({"CARES_WORKER": "2"})
    assert found.wrong is None and str(found) == "CARES_WORKER='2': nothing reads it; did you mean CARES_WORKERS?"


def test_a_key_is_never_shown():
    found = findings({"CARES_LLM_KEY": "s3cret key", "CARES_FREESOUND_KEY": "s3cret"})
    assert "s3cret" not in " ".join(map(str, found))
    (alone,) = findings({"CARES_LLM_KEY": "s3cret"})
    assert alone.note == "has no effect without CARES_LLM_URL"


def test_every_variable_that_the_code_reads_is_known():
    text = "".join(
        path.read_text(encoding="utf-8") for folder in ("cares", "stages") for path in (ROOT / folder).rglob("*.py")
    )
    assert set(re.findall(r"CARES_[A-Z]+(?:_[A-Z]+)*", text)) <= set(VARIABLES)


def test_memory_and_the_limit_of_a_container():
    meminfo = "MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   16000000 kB\n"
    assert memory_text(meminfo, None) == "25 GB, 16 GB free"
    assert memory_text(meminfo, 1 << 62) == "25 GB, 16 GB free"
    limited = memory_text(meminfo, 8_000_000_000)
    assert limited == "25 GB, 16 GB free; this container may use 8 GB (less than 12 GB: the language model may not fit)"
    assert re.match(r"\d+ GB", memory_text("", None))


def test_disk_is_looked_at_where_a_folder_would_lie(tmp_path):
    assert re.fullmatch(r"\d+ GB free here, \d+ GB free there", disk({"here": tmp_path, "there": tmp_path / "a" / "b"}))


def test_a_wrong_setting_does_not_stop_the_description(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    monkeypatch.setenv("CARES_WORKERS", "many")
    text = describe(tmp_path)
    assert "workers not known (CARES_WORKERS)" in text
    assert "setting       CARES_WORKERS='many': expected a whole number" in text
    assert re.search(r"memory +\d+ GB", text) and re.search(r"disk +\d+ GB free here", text)


def test_a_wrong_setting_ends_with_status_1(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    monkeypatch.setenv("CARES_HUB", "ja")
    command = [sys.executable, "-m", "cares.cli", "doctor"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "environment: CARES_HUB='ja': expected 0 or 1" in done.stderr and "Traceback" not in done.stderr
