"""Waves that do not depend on each other, answered at once by the workers of Ray.

A wave has the same members whoever asks it, so a model in a worker's process gives the answers that the model in the
one process would give. Each worker opens its own model, or keeps to one of the servers in CARES_LLM_URL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from cares.core.executor import executor_kind, progress, stream_items
from cares.core.store import ItemStore
from cares.llm.params import LlmParams
from cares.llm.types import ChatAnswer, ChatRequest
from cares.llm.waves import StoredWaves

_opened: list[StoredWaves] = []


class AnswersWaves(Protocol):
    """A language model, stored or not."""

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """One answer a request, in the order of the requests."""
        ...


def complete_waves(
    model: AnswersWaves, waves: Sequence[Sequence[ChatRequest]], desc: str
) -> Iterator[list[ChatAnswer]]:
    """The answers to independent waves, wave after wave; with CARES_EXECUTOR=ray several are under way at once.

    Raises:
        LlmError: as `model.complete`.
    """
    if executor_kind() == "ray" and isinstance(model, StoredWaves):
        waves = [tuple(wave) for wave in waves]
        yield from stream_items(_complete, waves, desc=desc, setup=_open, setup_args=model.settings)
        return
    for wave in progress(waves, desc=desc, unit="wave"):
        yield model.complete(wave)


def _open(model_id: str, params: LlmParams, store: ItemStore) -> None:
    """The model that this process keeps until it ends; it is opened by the first wave that is not in the store."""
    _opened[:] = [StoredWaves(model_id, params, store)]


def _complete(wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
    return _opened[0].complete(wave)
