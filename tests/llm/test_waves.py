"""Waves that are kept: asked once, opened only when needed, and a failed request is asked again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from cares.core.store import ItemStore
from cares.llm import waves
from cares.llm.params import LlmParams
from cares.llm.types import ChatAnswer, ChatRequest, failed
from cares.llm.waves import StoredWaves
from tests.llm.conftest import request


class Model:
    """Repeats what it is told; fails alone on "bad" as long as `broken`."""

    def __init__(self) -> None:
        self.opened = self.closed = self.asked = 0
        self.broken = True
        self.promised = False

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        self.asked += 1
        return [self._one(each.messages[-1].content) for each in wave]

    def _one(self, text: str) -> ChatAnswer:
        if text == "bad" and self.broken:
            return failed("no")
        return ChatAnswer(text=text, finish_reason="stop", prompt_tokens=1, completion_tokens=1)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    made = Model()

    @contextmanager
    def opened(model_id: str, params: LlmParams) -> Iterator[Model]:
        made.opened += 1
        yield made
        made.closed += 1

    monkeypatch.setattr(waves, "open_llm", opened)
    monkeypatch.setattr(waves, "model_identity", lambda model_id, params: f"{model_id} {params.dtype}")
    return made


def ask(tmp_path: Path, *texts: str, model_id: str = "toy", params: LlmParams | None = None) -> list[str]:
    with StoredWaves(model_id, params or LlmParams(), ItemStore("llm", tmp_path)) as kept:
        return [answer.text for answer in kept.complete([request(text) for text in texts])]


def test_a_kept_wave_opens_no_model(model: Model, tmp_path: Path) -> None:
    assert ask(tmp_path, "a", "b") == ask(tmp_path, "a", "b") == ["a", "b"]
    assert (model.opened, model.closed, model.asked) == (1, 1, 1)


def test_another_wave_model_or_params_is_asked(model: Model, tmp_path: Path) -> None:
    ask(tmp_path, "a", "b")
    ask(tmp_path, "b", "a")
    ask(tmp_path, "a", "b", model_id="other")
    ask(tmp_path, "a", "b", params=LlmParams(dtype="float32"))
    assert model.asked == 4


def test_a_wave_with_a_failed_request_is_asked_again(model: Model, tmp_path: Path) -> None:
    assert ask(tmp_path, "a", "bad") == ["a", ""]
    model.broken = False
    assert ask(tmp_path, "a", "bad") == ["a", "bad"]
    assert ask(tmp_path, "a", "bad") == ["a", "bad"]
    assert model.asked == 2


def test_a_failure_that_will_not_pass_is_kept(model: Model, tmp_path: Path) -> None:
    model.promised = True
    assert ask(tmp_path, "a", "bad") == ask(tmp_path, "a", "bad") == ["a", ""]
    assert model.asked == 1
