"""The same push and pull by S3 and by SSH, against servers on loopback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from servers import PASSWORD, USER, bucket, sftp
from small_set import METADATA, TEST_FILES, remote, run, tree

from cares.core.errors import CaresError
from cares.remotes.pull import pull
from cares.remotes.push import push

MakeClone = Callable[..., Path]


def used(clone: Path, pusher: Path, built: Path, url: str, **settings: str) -> None:
    """Push all with the run-cache, pull the metadata, the test split and the rest, and use the run-cache."""
    remote(pusher, url, **settings)
    remote(clone, url, **settings)
    done = push(pusher, runs=True)
    assert done.files == len(tree(built)) and done.runs and done.runs >= 3
    assert push(pusher).sent == 0
    pull(clone, metadata=True)
    assert set(tree(clone)) == METADATA
    assert pull(clone, ["test"], jobs=2).fetched == len(TEST_FILES - METADATA)
    assert tree(clone) == {name: data for name, data in tree(built).items() if name in TEST_FILES}
    assert pull(clone, ["test"]).fetched == 0
    run(clone, "dvc", "pull", "-q", "--run-cache")
    assert tree(clone) == tree(built)
    runs = {path.name for path in (clone / ".dvc/cache/runs").rglob("*") if path.is_file()}
    assert runs == {path.name for path in (pusher / ".dvc/cache/runs").rglob("*") if path.is_file()} != set()


def test_s3(pusher: Path, built: Path, make_clone: MakeClone) -> None:
    with bucket("cares") as (_, settings):
        clone = make_clone()
        used(clone, pusher, built, "s3://cares/set", **settings)
        remote(clone, "s3://another/set", **settings)
        (clone / "data/scenes/scenes.jsonl").unlink()
        other = make_clone("other")
        remote(other, "s3://another/set", **settings)
        with pytest.raises(CaresError, match="remote store: 2 of 2 files did not come") as found:
            pull(other, ["test"])
        assert settings["secret_access_key"] not in str(found.value)


def test_ssh(pusher: Path, built: Path, make_clone: MakeClone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with sftp(tmp_path / "home") as port:
        url = f"ssh://{USER}@127.0.0.1:{port}{tmp_path / 'far'}"
        used(make_clone(), pusher, built, url, password=PASSWORD)
