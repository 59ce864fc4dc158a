"""The leaderboard's files, with made-up published results that are marked as such, and its stage."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cares.bench.leaderboard import MARK, NONE_PUBLISHED, our_row, published_row, to_csv, to_latex, to_markdown
from cares.bench.leaderboard_files import Standing, leaderboard_files
from cares.bench.leaderboard_published import FILE, Published, read_published
from cares.bench.scores import metrics, score_tasks
from cares.bench.scores_judge import silent_verdicts
from cares.catalog.catalog import Catalog
from cares.core.canonical import file_digest, read_json, write_json
from cares.core.errors import InputError
from cares.core.record import write_records
from cares.records.answer import Answer
from cares.records.item import Item
from cares.records.timeline import MixedScene
from tests.bench.answering import answer_by, wrote

# test data: no model has these figures
ENTRY = {
    "model": "Made-up 7B_&",
    "source": "test data, no paper",
    "where": "Table 0",
    "note": "made up for a test",
    "figures": {
        "reactions-time_and_name": {"balanced_accuracy": {"value": 0.4, "ci95": [0.3, 0.5], "n": 100}},
        "scene": {"balanced_accuracy": {"value": 0.5}},
    },
}


def answered(items: list[Item], system: str, place: int) -> list[Answer]:
    """Every item with options answered by one letter, every summary by the same text."""
    chosen = answer_by([item for item in items if item.choices], lambda item: item.choices[place], system)
    summaries = [wrote(item, "They hear a dog.", system) for item in items if item.task == "summary"]
    return chosen + summaries


@pytest.fixture
def systems(items: list[Item], catalog: Catalog) -> dict[str, Standing]:
    """Two systems with their metrics."""
    found = {}
    for place, name in enumerate(("first", "second")):
        answers = answered(items, name, place)
        scores = score_tasks(items, answers, catalog, 100, 1)
        found[name] = Standing(answers, metrics(name, f"model of {name}", "ab" * 32, scores))
    return found


def test_ours_and_published_stand_in_one_table_and_are_told_apart(
    items: list[Item], systems: dict[str, Standing], catalog: Catalog
) -> None:
    published = [Published.parse(ENTRY, "test data")]
    found = leaderboard_files(items, "ab" * 32, systems, published, catalog, 100, 1)
    rows = list(csv.DictReader(io.StringIO(found.texts["leaderboard.csv"])))
    assert {row["system"]: row["kind"] for row in rows} == {
        "first": "ours",
        "second": "ours",
        "Made-up 7B_&": "published",
    }
    theirs = [row for row in rows if row["kind"] == "published"]
    assert [(row["task"], row["figure"], row["value"], row["low"], row["n"]) for row in theirs] == [
        ("scene", "balanced_accuracy", "0.5", "", ""),
        ("reactions-time_and_name", "balanced_accuracy", "0.4", "0.3", "100"),
    ]
    assert {row["source"] for row in theirs} == {"test data, no paper"}
    text = found.texts["leaderboard.md"]
    line = next(line for line in text.splitlines() if line.startswith("| Made-up"))
    assert MARK in line
    assert "40.0 (30.0 to 50.0)" in line
    assert "50.0 balanced accuracy" in line
    assert "test data, no paper, Table 0, made up for a test" in text
    assert NONE_PUBLISHED not in text
    latex = found.texts["leaderboard.tex"]
    assert r"Made-up 7B\_\& \textsuperscript{\textdagger}" in latex
    assert latex.count(r"\\") == 5
    columns = latex.split("{l")[1].split("}")[0]
    assert all(
        line.count("&") - line.count(r"\&") == len(columns) for line in latex.splitlines() if line.endswith("\\")
    )


def test_without_published_results_every_form_says_so(systems: dict[str, Standing]) -> None:
    rows = [our_row(name, one.metrics["model"], one.metrics["tasks"]) for name, one in systems.items()]
    assert NONE_PUBLISHED in to_markdown(rows)
    assert NONE_PUBLISHED in to_latex(rows)
    assert "published" not in to_csv(rows)


def test_the_files_compare_every_pair_and_hold_small_metrics(
    items: list[Item], systems: dict[str, Standing], catalog: Catalog
) -> None:
    found = leaderboard_files(items, "ab" * 32, systems, [], catalog, 100, 1)
    rows = list(csv.DictReader(io.StringIO(found.texts["differences.csv"])))
    assert {(row["a"], row["b"]) for row in rows} == {("first", "second")}
    assert [row["task"] for row in rows] == list(found.metrics["first"])
    assert all(isinstance(value, float) for figures in found.metrics.values() for value in figures.values())
    assert found.report["judged"] == {}


def test_a_judges_figures_stand_beside_the_word_forms(
    items: list[Item], systems: dict[str, Standing], catalog: Catalog
) -> None:
    first = systems["first"]
    refused = [answer.model_copy(update={"status": "refused"}) for answer in first.answers if answer.choice is None]
    verdicts = silent_verdicts(items, refused, catalog, 1)
    systems["first"] = first._replace(verdicts=verdicts)
    found = leaderboard_files(items, "ab" * 32, systems, [], catalog, 100, 1)
    assert found.metrics["first"]["summary-25-judged"] == 0.0
    assert "summary-25-judged" not in found.metrics["second"]
    assert set(found.report["judged"]) == {"first"}


def test_metrics_of_other_items_are_an_error(items: list[Item], systems: dict[str, Standing], catalog: Catalog) -> None:
    with pytest.raises(InputError, match=r"first\.json: items_sha256.*dvc repro"):
        leaderboard_files(items, "cd" * 32, systems, [], catalog, 100, 1)


def test_the_file_that_comes_with_the_package_is_valid() -> None:
    assert all(published_row(entry).kind == "published" for entry in read_published(FILE))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"source": ""}, r"results\.0\.source"),
        ({"figures": {}}, r"results\.0\.figures"),
        ({"figures": {"reaction": {"accuracy": {"value": 0.1}}}}, "no task 'reaction'"),
        ({"figures": {"scene": {}}}, "no figure of 'scene'"),
        ({"figures": {"scene": {"accuracy_all": {"value": 41.0}}}}, r"accuracy_all\.value: got 41"),
        ({"figures": {"scene": {"accuracy_all": {"value": 0.4, "ci95": [0.5, 0.6]}}}}, "outside its interval"),
        ({"modell": "x"}, "no such key"),
    ],
)
def test_a_faulty_entry_is_an_error_that_names_it(tmp_path: Path, change: dict[str, object], fault: str) -> None:
    path = tmp_path / "published.yaml"
    path.write_text(yaml.safe_dump({"results": [{**ENTRY, **change}]}))
    with pytest.raises(InputError, match=fault):
        read_published(path)


def test_a_file_without_results_or_with_a_model_twice_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "published.yaml"
    path.write_text("entries: []\n")
    with pytest.raises(InputError, match="one key, results"):
        read_published(path)
    path.write_text(yaml.safe_dump({"results": [ENTRY, ENTRY]}))
    with pytest.raises(InputError, match="every model of a source once"):
        read_published(path)


def test_the_stages_leave_their_outs(
    items: list[Item], catalog: Catalog, scenes: list[MixedScene], tmp_path: Path
) -> None:
    write_records(tmp_path / "data/bench/items.jsonl", items)
    digest = file_digest(tmp_path / "data/bench/items.jsonl")
    section = {"systems": ["majority", "random"], "wave_templates": 12, "wave_size": 12, "context_s": 20.0}
    section |= {"max_tokens": 24, "bootstrap": 100}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump({"seed": 1, "bench": section}))
    for place, name in enumerate(("majority", "random")):
        answers = answered(items, name, place)
        write_records(tmp_path / f"data/bench/answers/{name}.jsonl", answers)
        scores = score_tasks(items, answers, catalog, 100, 1)
        write_json(tmp_path / f"metrics/bench/{name}.json", metrics(name, "constant", digest, scores))
    root = Path(__file__).parents[2]
    for stage in ("judge", "leaderboard"):
        command = [sys.executable, str(root / f"stages/{stage}.py")]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
    assert "no published result" in done.stdout
    names = {path.name for path in (tmp_path / "data/bench/leaderboard").iterdir()}
    assert names == {"leaderboard.csv", "leaderboard.md", "leaderboard.tex", "leaderboard.json", "differences.csv"}
    assert set(read_json(tmp_path / "metrics/leaderboard.json")) == {"majority", "random"}
