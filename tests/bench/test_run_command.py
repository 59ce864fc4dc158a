"""`cares bench` as a user runs it: with nothing but a server, killed and started again, called in a wrong way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ears import Ears, Question, listening, said

from cares.bench.run_folder import slug
from cares.bench.run_items import data_root
from cares.core.canonical import file_digest, read_json, read_jsonl
from cares.core.errors import InputError
from cares.core.pcm import encode, read_samples
from cares.core.record import read_records, write_records
from cares.records.answer import Answer
from cares.records.item import Item
from cares.records.timeline import MixedScene

REPO = Path(__file__).parents[2]
# what only the pipeline needs cannot be imported here
LIGHT = """
import sys
HEAVY = {"torch", "vllm", "transformers", "whisper", "whisper_timestamped", "sentence_transformers", "kokoro_onnx",
         "piper", "pyroomacoustics", "onnxruntime", "dvc", "huggingface_hub", "safetensors", "accelerate", "inflect",
         "jiwer"}
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HEAVY:
            raise ImportError(f"{name} is not installed here")
sys.meta_path.insert(0, Refuse())
from cares.cli import main
main()
"""


@pytest.fixture
def ears() -> Iterator[Ears]:
    with listening() as state:
        yield state


@pytest.fixture
def data(scenes: list[MixedScene], scene_files: Path, make_items: Callable[..., list[Item]]) -> Path:
    """A pulled data set: recordings, each another, and the items about them."""
    told = []
    for number, scene in enumerate(scenes):
        path = scene_files / scene.path
        path.write_bytes(encode(read_samples(path) + number, container="WAV"))
        told.append(scene.model_copy(update={"sha256": file_digest(path)}))
    write_records(scene_files / "data/bench/items.jsonl", make_items(told, "scene", "reactions", "summary"))
    return scene_files


def command(ears: Ears, data: Path, out: Path, *more: str) -> list[str]:
    options = ["--base-url", ears.url, "--model", "ears", "--data", str(data), "--out", str(out), *more]
    return [sys.executable, "-c", LIGHT, "bench", *options]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1", **more}


def run(ears: Ears, data: Path, out: Path, *more: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(ears, data, out, *more),
        cwd=out.parent,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_model_is_scored_with_nothing_but_a_server(ears: Ears, data: Path, tmp_path: Path) -> None:
    ears.script = lambda number, question: said("A short talk." if "summary" in question.text else "The answer is B.")
    out = tmp_path / "out"
    done = run(ears, data, out, "--repeats", "4", CARES_LLM_KEY="sk-secret")
    assert done.returncode == 0, done.stderr
    items = read_records(Item, data / "data/bench/items.jsonl")
    answers = read_records(Answer, out / "answers.jsonl")
    assert [answer.item_id for answer in answers if not answer.repeat] == [item.item_id for item in items]
    assert all(answer.status == "ok" for answer in answers)
    found = read_json(out / "metrics.json")
    assert found["model"] == "ears"
    reactions = {f"reactions-{level}" for level in ("time", "time_and_name", "neither")}
    assert set(found["tasks"]) == {"scene", "summary-25", "summary-75", "summary-200"} | reactions
    assert found["tasks"]["reactions-time"]["n"] == sum(item.group == "reactions-time" for item in items)
    assert found["run"]["flips"] == {"n": 4, "flips": 0, "rate": 0.0, "same_text": 1.0}
    assert found["items_sha256"] == file_digest(data / "data/bench/items.jsonl")
    assert len(list(read_jsonl(out / "timings.jsonl"))) == len(answers)
    assert "question/s" in done.stderr
    assert done.stdout.splitlines()[-1].endswith("metrics.json, answers.jsonl")
    assert str(out) in done.stdout.splitlines()[-1]
    everything = done.stdout + done.stderr + "".join(path.read_text() for path in out.iterdir())
    assert "sk-secret" not in everything
    assert ears.heard[0].headers["Authorization"] == "Bearer sk-secret"
    assert {question.sample_rate for question in ears.heard} == {16_000}


def test_killed_and_started_again_it_asks_nothing_twice_and_scores_the_same(
    ears: Ears, data: Path, tmp_path: Path
) -> None:
    ears.pause_s = 0.05
    ears.script = lambda number, question: said("ABCD"[int(question.sha256[:4], 16) % 4])
    out, whole = tmp_path / "killed", tmp_path / "whole"
    options = ("--task", "reactions", "--task", "scene", "--in-flight", "2", "--repeats", "5")
    process = subprocess.Popen(
        command(ears, data, out, *options), cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL
    )
    journal = out / "asked.jsonl"
    end = time.monotonic() + 60
    while not (journal.is_file() and journal.read_bytes().count(b"\n") >= 12):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.2)
    assert not (out / "metrics.json").exists()
    kept = journal.read_bytes().count(b"\n")
    before = len(ears.heard)
    assert before <= kept + 2
    done = run(ears, data, out, *options)
    assert done.returncode == 0, done.stderr
    asked_now = len(ears.heard) - before
    n_answers = len((out / "answers.jsonl").read_text().splitlines())
    assert asked_now == n_answers - kept
    assert f"{asked_now} asked now, {kept} kept from before" in done.stdout
    assert run(ears, data, whole, *options).returncode == 0
    for name in ("metrics.json", "answers.jsonl"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_splits_tasks_and_levels_are_chosen(ears: Ears, data: Path, tmp_path: Path) -> None:
    done = run(ears, data, tmp_path / "out", "--task", "reactions-time", "--split", "test", "--constrained")
    assert done.returncode == 0, done.stderr
    answers = read_records(Answer, tmp_path / "out/answers.jsonl")
    assert {answer.item_id.split("/")[0] for answer in answers} == {"reactions-time"}
    assert all(answer.constrained and answer.system == "ears-constrained" for answer in answers)
    assert read_json(tmp_path / "out/metrics.json")["run"]["constrained"] is True
    assert all("response_format" in question.body for question in ears.heard)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--split", "tset"), "one of train, validation, test"),
        (("--task", "reaction"), "a task or one of its levels"),
        (("--model", "nose"), "offers ears, not 'nose'"),
        (("--data", "/nowhere"), "cares pull"),
        (("--task", "grounding"), "no item of grounding"),
        (("--adapter", "qwen2.5-omni"), "without --model and --base-url"),
    ],
)
def test_a_wrong_call_is_an_error_without_a_traceback(
    more: tuple[str, str], message: str, ears: Ears, data: Path, tmp_path: Path
) -> None:
    done = run(ears, data, tmp_path / "out", *more)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_unreadable_answers_are_told_by_kind(ears: Ears, data: Path, tmp_path: Path) -> None:
    kinds = ["B", "", "I cannot listen to audio.", "verbal or ambient"]

    def script(number: int, question: Question) -> tuple[int, dict[str, object]]:
        return said(kinds[number % 4])

    ears.script = script
    done = run(ears, data, tmp_path / "out", "--task", "reactions-time", "--in-flight", "1")
    assert done.returncode == 0, done.stderr
    statuses = Counter(answer.status for answer in read_records(Answer, tmp_path / "out/answers.jsonl"))
    assert set(statuses) == {"ok", "empty", "refused", "unreadable"}
    assert read_json(tmp_path / "out/metrics.json")["run"]["status"]["refused"] == statuses["refused"]
    assert f"{statuses['refused']} refused" in done.stdout


def test_the_data_set_is_found_from_its_own_folder_too(data: Path) -> None:
    assert data_root(data) == data
    assert data_root(data / "data") == data
    with pytest.raises(InputError, match="cares pull"):
        data_root(data / "nothing" / "here")
    (data / "prompts").mkdir()
    with pytest.raises(InputError, match="cares pull"):
        data_root(data / "prompts")


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("Qwen/Qwen2-Audio-7B-Instruct", "Qwen_Qwen2-Audio-7B-Instruct-"),
        ("../../x", "x-"),
        ("//", "model-"),
        ("a b", "a_b-"),
    ],
)
def test_a_models_name_becomes_a_folder_in_its_place(name: str, folder: str) -> None:
    assert re.fullmatch(re.escape(folder) + "[0-9a-f]{8}", slug(name))
    assert slug("Qwen2-Audio_7B.1") == "Qwen2-Audio_7B.1"


def test_every_name_has_a_folder_of_its_own() -> None:
    names = ["org/name", "org_name", "..", ".", "/", "org/name/", "org name", "name-constrained", "name"]
    names += [slug("org/name"), slug(slug("org/name"))]
    folders = {slug(name) + mode for name in names for mode in ("", "-constrained")}
    assert len(folders) == 2 * len(names)
