"""The run-cache: what one clone ran, another need not run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from small_set import cares, remote, run, tree

MakeClone = Callable[..., Path]


def test_what_one_clone_ran_another_does_not_run(
    pusher: Path, built: Path, own_store: Path, make_clone: MakeClone
) -> None:
    remote(pusher, str(own_store))
    (pusher / "params.yaml").write_text("seed: 2\n")
    assert "Running stage" in run(pusher, "dvc", "repro").stdout
    told = cares(pusher, "push", "--runs").stdout
    assert "6 runs with their outs" in told
    clone = make_clone(url=str(own_store))
    run(clone, "dvc", "pull", "-q", "--run-cache")
    assert tree(clone) == tree(built)
    said = run(clone, "dvc", "repro").stdout
    assert "didn't change" in said and "Running stage" not in said
    # the lock of this clone knows nothing of seed 2
    (clone / "params.yaml").write_text("seed: 2\n")
    said = run(clone, "dvc", "repro", "--pull").stdout
    assert said.count("is cached - skipping run") == 3 and "Running stage" not in said
    assert tree(clone) == tree(pusher) != tree(built)
    assert (clone / "dvc.lock").read_bytes() == (pusher / "dvc.lock").read_bytes()
