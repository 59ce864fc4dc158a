"""The set that the tests of this folder change: built once, as far as the questions, and changed in copies only."""

from __future__ import annotations

import pytest

from tests.economy.changed_set import Built, ChangedSet


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    made = ChangedSet(tmp_path_factory.mktemp("built"))
    return Built(made, made.repro("items"))
