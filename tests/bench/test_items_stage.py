"""The stage that freezes the items, as DVC runs it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

from cares.bench.items_file import read_items
from cares.core.canonical import file_digest, read_json
from cares.core.record import write_records
from cares.records.item import Counterfactual
from cares.records.timeline import MixedScene

REPO = Path(__file__).parents[2]
ITEMS = {
    "tasks": ["scene", "sounds", "reactions", "grounding", "summary"],
    "splits": ["train", "validation", "test"],
    "reaction_levels": ["time", "neither"],
    "grounding_splits": ["train"],
    "summary_words": [25, 200],
}


def stage(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(REPO / "stages/items.py")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def set_params(folder: Path, **changes: object) -> None:
    (folder / "params.yaml").write_text(yaml.safe_dump({"seed": 1, "items": ITEMS | changes}), encoding="utf-8")


@pytest.fixture
def folder(
    tmp_path: Path,
    scenes: list[MixedScene],
    counterfactuals: Callable[[Sequence[MixedScene]], list[Counterfactual]],
) -> Path:
    place = tmp_path / "ein Bündel"
    write_records(place / "data/scenes/scenes.jsonl", scenes)
    allocated = place / "data/allocation/scenes.jsonl"
    allocated.parent.mkdir(parents=True)
    allocated.touch()
    write_records(place / "data/bench/counterfactuals/manifest.jsonl", counterfactuals(scenes))
    shutil.copytree(REPO / "prompts", place / "prompts")
    set_params(place)
    return place


def test_items_are_frozen_and_hashed(folder: Path) -> None:
    done = stage(folder)
    assert (done.returncode, done.stderr) == (0, "")
    path = folder / "data/bench/items.jsonl"
    metrics = read_json(folder / "metrics/items.json")
    assert metrics["items"] == len(read_items(path))
    assert metrics["sha256"] == file_digest(path)
    assert f"items: {metrics['items']} questions about 12 scenes" in done.stdout
    before = path.read_bytes()
    assert stage(folder).returncode == 0
    assert path.read_bytes() == before


def test_without_grounding_no_counterfactual_is_read(folder: Path) -> None:
    shutil.rmtree(folder / "data/bench")
    done = stage(folder)
    assert done.returncode == 1 and "manifest.jsonl" in done.stderr and "dvc repro" in done.stderr
    set_params(folder, tasks=["scene"])
    assert stage(folder).returncode == 0


def test_a_missing_input_is_an_error_that_says_what_to_run(folder: Path) -> None:
    (folder / "data/scenes/scenes.jsonl").unlink()
    done = stage(folder)
    assert done.returncode == 1
    assert "dvc repro" in done.stderr and "Traceback" not in done.stderr


def test_scenes_without_a_sound_have_no_items_about_sounds(folder: Path, scenes: list[MixedScene]) -> None:
    write_records(folder / "data/scenes/scenes.jsonl", [scene for scene in scenes if not scene.events])
    set_params(folder, tasks=["sounds", "reactions"])
    done = stage(folder)
    assert done.returncode == 1
    assert "holds no item" in done.stderr
    assert not (folder / "data/bench/items.jsonl").exists()
