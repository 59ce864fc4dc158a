"""Exports: complete, read as we read, and run by Inspect's own runner where it is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from cares.bench.exports import standalone_reader as reader
from cares.bench.exports.write import export
from cares.bench.parse import parse_answer
from cares.bench.scores import score_tasks
from cares.bench.scores_rows import TASK_KEYS
from cares.catalog.catalog import Catalog
from cares.cli import app
from cares.core.errors import InputError
from cares.core.record import write_records
from cares.records.item import Item
from tests.bench.answering import answer_by, reaction_item, wrote

# a Python with inspect-ai, in an environment of its own: it is no part of this project's
INSPECT = os.environ.get("CARES_INSPECT_PYTHON")
needs_inspect = pytest.mark.skipif(not INSPECT, reason="CARES_INSPECT_PYTHON names no Python with inspect-ai")
# fields of lmms_eval.api.task.TaskConfig, lmms-eval 0.7.3, that an export may use
LMMS_FIELDS = {
    "task", "dataset_path", "dataset_kwargs", "test_split", "output_type", "doc_to_visual", "doc_to_text",
    "doc_to_messages", "doc_to_target", "generation_kwargs", "process_results", "metric_list", "cluster_key",
    "score_key", "metadata",
}  # fmt: skip


class Function(str):
    """The name after a !function tag."""


class FunctionLoader(yaml.SafeLoader):
    """YAML that knows lmms-eval's tag."""


FunctionLoader.add_constructor("!function", lambda loader, node: Function(loader.construct_scalar(node)))


def module(path: Path) -> ModuleType:
    """A file of an export as a module, as lmms-eval loads it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("B", "verbal"),
        (" (b) ", None),
        ("(B)", "verbal"),
        ("B)", "verbal"),
        ("**B**", "verbal"),
        ("Answer: B", "verbal"),
        ("The correct answer is B.", "verbal"),
        ("B) text of verbal", "verbal"),
        ("B. verbal", "verbal"),
        ("Verbal.", "verbal"),
        ("Text of verbal", "verbal"),
        ("B) text of pivot", None),
        ("E", None),
        ("A or B", None),
        ("I think it is B because they remark on it", None),
        ("", None),
        ("not verbal", None),
    ],
)
def test_the_exported_reader_reads_what_is_plain(text: str, choice: str | None) -> None:
    choices = ["pivot", "verbal", "behavioral", "ambient"]
    assert reader.read_choice(text, choices, [f"text of {one}" for one in choices]) == choice


def test_what_the_exported_reader_reads_our_parser_reads_alike() -> None:
    item = reaction_item(3, "pivot", 0)
    read = 0
    for place, letter in enumerate("ABCD"):
        for form in ("{l}", "({l})", "{l})", "{l}.", "Answer: {l}", "The answer is {l}.", "{l}) {t}", "{c}", "{t}"):
            text = form.format(l=letter, t=item.texts[place], c=item.choices[place])
            found = reader.read_choice(text, list(item.choices), list(item.texts))
            assert found == item.choices[place]
            assert parse_answer(text, "stop", item) == ("ok", found)
            read += 1
    assert read == 36


def test_the_exported_mentions_are_those_of_the_catalog(catalog: Catalog) -> None:
    texts = ["The dog's bark, then church-bells.", "A train horn sounds.", "Dogma and catalogues.", "", "TRAINS!"]
    for sound in [*list(catalog.sounds.values())[::7], catalog.sounds["dog_bark"], catalog.sounds["train_horn"]]:
        for text in [*texts, f"There is {sound.phrase}."]:
            named = reader.mentions(text, [{"word_forms": list(sound.word_forms)}])
            assert named == [sound.mention_in(text) is not None]


def test_an_inspect_export_is_complete(items: list[Item], catalog: Catalog, scene_files: Path) -> None:
    out = scene_files / "out here"
    assert export(items, catalog, scene_files, "inspect", out) == len(items)
    assert {path.name for path in out.iterdir()} == {"items.jsonl", "cares.py", "cares_reader.py", "README.md"}
    found = rows(out / "items.jsonl")
    assert [row["id"] for row in found] == [item.item_id for item in items]
    for row, item in zip(found, items, strict=True):
        assert (out / row["audio"]).resolve() == (scene_files / item.audio).resolve()
        assert not Path(row["audio"]).is_absolute()
        assert row["question"] == item.question
    compile((out / "cares.py").read_text(), "cares.py", "exec")
    assert "cares." not in (out / "cares.py").read_text().replace("cares.py", "").replace("CARES", "")


def test_an_export_with_its_recordings_can_be_carried_away(
    items: list[Item], catalog: Catalog, scene_files: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp("away") / "export"
    export(items, catalog, scene_files, "lmms-eval", out, copy_audio=True)
    names = {row["audio"] for path in (out / "items").iterdir() for row in rows(path)}
    assert all((out / name).is_file() and name.startswith("audio/") for name in names)


def test_an_lmms_export_has_what_lmms_eval_asks_for(items: list[Item], catalog: Catalog, scene_files: Path) -> None:
    out = scene_files / "lmms"
    export(items, catalog, scene_files, "lmms-eval", out)
    group = yaml.safe_load((out / "cares.yaml").read_text())
    assert group == {"group": "cares", "task": ["cares_" + key.replace("-", "_") for key in TASK_KEYS]}
    utils = module(out / "utils.py")
    for name in group["task"]:
        config = yaml.load((out / f"{name}.yaml").read_text(), FunctionLoader)
        assert set(config) <= LMMS_FIELDS
        assert config["task"] == name
        docs = rows(out / config["dataset_kwargs"]["data_files"]["test"])

        def called(name: str) -> Any:
            assert isinstance(name, Function)
            assert name.startswith("utils.")
            return getattr(utils, name.removeprefix("utils."))

        audio = called(config["doc_to_visual"])(docs[0])[0]
        assert audio["sampling_rate"] == 44_100
        assert audio["array"].ndim == 1
        assert called(config["doc_to_text"])(docs[0]) == docs[0]["question"]
        content = called(config["doc_to_messages"])(docs[0])[0]["content"]
        assert [part["type"] for part in content] == ["audio", "text"]
        target = config["doc_to_target"]
        right = [doc[target] or "A talk about a dog." for doc in docs]
        results = [called(config["process_results"])(doc, [text]) for doc, text in zip(docs, right, strict=True)]
        for metric in config["metric_list"]:
            values = [result[metric["metric"]] for result in results]
            value = called(metric["aggregation"])(values)
            assert all(config["cluster_key"] in entry for entry in values)
            if metric["metric"] in ("accuracy", "balanced_accuracy", "pair_accuracy"):
                assert value == 1.0
            else:
                assert 0 <= value <= 1


def test_lmms_figures_are_ours(items: list[Item], catalog: Catalog, scene_files: Path) -> None:
    out = scene_files / "lmms"
    export(items, catalog, scene_files, "lmms-eval", out)
    utils = module(out / "utils.py")
    of_task = [item for item in items if item.group == "reactions-time"]
    answers = answer_by(of_task, lambda item: item.choices[0])
    ours = score_tasks(of_task, answers, catalog, 100, 1)["reactions-time"]
    docs = rows(out / "items/reactions-time.jsonl")
    results = [utils.process_choice(doc, ["A"])["accuracy"] for doc in docs]
    assert round(utils.aggregate_accuracy(results), 4) == ours["accuracy_all"]["value"]
    assert round(utils.aggregate_balanced_accuracy(results), 4) == ours["balanced_accuracy"]["value"]
    summaries = [item for item in items if item.group == "summary-75"]
    text = "A dog barks, and a train passes."
    ours = score_tasks(summaries, [wrote(item, text) for item in summaries], catalog, 100, 1)["summary-75"]
    docs = rows(out / "items/summary-75.jsonl")
    results = [utils.process_summary(doc, [text])["mention_rate"] for doc in docs]
    assert round(utils.aggregate_mention_rate(results), 4) == ours["mention_rate"]["value"]


def test_faults_are_errors(items: list[Item], catalog: Catalog, scene_files: Path) -> None:
    with pytest.raises(InputError, match="no item"):
        export([], catalog, scene_files, "inspect", scene_files / "out")
    other = scene_files / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="files that are no export"):
        export(items, catalog, scene_files, "inspect", other)
    assert (other / "thesis.txt").is_file()
    (scene_files / items[0].audio).unlink()
    with pytest.raises(InputError, match="dvc pull"):
        export(items, catalog, scene_files, "inspect", scene_files / "out")
    assert not (scene_files / "out").exists()


def test_the_command_exports_a_split(items: list[Item], scene_files: Path) -> None:
    path = scene_files / "data/bench/items.jsonl"
    write_records(path, items)
    out = scene_files / "inspect"
    arguments = ["--format", "inspect", "--items", str(path), "--out", str(out), "--split", "test"]
    done = CliRunner().invoke(app, ["bench", "export", *arguments])
    assert done.exit_code == 0, done.output
    assert {row["split"] for row in rows(out / "items.jsonl")} == {"test"}
    arguments = ["--format", "inspect", "--data", str(scene_files), "--out", str(out)]
    done = CliRunner().invoke(app, ["bench", "export", *arguments])
    assert done.exit_code == 0, done.output
    assert len(rows(out / "items.jsonl")) == len(items)


def evaluated(folder: Path, *arguments: str) -> dict[str, Any]:
    """What Inspect's own runner logs of an evaluation with its mock model."""
    command = [str(INSPECT), "-m", "inspect_ai", "eval", *arguments, "--model", "mockllm/model", "--log-dir", "logs"]
    run: dict[str, Any] = {"cwd": folder, "capture_output": True, "text": True, "timeout": 300, "check": False}
    done = subprocess.run([*command, "--log-format", "json", "--display", "plain"], **run)
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = (folder / "logs").glob("*.json")
    found: dict[str, Any] = json.loads(log.read_text())
    log.unlink()
    assert found["status"] == "success", done.stdout
    return found


def values(log: dict[str, Any]) -> dict[str, float]:
    return {name: metric["value"] for part in log["results"]["scores"] for name, metric in part["metrics"].items()}


@needs_inspect
def test_inspect_runs_the_export(items: list[Item], catalog: Catalog, scene_files: Path) -> None:
    out = scene_files / "inspect"
    export(items, catalog, scene_files, "inspect", out)
    chosen = [item for item in items if item.choices]
    log = evaluated(out, "cares.py@cares")
    assert log["results"]["total_samples"] == len(chosen)
    found = values(log)
    assert found["accuracy"] == 0.0
    assert found["reactions-time balanced accuracy"] == 0.0
    assert {sample["scores"]["chosen"]["explanation"] for sample in log["samples"]} == {"unreadable"}
    log = evaluated(out, "cares.py@cares", "-T", "task=scene")
    assert log["results"]["total_samples"] == sum(item.task == "scene" for item in items)
    log = evaluated(out, "cares.py@cares_summary", "-T", "words=25")
    assert values(log)["mean"] == 0.0


ALWAYS_B = """
import json, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, get_model
from cares import cares
model = get_model("mockllm/model", custom_outputs=lambda *asked: ModelOutput.from_content("mockllm", "Answer: B"))
(log,) = eval(cares("reactions-time"), model=model, log_dir="logs", display="none")
found = {name: metric.value for score in log.results.scores for name, metric in score.metrics.items()}
kinds = [part.type for part in log.samples[0].input[0].content]
print(json.dumps({"figures": found, "kinds": kinds, "status": log.status}))
"""


@needs_inspect
def test_inspect_gives_the_figures_that_we_give(items: list[Item], catalog: Catalog, scene_files: Path) -> None:
    out = scene_files / "inspect"
    export(items, catalog, scene_files, "inspect", out)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run: dict[str, Any] = {"cwd": out, "capture_output": True, "text": True, "timeout": 300, "check": False}
    done = subprocess.run([str(INSPECT), "-c", ALWAYS_B], env=environment, **run)
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["status"] == "success"
    assert said["kinds"] == ["audio", "text"]
    of_task = [item for item in items if item.group == "reactions-time"]
    ours = score_tasks(of_task, answer_by(of_task, lambda item: item.choices[1]), catalog, 100, 1)["reactions-time"]
    assert abs(said["figures"]["accuracy"] - ours["accuracy_all"]["value"]) < 1e-4
    figure = said["figures"]["reactions-time balanced accuracy"]
    assert abs(figure - ours["balanced_accuracy"]["value"]) < 1e-4
