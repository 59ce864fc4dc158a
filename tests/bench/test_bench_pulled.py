"""A newcomer's clone: it pulls the test split and scores it, where nothing that builds the data set can be imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from ears import listening, said

from cares.bench.items import build_items
from cares.bench.items_params import ItemsParams
from cares.bench.questions import Questions
from cares.catalog.load import load_catalog
from cares.core.canonical import file_digest, read_json, write_json
from cares.core.pcm import SAMPLE_RATE, encode
from cares.core.record import read_records, write_records
from cares.records.answer import Answer
from cares.records.item import TASKS, Counterfactual, Item
from cares.records.scene import SPLITS
from cares.records.timeline import MixedScene

REPO = Path(__file__).parents[2]
# `pip install -e ".[bench]"` brings none of these; whoever asks for one is told that it is not installed
LIGHT = """
import sys
HEAVY = {"torch", "vllm", "transformers", "whisper", "whisper_timestamped", "sentence_transformers", "kokoro_onnx",
         "piper", "pyroomacoustics", "onnxruntime", "huggingface_hub", "safetensors", "accelerate", "inflect", "gguf",
         "pyloudnorm", "imageio_ffmpeg", "rapidfuzz", "sacrebleu", "ray", "s3fs", "sshfs"}
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HEAVY:
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)
sys.meta_path.insert(0, Refuse())
for name in sorted(HEAVY):
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    sys.exit(f"{name} could be imported")
from cares.cli import main
main()
"""
PIPELINE = """
stages:
  mix: {cmd: "true", outs: [data/scenes]}
  counterfactuals: {cmd: "true", deps: [data/scenes], outs: [data/bench/counterfactuals]}
  items:
    cmd: "true"
    deps: [data/scenes]
    outs: [data/bench/items.jsonl]
    metrics: [metrics/items.json: {cache: false}]
"""


def run(cwd: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(REPO),
        "PYTHONDONTWRITEBYTECODE": "1",
        "DVC_NO_ANALYTICS": "1",
        "DVC_SITE_CACHE_DIR": str(cwd.parent / "site"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        **more,
    }
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def light(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(cwd, sys.executable, "-c", LIGHT, *arguments)


def write_sound(path: Path, number: int, seconds: float = 4.0) -> str:
    """A tone of its own for every number, as a WAV like those of the mix; returns its SHA-256."""
    times = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    tone = np.round(800 * np.sin(2 * np.pi * (300 + number) * times)).astype(np.int16)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode(tone, container="WAV"))
    return file_digest(path)


@pytest.fixture
def published(
    scenes: list[MixedScene],
    counterfactuals: Callable[[Sequence[MixedScene]], list[Counterfactual]],
    tmp_path: Path,
) -> Path:
    """A repository with the data set of twelve scenes, pushed to a folder that its committed settings name."""
    root = tmp_path / "published"
    told = [
        scene.model_copy(update={"sha256": write_sound(root / scene.path, number)})
        for number, scene in enumerate(scenes)
    ]
    muted = [
        made.model_copy(update={"sha256": write_sound(root / made.path, 100 + number)})
        for number, made in enumerate(counterfactuals(told))
    ]
    params = ItemsParams(
        tasks=TASKS,
        splits=SPLITS,
        reaction_levels=("time", "time_and_name", "neither"),
        grounding_splits=SPLITS,
        summary_words=(25, 75, 200),
    )
    items = build_items(told, load_catalog(), params, 1, Questions(REPO / "prompts"), muted)
    write_records(root / "data/scenes/scenes.jsonl", told)
    write_records(root / "data/bench/counterfactuals/manifest.jsonl", muted)
    write_records(root / "data/bench/items.jsonl", items)
    sums = "".join(f"{scene.sha256}  {scene.scene_id}.wav\n" for scene in told)
    (root / "data/scenes/SHA256SUMS").write_text(sums)
    write_json(root / "metrics/items.json", {"sha256": file_digest(root / "data/bench/items.jsonl")})
    (root / "params.yaml").write_bytes((REPO / "params.yaml").read_bytes())
    (root / "dvc.yaml").write_text(PIPELINE)
    (root / ".gitignore").write_text("/data/\n")
    run(root, "git", "init", "-q")
    run(root, "dvc", "init", "-q")
    run(root, "dvc", "commit", "-q", "-f")
    run(root, "dvc", "remote", "add", "-q", "--default", "store", str(tmp_path / "store"))
    run(root, "dvc", "push", "-q")
    run(root, "git", "add", "-A")
    run(root, "git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "built")
    return root


@pytest.mark.timeout(600)
def test_a_newcomers_clone_pulls_the_test_split_and_scores_it(published: Path, tmp_path: Path) -> None:
    run(tmp_path, "git", "clone", "-q", str(published), "clone")
    clone = tmp_path / "clone"
    assert "split test: " in light(clone, "pull", "--split", "test").stdout
    items = read_records(Item, clone / "data/bench/items.jsonl")
    asked = [item for item in items if item.split == "test"]
    here = {path.relative_to(clone).as_posix() for path in (clone / "data").rglob("*.wav")}
    assert here == {item.audio for item in asked} and len(here) == 4, "one scene, and it without each of three sounds"
    with listening() as ears:
        ears.script = lambda number, question: said("A short talk." if "summary" in question.text else "B")
        options = ("--model", "ears", "--base-url", ears.url, "--split", "test")
        done = light(clone, "bench", *options)
        assert len(ears.heard) == len(asked)
        assert {question.sample_rate for question in ears.heard} == {16_000}
    out = clone / "bench-results/ears"
    answers = read_records(Answer, out / "answers.jsonl")
    assert {answer.item_id for answer in answers} == {item.item_id for item in asked}
    found = read_json(out / "metrics.json")
    assert found["run"]["splits"] == ["test"] and found["run"]["status"]["error"] == 0
    assert {"scene", "sounds", "grounding", "summary-25", "reactions-time"} <= set(found["tasks"])
    assert found["items_sha256"] == file_digest(published / "data/bench/items.jsonl")
    assert "all read" in done.stdout
