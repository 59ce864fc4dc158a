"""`cares bench compare` on folders as `cares bench` leaves them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cares.bench.leaderboard_folders import compare_folders, scored_folders
from cares.bench.scores import metrics, score_tasks
from cares.bench.scores_compare import common_items
from cares.catalog.catalog import Catalog
from cares.cli import app
from cares.core.canonical import file_digest, write_json
from cares.core.errors import InputError
from cares.core.record import write_records
from cares.records.answer import Answer
from cares.records.item import Item
from tests.bench.answering import answer, answer_by

SPLITS = ("train", "validation", "test")


@pytest.fixture
def root(items: list[Item], catalog: Catalog, tmp_path: Path) -> Path:
    """A data set, and two models: one asked all splits, one the train split of two tasks."""
    path = tmp_path / "data/bench/items.jsonl"
    write_records(path, items)
    some = [item for item in items if item.task in ("scene", "sounds") and item.split == "train"]
    for name, asked in (("whole", [item for item in items if item.choices]), ("part", some)):
        answers = answer_by(asked, lambda item: item.choices[0], name)
        folder = tmp_path / "bench results" / name
        write_records(folder / "answers.jsonl", answers)
        found = metrics(name, f"model {name}", file_digest(path), score_tasks(asked, answers, catalog, 100, 1))
        write_json(folder / "metrics.json", found)
    return tmp_path


def test_models_are_compared_on_the_items_that_both_answered(root: Path, items: list[Item]) -> None:
    folders = [str(root / "bench results" / name) for name in ("whole", "part")]
    arguments = [*folders, "--data", str(root), "--out", str(root / "board"), "--resamples", "100"]
    done = CliRunner().invoke(app, ["bench", "compare", *arguments])
    assert done.exit_code == 0, done.output
    with (root / "board/differences.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["task"] for row in rows] == ["scene", "sounds"]
    train = [item for item in items if item.split == "train"]
    assert [int(row["n"]) for row in rows] == [sum(item.task == task for item in train) for task in ("scene", "sounds")]
    assert {float(row["difference"]) for row in rows} == {0.0}
    board = (root / "board/leaderboard.md").read_text()
    assert "| whole |" in board
    n = {split: sum(item.task == "scene" and item.split in split for item in items) for split in (("train",), SPLITS)}
    assert f"scene was not asked alike: whole {n[SPLITS]} items, part {n['train',]} items" in board


def test_each_pair_is_compared_on_its_own_common_items(root: Path, items: list[Item], catalog: Catalog) -> None:
    path = root / "data/bench/items.jsonl"
    asked = [item for item in items if item.choices]
    _folder(root, "again", asked, answer_by(asked, lambda item: item.choices[1], "again"), catalog)
    folders = [root / "bench results" / name for name in ("whole", "part", "again")]
    found = compare_folders(folders, path, [], catalog, 100, 1)
    n = {(one["a"], one["b"]): one["n"] for one in found.report["differences"] if one["task"] == "scene"}
    scene = [item for item in items if item.task == "scene"]
    train = sum(item.split == "train" for item in scene)
    assert n == {("whole", "part"): train, ("whole", "again"): len(scene), ("part", "again"): train}
    assert f", n {len(scene)} |" in found.texts["leaderboard.md"]
    assert f", n {train} " in found.texts["leaderboard.tex"]


def test_errors_are_told_and_not_compared(root: Path, items: list[Item], catalog: Catalog) -> None:
    asked = [item for item in items if item.task in ("scene", "sounds")]
    answers = [
        answer(item, None, "broken", "error")
        if item.task == "scene" or item.item_id == asked[-1].item_id
        else answer(item, item.choices[0], "broken")
        for item in asked
    ]
    _folder(root, "broken", asked, answers, catalog)
    folders = [root / "bench results" / name for name in ("whole", "broken")]
    found = compare_folders(folders, root / "data/bench/items.jsonl", [], catalog, 100, 1)
    assert [one["task"] for one in found.report["differences"]] == ["sounds"]
    n = [sum(item.task == task for item in asked) for task in ("scene", "sounds")]
    note = f"errors instead of answers: {n[0]} of {n[0]} in scene, 1 of {n[1]} in sounds"
    assert f"broken: {note}" in found.texts["leaderboard.md"]
    assert note in found.texts["leaderboard.csv"]
    assert "scene" not in found.report["rows"][1]["cells"]


def test_a_preflight_alone_is_left_out_with_a_line(root: Path) -> None:
    write_json(root / "bench results/looked/preflight.json", {})
    folders = [str(path) for path in sorted((root / "bench results").iterdir())]
    arguments = [*folders, "--data", str(root), "--out", str(root / "board"), "--resamples", "100"]
    done = CliRunner().invoke(app, ["bench", "compare", *arguments])
    assert done.exit_code == 0, done.output
    assert "looked is left out" in done.output
    assert "2 models" in done.output
    with pytest.raises(InputError, match="a folder with figures"):
        scored_folders([root / "bench results/looked"])


def test_names_that_would_act_are_shown_as_text(root: Path, items: list[Item], catalog: Catalog) -> None:
    asked = [item for item in items if item.task == "scene"]
    name = "=cmd\x1b[2J\nx"
    _folder(root, name, asked, answer_by(asked, lambda item: item.choices[0], name), catalog, folder="odd")
    folders = [root / "bench results/whole", root / "bench results/odd"]
    found = compare_folders(folders, root / "data/bench/items.jsonl", [], catalog, 100, 1)
    assert not any("\x1b" in text for text in found.texts.values())
    assert "ours,'=cmd?[2J x,'=cmd?[2J x," in found.texts["leaderboard.csv"]
    assert "whole,'=cmd?[2J x," in found.texts["differences.csv"]


def test_a_file_that_holds_no_metrics_is_an_error(root: Path, catalog: Catalog) -> None:
    write_json(root / "bench results/part/metrics.json", [])
    with pytest.raises(InputError, match=r"part/metrics\.json: got \[\], expected what cares bench writes"):
        compare_folders([root / "bench results/part"], root / "data/bench/items.jsonl", [], catalog, 100, 1)


def _folder(
    root: Path, name: str, asked: list[Item], answers: list[Answer], catalog: Catalog, folder: str = ""
) -> None:
    where = root / "bench results" / (folder or name)
    write_records(where / "answers.jsonl", answers)
    sums = file_digest(root / "data/bench/items.jsonl")
    write_json(where / "metrics.json", metrics(name, name, sums, score_tasks(asked, answers, catalog, 100, 1)))


def test_a_folder_with_other_files_is_not_replaced(root: Path) -> None:
    done = CliRunner().invoke(app, ["bench", "compare", str(root / "bench results/part"), "--out", str(root)])
    assert isinstance(done.exception, InputError)
    assert (root / "data/bench/items.jsonl").is_file()


def test_a_system_twice_or_of_other_items_is_an_error(root: Path, items: list[Item], catalog: Catalog) -> None:
    folder, path = root / "bench results/part", root / "data/bench/items.jsonl"
    with pytest.raises(InputError, match="no other folder holds"):
        compare_folders([folder, folder], path, [], catalog, 100, 1)
    with pytest.raises(InputError, match=r"answers\.jsonl"):
        compare_folders([_without(folder, "answers.jsonl")], path, [], catalog, 100, 1)
    write_records(path, items[:-1])
    with pytest.raises(InputError, match=r"whole/metrics\.json: items_sha256"):
        compare_folders([root / "bench results/whole"], path, [], catalog, 100, 1)


def _without(folder: Path, name: str) -> Path:
    (folder / name).unlink()
    return folder


def test_common_items_are_of_those_that_were_asked_the_task(items: list[Item]) -> None:
    scene = [item for item in items if item.task == "scene"]
    sounds = [item for item in items if item.task == "sounds"]
    one = answer_by([*scene, *sounds], lambda item: item.choices[0])
    other = answer_by(scene[2:], lambda item: item.choices[0])
    assert common_items(items, [one, other]) == [*scene[2:], *sounds]
