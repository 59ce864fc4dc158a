"""The stage scripts as DVC runs them, as far as they need no model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cares.core.canonical import file_digest, read_json
from cares.core.record import read_records, write_records
from cares.records.answer import Answer
from cares.records.item import Item
from cares.records.timeline import MixedScene

STAGES = Path(__file__).parents[2] / "stages"
PARAMS = {
    "seed": 1,
    "models": {
        "writer": "qwen2.5-coder-1.5b-instruct",
        "encoder": "all-minilm-l6-v2",
        "tts": ["kokoro-82m"],
        "asr": "whisper-base",
    },
    "llm": {},
    "items": {"tasks": ["reactions"], "splits": ["train", "validation", "test"]},
    "bench": {
        "systems": ["majority", "oracle", "cascade"],
        "wave_templates": 6,
        "wave_size": 16,
        "context_s": 20.0,
        "max_tokens": 24,
        "bootstrap": 500,
    },
}


def stage(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(STAGES / f"{name}.py"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def folder(tmp_path: Path, scenes: list[MixedScene]) -> Path:
    place = tmp_path / "ein Bündel"
    write_records(place / "data/scenes/scenes.jsonl", scenes)
    (place / "params.yaml").write_text(yaml.safe_dump(PARAMS), encoding="utf-8")
    return place


def test_items_and_a_system_leave_their_outs(folder: Path) -> None:
    done = stage(folder, "items")
    assert (done.returncode, done.stderr) == (0, "")
    items = read_records(Item, folder / "data/bench/items.jsonl")
    metrics = read_json(folder / "metrics/items.json")
    assert metrics["items"] == len(items)
    assert metrics["sha256"] == file_digest(folder / "data/bench/items.jsonl")
    done = stage(folder, "bench", "majority")
    assert (done.returncode, done.stderr) == (0, "")
    assert "balanced accuracy 0.25" in done.stdout
    answers = read_records(Answer, folder / "data/bench/answers/majority.jsonl")
    assert [answer.item_id for answer in answers] == [item.item_id for item in items]
    scores = read_json(folder / "metrics/bench/majority.json")
    assert scores["reactions"]["balanced_accuracy"]["value"] == 0.25
    rows = (folder / "metrics/plots/bench_majority.csv").read_text().splitlines()
    assert rows[0] == "actual,predicted"
    assert len(rows) == len(items) + 1


@pytest.mark.parametrize("arguments", [(), ("oracel",), ("majority", "oracle")])
def test_a_wrong_command_line_is_an_error_without_a_traceback(folder: Path, arguments: tuple[str, ...]) -> None:
    done = stage(folder, "bench", *arguments)
    assert done.returncode == 1
    assert "expected one of bench.systems: majority, oracle, cascade" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_input_is_an_error_that_says_what_to_run(folder: Path) -> None:
    (folder / "data/scenes/scenes.jsonl").unlink()
    for name, arguments in (("items", ()), ("bench", ("majority",))):
        done = stage(folder, name, *arguments)
        assert done.returncode == 1
        assert "dvc repro" in done.stderr


def test_scenes_without_a_sound_are_an_error(folder: Path, scenes: list[MixedScene]) -> None:
    write_records(folder / "data/scenes/scenes.jsonl", [scene for scene in scenes if not scene.events])
    done = stage(folder, "items")
    assert done.returncode == 1
    assert "holds no item" in done.stderr
    assert not (folder / "data/bench").exists()
