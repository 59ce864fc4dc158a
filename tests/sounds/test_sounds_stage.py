"""The stage: whole outs and figures, or one clear message and nothing half-written."""

from __future__ import annotations

import errno
import os
import re
import runpy
from pathlib import Path

import pytest

from cares.core.canonical import read_json
from cares.sounds.procedural import recipes
from cares.sounds.procedural.recipes import RecipeBook, load_recipes

STAGE = Path(__file__).resolve().parents[2] / "stages" / "sounds.py"
PARAMS = """\
seed: 3
sounds:
  source: procedural
  takes: {train: 1, validation: 1, test: 1}
  ambience_takes: {train: 1, validation: 1, test: 1}
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "params.yaml").write_text(PARAMS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CARES_STORE", raising=False)
    monkeypatch.setenv("CARES_WORKERS", "1")
    book = load_recipes()
    few = RecipeBook({"mouse_click": book.sounds["mouse_click"]}, {"car": book.ambiences["car"]})
    monkeypatch.setattr(recipes, "load_recipes", lambda: few)
    return tmp_path


def run() -> object:
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(STAGE), run_name="__main__")
    return end.value.code


def run_well() -> None:
    runpy.run_path(str(STAGE), run_name="__main__")


def test_a_run_leaves_takes_manifest_attribution_and_figures(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_well()
    assert sorted(path.name for path in (repository / "data/sounds").iterdir()) == [
        "ATTRIBUTION.csv",
        "bank.jsonl",
        "quality.jsonl",
        "takes",
    ]
    assert len(list((repository / "data/sounds/takes").iterdir())) == 6
    metrics = read_json(repository / "metrics/sounds.json")
    assert (metrics["sounds"], metrics["ambiences"]) == (1, 1)
    assert metrics["ambience_takes"] == {"train": 1, "validation": 1, "test": 1}
    assert capsys.readouterr().out.startswith("sounds: 6 takes of 1 sounds and 1 ambiences")
    text = (repository / "data/sounds/bank.jsonl").read_text(encoding="utf-8")
    assert str(repository) not in text


def test_a_wrong_parameter_ends_with_its_name_and_leaves_the_old_bank(repository: Path) -> None:
    run_well()
    before = (repository / "data/sounds/bank.jsonl").read_bytes()
    (repository / "params.yaml").write_text(PARAMS.replace("train: 1", "train: 0", 1), encoding="utf-8")
    assert str(run()).startswith("error: params.yaml: sounds.takes.train: got 0")
    assert (repository / "data/sounds/bank.jsonl").read_bytes() == before


@pytest.mark.parametrize("written", [0, 3])
def test_a_disk_without_room_leaves_the_old_bank_and_names_the_file(
    repository: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    run_well()
    files = {path: path.read_bytes() for path in (repository / "data/sounds").rglob("*") if path.is_file()}
    make, made = os.open, [0]

    def full(path: object, *args: int, **options: int) -> int:
        if ".flac." in str(path) and str(path).endswith(".part"):
            made[0] += 1
            if made[0] > written:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return make(path, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", full)
    expected = "amb-car-00" if written == 0 else "mouse_click-00"
    assert re.match(rf"error: .*{expected}\.flac.*: No space left on device", str(run()))
    assert {path: path.read_bytes() for path in (repository / "data/sounds").rglob("*") if path.is_file()} == files
    assert not list((repository / "data").glob(".sounds*"))


def test_no_params_file_is_an_error(repository: Path) -> None:
    (repository / "params.yaml").unlink()
    assert "params.yaml: got 'no such file'" in str(run())
    assert not (repository / "data").exists()
