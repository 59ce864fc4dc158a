"""The lock of this very repository."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from small_set import REPO, run

from cares.remotes.locked import locked, told


@pytest.mark.timeout(300)
def test_the_lock_of_this_repository_is_what_the_code_gives(tmp_path: Path) -> None:
    """In a copy of what Git knows, without data: so it is what a clean checkout has, wherever the tests run."""
    for name in filter(None, run(REPO, "git", "ls-files", "-z").stdout.split("\0")):
        if (REPO / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPO / name, tmp_path / name)
    run(tmp_path, "git", "init", "-q")
    assert told(locked(tmp_path))[0].startswith("dvc.lock is what the code gives, in all ")
