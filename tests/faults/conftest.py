"""A built clone of the small pipeline, for tests that put it back as it was, and marks for their processes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.clones import Clone
from tests.faults.mini import mini_clone
from tests.faults.processes import survivors
from tests.faults.reference import Reference, build


@pytest.fixture
def mark() -> Iterator[str]:
    """For the environment of a test's processes; none of them outlives the test."""
    name = uuid.uuid4().hex
    yield name
    assert not survivors(name, 10.0)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Clone, Reference, Path]:
    """The clone, what it holds without faults, and a log."""
    folder = tmp_path_factory.mktemp("faults ü")
    clone = mini_clone(folder / "clone", uuid.uuid4().hex)
    return clone, build(clone, folder / "log", folder / "store"), folder / "log"
