"""A listing that someone else made: `cares pull` writes and removes nothing outside of the folder that it lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cares.core.errors import CaresError
from cares.remotes.cached import md5_of
from cares.remotes.pull import pull

MakeClone = Callable[..., Path]


def put(store: Path, data: bytes, suffix: str = "") -> str:
    """Keep an object in a remote's folder under the hash of its bytes, which is returned."""
    (store / "new").write_bytes(data)
    md5 = md5_of(store / "new") + suffix
    target = store / "files/md5" / md5[:2] / md5[2:]
    target.parent.mkdir(parents=True, exist_ok=True)
    (store / "new").replace(target)
    return md5


@pytest.mark.parametrize(
    "relpath", ["../../../kept.txt", "/kept.txt", "x/../../../../kept.txt", "../../.git/config", ""]
)
def test_a_listing_names_no_file_outside_of_its_folder(own_store: Path, make_clone: MakeClone, relpath: str) -> None:
    clone = make_clone(url=str(own_store))
    (clone.parent / "kept.txt").write_text("mine")
    git_settings = (clone / ".git/config").read_bytes()
    evil = put(own_store, b"evil")
    listing = put(own_store, json.dumps([{"md5": evil, "relpath": relpath}]).encode(), ".dir")
    spoil_lock(clone, listing)
    with pytest.raises(CaresError, match=r"data/scenes: its listing .* cannot be read .*relpath"):
        pull(clone)
    assert (clone.parent / "kept.txt").read_text() == "mine"
    assert (clone / ".git/config").read_bytes() == git_settings


@pytest.mark.parametrize("md5", ["../../../../kept.txt", "0", None, "A" * 32])
def test_a_listing_names_its_files_by_hashes(own_store: Path, make_clone: MakeClone, md5: str | None) -> None:
    clone = make_clone(url=str(own_store))
    spoil_lock(clone, put(own_store, json.dumps([{"md5": md5, "relpath": "x.wav"}]).encode(), ".dir"))
    with pytest.raises(CaresError, match=r"data/scenes: its listing .* cannot be read .*md5"):
        pull(clone)


def spoil_lock(clone: Path, listing: str) -> None:
    """Let dvc.lock name another listing for data/scenes."""
    lock = (clone / "dvc.lock").read_text(encoding="utf-8")
    md5 = lock.split("path: data/scenes\n")[1].split("md5: ")[1].split()[0]
    assert md5.endswith(".dir")
    (clone / "dvc.lock").write_text(lock.replace(md5, listing), encoding="utf-8")
