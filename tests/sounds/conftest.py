"""The server that stands in for Freesound, shared by the tests of its client and of what is pinned."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from freesound_server import FakeFreesound, serving


@pytest.fixture
def fake() -> Iterator[FakeFreesound]:
    with serving() as server:
        yield server
