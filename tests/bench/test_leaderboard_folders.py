"""`cares bench compare` on folders as `cares bench` leaves them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cares.bench.leaderboard_folders import common_items, compare_folders
from cares.bench.scores import metrics, score_tasks
from cares.catalog.catalog import Catalog
from cares.cli import app
from cares.core.canonical import file_digest, write_json
from cares.core.errors import InputError
from cares.core.record import write_records
from cares.records.item import Item
from tests.bench.answering import answer_by

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
