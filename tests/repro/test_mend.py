"""`cares mend`: a dvc.lock that was cut anywhere is read by DVC again, and nothing whole is touched."""

import fcntl
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from cares.core.errors import CaresError
from cares.repro.mend import is_whole, mend, whole_entries

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "dvc.lock").read_text(encoding="utf-8")
ENTRIES = yaml.safe_load(TEXT)["stages"]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    monkeypatch.delenv("CARES_STORE", raising=False)
    (tmp_path / ".dvc/tmp").mkdir(parents=True)
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    (tmp_path / "dvc.lock").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commit(folder: Path) -> None:
    for command in (["init", "-q"], ["add", "dvc.lock"], ["commit", "-q", "-m", "x"]):
        who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        subprocess.run(["git", *who, *command], cwd=folder, check=True)


def test_what_is_whole_is_not_touched(clone):
    (clone / ".dvc/tmp/rwlock").write_text("{}")
    assert mend(clone) == []
    assert (clone / "dvc.lock").read_text() == TEXT


@pytest.mark.parametrize("share", [0.0, 0.013, 0.37, 0.81])
def test_a_cut_lock_keeps_its_whole_entries(clone, share):
    cut = TEXT[: int(len(TEXT) * share)]
    kept, begun = whole_entries(cut), len(re.findall(r"^  \S", cut, re.MULTILINE))
    assert {**ENTRIES, **kept} == ENTRIES, "every entry that is kept is as it was"
    assert len(kept) == max(0, begun - 1), "all but the last, in which the cut is"
    (clone / "dvc.lock").write_text(cut)
    mend(clone)
    assert yaml.safe_load((clone / "dvc.lock").read_text())["stages"].keys() >= kept.keys()
    assert is_whole((clone / "dvc.lock").read_text())


def test_what_the_cut_took_comes_from_the_last_commit(clone):
    commit(clone)
    (clone / "dvc.lock").write_text(TEXT[: len(TEXT) // 2] + "\n: [")
    (told,) = mend(clone)
    assert "last commit" in told
    assert yaml.safe_load((clone / "dvc.lock").read_text())["stages"] == ENTRIES


def test_a_cut_rwlock_and_what_killed_writers_left_are_removed(clone):
    (clone / ".dvc/tmp/rwlock").write_text("")
    (clone / "data").mkdir()
    (clone / "data/.topics.jsonl.0.part").write_text("half")
    assert len(mend(clone)) == 2
    assert not (clone / ".dvc/tmp/rwlock").exists() and not list((clone / "data").iterdir())


def test_nothing_is_put_right_under_the_hands_of_dvc(clone):
    cut = TEXT[: len(TEXT) // 2] + "\n: ["
    (clone / "dvc.lock").write_text(cut)
    with (clone / ".dvc/tmp/lock").open("wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(CaresError, match="at work"):
            mend(clone)
    assert (clone / "dvc.lock").read_text() == cut
