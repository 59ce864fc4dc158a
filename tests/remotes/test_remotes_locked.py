"""`cares locked`: every way in which a lock can be another than what code, params and data give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from small_set import cares, run

from cares.core.errors import CaresError
from cares.remotes.locked import locked, told
from cares.remotes.pull import pull

MakeClone = Callable[..., Path]
LISTING = "metrics/items.json"


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def first_fault(clone: Path) -> tuple[str, str]:
    """The stage that is named first, and all that is said."""
    found = locked(clone)
    with pytest.raises(CaresError) as error:
        told(found)
    name = next(iter(found.faults))
    assert f"dvc.lock: stage {name} is stale" in str(error.value)
    return name, str(error.value)


def test_a_lock_is_right_without_data_with_some_and_with_all(make_clone: MakeClone) -> None:
    clone = make_clone()
    done = cares(clone, "locked")
    assert "dvc.lock is what the code gives, in all 3 stages" in done.stdout
    assert "data/scenes/scenes.jsonl as items read it" in done.stdout, "nothing here tells"
    pull(clone, ["test"])
    assert locked(clone) == (3, {}, []), "the listings tell"
    run(clone, "dvc", "pull", "-q")
    assert locked(clone) == (3, {}, [])


def test_code_params_and_commands(make_clone: MakeClone) -> None:
    clone = make_clone()
    replace(clone / "params.yaml", "1", "2")
    name, said = first_fault(clone)
    assert name == "mix" and "param seed of params.yaml is 2, dvc.lock has 1" in said
    assert "stale after it: counterfactuals, items" in said
    run(clone, "git", "checkout", "-q", ".")
    replace(clone / "dvc.yaml", "python make.py items", "python -B make.py items")
    name, said = first_fault(clone)
    assert name == "items" and "cmd is 'python -B make.py items', dvc.lock has 'python make.py items'" in said
    run(clone, "git", "checkout", "-q", ".")
    (clone / "make.py").write_text("# another\n")
    done = cares(clone, "locked", status=1)
    assert "stage mix is stale: make.py changed" in done.stderr and "Traceback" not in done.stderr
    (clone / "make.py").unlink()
    assert "make.py is not here" in first_fault(clone)[1]


def test_deps_and_outs_that_come_and_go(make_clone: MakeClone) -> None:
    # of which dvc status sees only the first
    clone = make_clone()
    replace(clone / "dvc.yaml", "deps: [make.py, data/scenes]", "deps: [make.py, data/scenes, params.yaml]")
    assert first_fault(clone)[0] == "counterfactuals"
    assert "deps that dvc.lock lacks: params.yaml" in first_fault(clone)[1]
    run(clone, "git", "checkout", "-q", ".")
    replace(clone / "dvc.yaml", "deps: [make.py, data/scenes]", "deps: [data/scenes]")
    assert "deps that dvc.yaml lacks: make.py" in first_fault(clone)[1]
    run(clone, "git", "checkout", "-q", ".")
    replace(clone / "dvc.yaml", "    params: [seed]\n    outs: [data/bench/items", "    outs: [data/bench/items")
    assert "params of params.yaml that dvc.yaml lacks: seed" in first_fault(clone)[1]
    run(clone, "git", "checkout", "-q", ".")
    replace(clone / "dvc.yaml", "  items:", "  questions:")
    found = locked(clone).faults
    assert found["questions"] == ["is not in dvc.lock"] and "not in dvc.yaml" in found["items"][0]


def test_locks_of_two_stages_must_agree(make_clone: MakeClone) -> None:
    clone = make_clone()
    lock = (clone / "dvc.lock").read_text(encoding="utf-8")
    head, tail = lock.split("\n  mix:")
    md5 = tail.split("path: data/scenes")[1].split("md5: ")[1].split()[0]
    assert md5.endswith(".dir") and tail.count(md5) == 2, "as the out of one and the dep of the other"
    (clone / "dvc.lock").write_text(head + "\n  mix:" + tail.replace(md5, "0" * 32 + ".dir", 1), encoding="utf-8")
    name, said = first_fault(clone)
    assert name == "counterfactuals" and f"data/scenes was read as {md5}" in said


def test_data_that_are_here_must_be_those_of_the_lock(make_clone: MakeClone) -> None:
    clone = make_clone()
    (clone / LISTING).write_text("{}\n\n")
    assert f"{LISTING} is not what dvc.lock says" in first_fault(clone)[1]
    (clone / LISTING).unlink()
    assert f"{LISTING} is not here, though Git keeps it" in first_fault(clone)[1]
    run(clone, "git", "checkout", "-q", ".")
    pull(clone, ["test"])
    (clone / "data/scenes/t00003-0.wav").write_bytes(b"another")
    name, said = first_fault(clone)
    assert name == "mix" and "data/scenes is not what dvc.lock says" in said


def test_a_lock_that_is_missing_or_broken(make_clone: MakeClone) -> None:
    clone = make_clone()
    (clone / "dvc.lock").write_text("stages: [\n")
    with pytest.raises(CaresError, match="dvc"):
        locked(clone)
    (clone / "dvc.lock").unlink()
    with pytest.raises(CaresError, match=r"dvc.lock: no such file; run dvc repro"):
        locked(clone)
