"""The whole way of a recording through vLLM: a tiny random model that hears is served, and asked by `cares bench`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tiny_models

from cares.bench.systems_audio import AudioQuestion
from cares.bench.systems_openai import AudioServer
from cares.core.canonical import file_digest, read_json
from cares.core.pcm import SAMPLE_RATE, encode
from cares.core.record import read_records, write_records
from cares.core.rng import KeyedRandom
from cares.llm.inprocess import ENVIRONMENT
from cares.llm.serve import running
from cares.llm.types import ChatAnswer
from cares.records.answer import Answer
from cares.records.item import Item
from cares.records.timeline import MixedScene

REPO = Path(__file__).parents[2]
pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A vLLM server on loopback with a Qwen2-Audio of random weights."""
    folder = tmp_path_factory.mktemp("qwen2-audio")
    tiny_models.save_qwen2_audio(folder, template=tiny_models.PLAIN_TEMPLATE)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    values = {
        "--model": str(folder), "--served-model-name": "tiny-qwen2-audio", "--host": "127.0.0.1", "--port": str(port),
        "--dtype": "float32", "--max-model-len": "4096", "--max-num-seqs": "8", "--max-num-batched-tokens": "8192",
        "--kv-cache-memory-bytes": str(256 << 20), "--generation-config": "vllm",
        "--structured-outputs-config.backend": "guidance",
        "--structured-outputs-config.disable_any_whitespace": "true",
    }  # fmt: skip
    flags = ["--no-enable-chunked-prefill", "--no-enable-prefix-caching", "--enforce-eager", "--disable-log-stats"]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    command += [*(part for pair in values.items() for part in pair), *flags]
    variables = {**os.environ, **ENVIRONMENT, "VLLM_ENABLE_V1_MULTIPROCESSING": "1"}
    with running(command, f"http://127.0.0.1:{port}/health", "tiny-qwen2-audio", variables):
        yield f"http://127.0.0.1:{port}/v1"


def noise(name: str, seconds: float) -> bytes:
    draw = np.random.default_rng(KeyedRandom(1, "test_noise", name).below(1 << 31))
    pitch = draw.uniform(150, 3000)
    t = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    samples = 6000 * np.sin(2 * np.pi * pitch * t) * (np.sin(2 * np.pi * draw.uniform(0.3, 5) * t) > 0)
    return encode(np.round(samples + draw.normal(0, 300, len(t))).astype(np.int16), container="WAV")


@pytest.fixture
def data(tmp_path: Path, make_scene: object, make_items: object) -> Path:
    """Forty scenes whose recordings are all different, and the questions about their reactions."""
    told = []
    for number in range(40):
        labels = KeyedRandom(1, "test_labels", number).shuffled(["pivot", "verbal", "behavioral", "ambient"])[:3]
        scene: MixedScene = make_scene(number, tuple(labels))  # type: ignore[operator]
        path = tmp_path / scene.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(noise(scene.scene_id, 2.0))
        told.append(scene.model_copy(update={"sha256": file_digest(path)}))
    write_records(tmp_path / "data/bench/items.jsonl", make_items(told, "reactions"))  # type: ignore[operator]
    return tmp_path


def bench(url: str, data: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    options = ["--base-url", url, "--model", "tiny-qwen2-audio", "--data", str(data), "--out", str(out), *more]
    return subprocess.run(
        [sys.executable, "-m", "cares.cli", "bench", *options],
        env={**os.environ, "PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_what_is_heard_reaches_the_model(url: str, tmp_path: Path) -> None:
    server = AudioServer("tiny-qwen2-audio", url)
    questions = []
    for number in range(4):
        path = tmp_path / f"{number}.wav"
        path.write_bytes(noise(str(number), 4.0 if number else 8.0))
        questions.append(AudioQuestion(str(number), "What is heard?", path, file_digest(path), 12, 1))
    found: dict[int, ChatAnswer] = {}
    server.answer(questions, lambda place, answer, milliseconds: found.update({place: answer}))
    assert {answer.finish_reason for answer in found.values()} <= {"stop", "length"}
    # four seconds are a hundred positions: the server was sent the recording, and its length counts
    assert found[0].prompt_tokens - found[1].prompt_tokens == 100
    assert found[1].prompt_tokens == found[2].prompt_tokens
    # the same question about other recordings of the same length is answered otherwise
    assert len({found[number].text for number in (1, 2, 3)}) > 1


def test_a_random_model_scores_at_chance(url: str, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = bench(url, data, out, "--constrained", "--task", "reactions-time", "--repeats", "20")
    assert done.returncode == 0, done.stderr
    items = read_records(Item, data / "data/bench/items.jsonl")
    answers = [answer for answer in read_records(Answer, out / "answers.jsonl") if not answer.repeat]
    assert len(answers) == sum(item.group == "reactions-time" for item in items) == 120
    assert {answer.status for answer in answers} == {"ok"}
    low, high = read_json(out / "metrics.json")["tasks"]["reactions-time"]["balanced_accuracy"]["ci95"]
    assert low <= 0.25 <= high
    again = bench(url, data, out, "--constrained", "--task", "reactions-time", "--repeats", "20")
    assert "0 asked now, 140 kept from before" in again.stdout


def test_the_preflight_finds_that_the_model_is_given_30_s(url: str, tmp_path: Path) -> None:
    done = bench(url, tmp_path, tmp_path / "out", "--preflight", "--max-tokens", "8")
    assert done.returncode == 0, done.stderr
    assert read_json(tmp_path / "out/preflight.json")["tokens_grow_to_s"] == 30
    assert "files beyond 30 s cost no more" in done.stdout
