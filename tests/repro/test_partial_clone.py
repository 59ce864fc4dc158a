"""What doctor and summary say where only a part of the data set was pulled, and in the environment for scoring."""

import subprocess
from pathlib import Path

import pytest

from cares.core.canonical import write_json, write_jsonl
from cares.repro import doctor
from cares.repro.parts import in_cache
from cares.repro.summary import summarise


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with a built report of two files in cache and tree, and 1 of 2 scenes."""
    for command in (["git", "init", "-q"], ["dvc", "init", "-q"]):
        subprocess.run(command, cwd=tmp_path, check=True)
    command = "mkdir -p report && echo a > report/index.html && echo b > report/b.html"
    (tmp_path / "dvc.yaml").write_text(f"stages:\n  report:\n    cmd: {command}\n    outs: [report]\n")
    subprocess.run(["dvc", "repro", "-q"], cwd=tmp_path, check=True)
    scenes = tmp_path / "data" / "scenes"
    scenes.mkdir(parents=True)
    write_jsonl(scenes / "scenes.jsonl", [{"scene_id": "a"}, {"scene_id": "b"}])
    (scenes / "a.wav").write_bytes(b"x")
    dialogues = {"accepted": 2, "scenes": 2, "attempts": 2, "refused": []}
    (tmp_path / "metrics").mkdir()
    write_json(tmp_path / "metrics" / "dialogues.json", dialogues)
    return tmp_path


def test_summary_tells_a_part_and_what_brings_the_rest(clone: Path) -> None:
    assert "1 of 2 scenes here data/scenes" in summarise(clone) and "report/index.html" in summarise(clone)
    (clone / "report" / "index.html").unlink()
    assert "run: dvc checkout report" in summarise(clone), "the cache has all of it"
    cached = [path for path in (clone / ".dvc/cache/files/md5").rglob("*") if path.is_file() and path.suffix != ".dir"]
    cached[0].unlink()
    assert "run: cares pull" in summarise(clone) and "checkout" not in summarise(clone)
    (clone / "data" / "scenes" / "b.wav").write_bytes(b"x")
    assert "2 scenes      data/scenes" in summarise(clone)


def test_what_no_lock_knows_is_not_in_the_cache(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert in_cache(clone, "report")
    assert not in_cache(clone, "data/scenes")
    assert not in_cache(tmp_path_factory.mktemp("none"), "report")


def test_an_environment_without_torch_is_for_scoring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "environment.json").write_text("{}\n")
    with_torch = doctor.basics()
    light = with_torch | {"packages": {"numpy": "2.0", "dvc": "3.0"}}
    monkeypatch.setattr(doctor, "basics", lambda: light)
    text = doctor.describe(tmp_path)
    assert "environment   for scoring only (no torch): not compared" in text
    assert "missing" not in text and "not as in" not in text
    monkeypatch.setattr(doctor, "basics", lambda: with_torch)
    assert "not as in environment.json" in doctor.describe(tmp_path)
