"""How long the writer took for each accepted scene: printed and kept in the item store, never in an output.

Seconds are not the same twice, so they must not reach a file that DVC hashes. They are stored with the machine's other
work when a wave is written, and read again when it comes from the store.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from cares.core.store import ItemStore, item_key
from cares.llm.types import ChatAnswer, ChatRequest
from cares.llm.waves import promised


class Waves(Protocol):
    """What answers waves and counts those that it did not find in the store, such as `cares.llm.waves.StoredWaves`."""

    model_id: str
    asked: int

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """One answer a request, in order."""
        ...


class TimedWaves:
    """The same waves, with the seconds that each took.

    Args:
        waves: what answers.
        store: where seconds are kept; by default the item store's family "seconds".

    Attributes:
        seconds: of all waves so far of which it is known, the model's start included.
        unknown: how many waves came from the store without their seconds.
    """

    def __init__(self, waves: Waves, store: ItemStore | None = None) -> None:
        self._waves = waves
        self._store = store or ItemStore("seconds")
        self.seconds = 0.0
        self.unknown = 0

    @property
    def model_id(self) -> str:
        """The writer's name; a server's answers are not promised to be the same again, so the name says it."""
        return self._waves.model_id if promised() else f"{self._waves.model_id} (served)"

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """One answer a request, in order."""
        key = item_key(wave=[request.to_json() for request in wave], model=self.model_id)
        before, start = self._waves.asked, time.monotonic()
        answers = self._waves.complete(wave)
        if self._waves.asked > before:
            self._store.put(key, time.monotonic() - start)
        if (kept := self._store.get(key)) is None:
            self.unknown += 1
        else:
            self.seconds += kept.value
        return answers

    def per_scene(self, accepted: int) -> str:
        """For people: seconds of writing for each accepted scene, and what is not known."""
        if not accepted:
            return f"{self.seconds:.0f} s of writing, no scene accepted"
        lacking = f" ({self.unknown} waves of unknown time left out)" if self.unknown else ""
        return f"{self.seconds / accepted:.1f} s of writing for each accepted scene{lacking}"
