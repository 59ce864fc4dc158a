"""Waves that are kept: a wave that was answered before is read from the item store, and no model is loaded for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from cares.core.store import ItemStore, item_key, source_digest
from cares.llm.open import model_identity, open_llm
from cares.llm.params import LlmParams
from cares.llm.probe import check_structured
from cares.llm.types import ChatAnswer, ChatRequest, LanguageModel, LlmError


def promised() -> bool:
    """Whether answers are promised to be the same again: from this process yes, from a server (CARES_LLM_URL) no."""
    return not os.environ.get("CARES_LLM_URL")


class StoredWaves:
    """A language model that is opened when the first wave needs it; use as a context manager.

    A wave with a failed request is answered but not kept if the failure may pass, so that the next run asks it again;
    in this process a request fails by what it is (too long, an impossible schema), and that is kept.

    Args:
        model_id: a model of kind `llm` in the registry, or the name under which the server offers one.
        params: how to run it.
        store: where answered waves are kept.
    """

    def __init__(self, model_id: str, params: LlmParams, store: ItemStore | None = None) -> None:
        self.model_id = model_id
        self._params = params
        self._store = store or ItemStore("llm")
        self._stack = ExitStack()
        self._model: LanguageModel | None = None
        self._keeps_schemas = False
        self.asked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def settings(self) -> tuple[str, LlmParams, ItemStore]:
        """What another process opens the same waves with."""
        return self.model_id, self._params, self._store

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """Answers to a wave, in order.

        Raises:
            LlmError: the model cannot be opened, fails as a whole, or does not keep to schemas (asked before the first
                wave that has one, or choices, which are one to a server).
        """
        key = item_key(
            wave=[request.to_json() for request in wave],
            model=model_identity(self.model_id, self._params),
            code=source_digest("cares.llm.inprocess", "cares.llm.server", "cares.llm.types", "cares.llm.wire"),
        )
        if (kept := self._store.get(key)) is not None:
            return [ChatAnswer.parse(value, self._store.path(key)) for value in kept.value]
        if self._model is None:
            self._model = self._stack.enter_context(open_llm(self.model_id, self._params))
        if not self._keeps_schemas and any(request.json_schema or request.choices for request in wave):
            check_structured(self._model)
            self._keeps_schemas = True
        answers = self._model.complete(wave)
        self.asked += 1
        if len(answers) != len(wave):
            raise LlmError(f"{self.model_id}: {len(answers)} answers to {len(wave)} requests")
        if self._model.promised or all(answer.finish_reason != "error" for answer in answers):
            self._store.put(key, [answer.to_json() for answer in answers])
        return answers
