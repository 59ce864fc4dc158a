"""The stage that lets a system answer, as DVC runs it, as far as it needs no model."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from ears import Ears, listening, said

from cares.core.canonical import file_digest, read_json
from cares.core.record import read_records, write_records
from cares.records.answer import Answer
from cares.records.item import Item
from cares.records.timeline import MixedScene

REPO = Path(__file__).parents[2]
BENCH = {
    "systems": ["majority", "random", "openai", "openai-constrained"],
    "tasks": ["scene", "reactions-time", "grounding"],
    "wave_templates": 6,
    "wave_size": 16,
    "context_s": 20.0,
    "max_tokens": 24,
    "repeats": 3,
    "bootstrap": 500,
    "audio_model": "ears",
}
PARAMS = {
    "seed": 1,
    "models": {
        "writer": "qwen2.5-coder-1.5b-instruct",
        "encoder": "all-minilm-l6-v2",
        "tts": ["kokoro-82m"],
        "asr": "whisper-base",
        "speaker": "ge2e-resemblyzer",
    },
    "llm": {},
    "bench": BENCH,
}


def stage(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(REPO / "stages/bench.py"), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPO), "CARES_STORE": str(folder / "store"), **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def folder(scenes: list[MixedScene], scene_files: Path, make_items: Callable[..., list[Item]]) -> Path:
    told = [scene.model_copy(update={"sha256": file_digest(scene_files / scene.path)}) for scene in scenes]
    items = make_items(told)
    for path in {scene_files / item.audio for item in items if item.level == "muted"}:
        # one tone stands for all recordings here, but both halves of a pair have to differ
        path.write_bytes(path.read_bytes()[:-2] + b"\x01\x00")
    items = [item.model_copy(update={"audio_sha256": file_digest(scene_files / item.audio)}) for item in items]
    write_records(scene_files / "data/bench/items.jsonl", items)
    write_records(scene_files / "data/scenes/scenes.jsonl", told)
    (scene_files / "params.yaml").write_text(yaml.safe_dump(PARAMS), encoding="utf-8")
    (scene_files / "dvc.yaml").write_text("stages: {}\n", encoding="utf-8")
    return scene_files


@pytest.fixture
def ears() -> Iterator[Ears]:
    with listening() as state:
        yield state


@pytest.mark.parametrize("system", ["majority", "random"])
def test_a_system_leaves_its_outs(system: str, folder: Path) -> None:
    done = stage(folder, system)
    assert (done.returncode, done.stderr) == (0, "")
    items = read_records(Item, folder / "data/bench/items.jsonl")
    asked = [item for item in items if item.choices]
    answers = read_records(Answer, folder / f"data/bench/answers/{system}.jsonl")
    assert [answer.item_id for answer in answers] == [item.item_id for item in asked]
    found = read_json(folder / f"metrics/bench/{system}.json")
    assert found["system"] == system
    assert found["items_sha256"] == file_digest(folder / "data/bench/items.jsonl")
    reactions = {f"reactions-{level}" for level in ("time", "time_and_name", "neither")}
    assert set(found["tasks"]) == {"scene", "sounds", "grounding"} | reactions
    if system == "majority":
        assert found["tasks"]["reactions-time"]["balanced_accuracy"]["value"] == 0.25
        assert found["tasks"]["grounding"]["pair_accuracy"]["value"] == 0.0
    rows = (folder / f"metrics/plots/bench_{system}.csv").read_text().splitlines()
    assert rows[0] == "task,actual,predicted"
    assert f"bench {system}: {len(answers)} answers -> data/bench/answers/{system}.jsonl" in done.stdout


def test_a_served_model_is_asked_once_and_tells_no_time_in_its_outs(folder: Path, ears: Ears) -> None:
    ears.script = lambda number, question: said("B")
    outs = [folder / name for name in ("data/bench/answers/openai.jsonl", "metrics/bench/openai.json")]
    done = stage(folder, "openai", CARES_LLM_URL=ears.url)
    assert done.returncode == 0, done.stderr
    first, asked = [path.read_bytes() for path in outs], len(ears.heard)
    assert set(read_json(outs[1])["tasks"]) == {"scene", "reactions-time", "grounding"}
    assert read_json(outs[1])["run"]["flips"]["n"] == 3
    assert not any(word in data for data in first for word in (b"127.0.0.1", b"millisec", b"latency"))
    ears.pause_s = 0.01
    done = stage(folder, "openai", CARES_LLM_URL=ears.url)
    assert done.returncode == 0, done.stderr
    assert ([path.read_bytes() for path in outs], len(ears.heard)) == (first, asked)
    done = stage(folder, "openai-constrained", CARES_LLM_URL=ears.url)
    assert done.returncode == 0, done.stderr
    assert len(ears.heard) == 2 * asked
    assert read_json(folder / "metrics/bench/openai-constrained.json")["run"]["constrained"] is True


@pytest.mark.parametrize("arguments", [(), ("oracel",), ("majority", "random")])
def test_a_wrong_command_line_is_an_error_without_a_traceback(folder: Path, arguments: tuple[str, ...]) -> None:
    done = stage(folder, *arguments)
    assert done.returncode == 1
    assert "expected one of bench.systems: majority, random, openai, openai-constrained" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_input_is_an_error_that_says_what_to_run(folder: Path) -> None:
    (folder / "data/bench/items.jsonl").unlink()
    done = stage(folder, "majority")
    assert done.returncode == 1
    assert "dvc repro" in done.stderr


def test_items_without_a_question_for_the_system_are_an_error(folder: Path) -> None:
    items = read_records(Item, folder / "data/bench/items.jsonl")
    write_records(folder / "data/bench/items.jsonl", [item for item in items if item.task == "summary"])
    done = stage(folder, "majority")
    assert done.returncode == 1
    assert "holds no item" in done.stderr
    assert not (folder / "data/bench/answers").exists()
