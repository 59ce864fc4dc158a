"""The in-process way with an engine of ours in vLLM's place: order, failures of one request and of the engine."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest
from transformers.utils import logging

from cares.core.errors import InputError
from cares.llm import inprocess
from cares.llm.inprocess import InProcessModel
from cares.llm.open import open_llm
from cares.llm.params import LlmParams
from cares.llm.types import ChatRequest, LlmError
from tests.llm.conftest import request

PARAMS = LlmParams(context_tokens=256, batched_tokens=512, wave_limit=4)


class Engine:
    """Finishes the requests in the reverse of their order, one a step."""

    def __init__(self, blocks: int = 100) -> None:
        self.vllm_config = SimpleNamespace(cache_config=SimpleNamespace(num_gpu_blocks=blocks, block_size=16))
        self.engine_core = SimpleNamespace(shutdown=lambda: None)
        self.waiting: list[tuple[str, ChatRequest]] = []
        self.fail_at: int | None = None
        self.reasons: dict[str, str] = {}
        self.steps = 0

    def add_request(self, key: str, prompt: dict[str, list[int]], sampling: ChatRequest) -> None:
        if sampling.json_schema == {"type": "strung"}:
            raise ValueError("Invalid type: strung")
        self.waiting.append((key, sampling))

    def has_unfinished_requests(self) -> bool:
        return bool(self.waiting)

    def step(self) -> list[Any]:
        self.steps += 1
        if self.steps == self.fail_at:
            raise RuntimeError("CPU Generator does not use offset")
        key, sampling = self.waiting.pop()
        text = "said " + sampling.messages[-1].content[:20]
        reason = self.reasons.get(sampling.messages[-1].content, "stop")
        completion = SimpleNamespace(text=text, finish_reason=reason, token_ids=[1, 2])
        return [SimpleNamespace(request_id=key, finished=True, outputs=[completion])]


class Tokenizer:
    def apply_chat_template(self, messages: list[dict[str, str]], **_: object) -> str:
        return " ".join(message["content"] for message in messages)

    def encode(self, text: str, **_: object) -> list[int]:
        return list(range(len(text.split())))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    made = Engine()
    llm = SimpleNamespace(llm_engine=made, get_tokenizer=Tokenizer)
    monkeypatch.setattr(inprocess, "ensure", lambda model_id: f"/weights/{model_id}")
    monkeypatch.setattr(inprocess, "model_digest", lambda model_id: f"digest of {model_id}")
    monkeypatch.setattr(inprocess, "_start", lambda folder, params: llm)
    monkeypatch.setattr(inprocess, "_refusals", lambda: (ValueError,))
    monkeypatch.setattr(InProcessModel, "_sampling", lambda self, request: request)
    return made


def test_answers_keep_the_order_of_the_requests(engine: Engine) -> None:
    answers = InProcessModel("toy", PARAMS).complete([request(text) for text in "abc"])
    assert [answer.text for answer in answers] == ["said a", "said b", "said c"]
    assert {answer.finish_reason for answer in answers} == {"stop"}


def test_requests_at_fault_fail_alone(engine: Engine) -> None:
    engine.reasons["d"] = "abort"
    wave = [request("a"), request("word " * 300), request("c", json_schema={"type": "strung"}), request("d")]
    answers = InProcessModel("toy", PARAMS).complete(wave)
    assert [answer.finish_reason for answer in answers] == ["stop", "error", "error", "error"]
    assert "300 prompt tokens" in answers[1].error
    assert "strung" in answers[2].error
    assert "abort" in answers[3].error


def test_an_engine_that_fails_in_mid_wave_is_an_error_and_stays_closed(engine: Engine) -> None:
    engine.fail_at = 2
    model = InProcessModel("toy", PARAMS)
    with pytest.raises(LlmError, match=r"toy: the engine failed in mid-wave: RuntimeError: CPU Generator"):
        model.complete([request(text) for text in "abc"])
    with pytest.raises(LlmError, match="closed or failed before"):
        model.complete([request("a")])


def test_ctrl_c_is_not_taken_for_a_failure(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> list[Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        InProcessModel("toy", PARAMS).complete([request("a")])


def test_a_wave_that_could_run_out_of_cache_is_refused(engine: Engine) -> None:
    engine.vllm_config.cache_config.num_gpu_blocks = 3
    model = InProcessModel("toy", PARAMS)
    assert model.complete([request("a"), request("b")])
    with pytest.raises(LlmError, match=r"63 tokens of cache, there are 48.*kv_cache_gib"):
        model.complete([request(text) for text in "abc"])


def test_a_wave_larger_than_the_limit_is_a_mistake(engine: Engine) -> None:
    with pytest.raises(ValueError, match="wave_limit is 4"):
        InProcessModel("toy", PARAMS).complete([request("a")] * 5)


def test_the_environment_is_as_before_afterwards(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    before = dict(os.environ)
    model = InProcessModel("toy", PARAMS)
    assert os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0" and os.environ["HF_HUB_OFFLINE"] == "1"
    model.close()
    model.close()
    assert dict(os.environ) == before


def test_transformers_are_quiet_while_an_engine_starts(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CARES_LLM_URL", raising=False)
    before = logging.get_verbosity()
    heard: list[int] = []

    class Loud:
        def __init__(self, model_id: str, params: LlmParams) -> None:
            heard.append(logging.get_verbosity())

        def close(self) -> None:
            pass

    monkeypatch.setattr(inprocess, "InProcessModel", Loud)
    logging.set_verbosity_warning()
    try:
        with open_llm("toy", PARAMS):
            pass
    finally:
        logging.set_verbosity(before)
    assert heard == [logging.ERROR]


def test_the_digest_follows_params_and_model(engine: Engine) -> None:
    digests = {
        InProcessModel("toy", PARAMS).digest,
        InProcessModel("other", PARAMS).digest,
        InProcessModel("toy", PARAMS.model_copy(update={"dtype": "float32"})).digest,
    }
    assert len(digests) == 3
    assert InProcessModel("toy", PARAMS).digest in digests


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"context_tokens": 0}, "context_tokens"),
        ({"kv_cache_gib": -1.0}, "kv_cache_gib"),
        ({"wave_limit": 0}, "wave_limit"),
        ({"dtype": "int8"}, "dtype"),
        ({"structured_output": "auto"}, "structured_output"),
        ({"temperature": 1.0}, "temperature"),
        ({"batched_tokens": 300}, "llm"),
    ],
)
def test_params_out_of_range_are_named(change: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        LlmParams.parse(change, "params.yaml", "llm")
    assert field in caught.value.field


@pytest.mark.parametrize(
    "change",
    [{"seed": -1}, {"temperature": 3.0}, {"top_p": 0.0}, {"max_tokens": 0}, {"json_schema": {}, "choices": ("a",)}],
)
def test_a_request_is_validated(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        request("a", **change)
