"""A small data set that is built once, the folder to which it was pushed, and clones of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_set import build, clone, remote, run

MakeClone = Callable[..., Path]


@pytest.fixture(scope="session", autouse=True)
def _own_notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What DVC notes beside repositories does not outlive the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path_factory.mktemp("site")))
        patch.setenv("DVC_NO_ANALYTICS", "1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        yield


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose pipeline ran, pushed to the folder `store` beside it; tests leave it as it is."""
    target = build(tmp_path_factory.mktemp("set") / "built")
    remote(target, str(target.parent / "store"))
    run(target, "dvc", "push", "-q")
    return target


@pytest.fixture(scope="session")
def store(built: Path) -> Path:
    """The folder that holds what `built` pushed."""
    return built.parent / "store"


@pytest.fixture
def make_clone(built: Path, store: Path, tmp_path: Path) -> MakeClone:
    """Makes a clone without data, whose default remote is the folder or another address."""

    def make(name: str = "clone", url: str | None = None) -> Path:
        return clone(built, tmp_path / name, url or str(store))

    return make


@pytest.fixture
def own_store(store: Path, tmp_path: Path) -> Path:
    """A copy of the folder that a test can spoil."""
    return Path(shutil.copytree(store, tmp_path / "own_store"))


@pytest.fixture
def pusher(built: Path, tmp_path: Path) -> Path:
    """A copy of the built project, with cache and run-cache, that a test can change and give another remote."""
    return Path(shutil.copytree(built, tmp_path / "pusher", symlinks=True))
