"""A model behind a server: order, repeats, failures that pass and failures that stay."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from cares.core.errors import InputError
from cares.llm.open import model_identity, open_llm
from cares.llm.params import LlmParams
from cares.llm.server import Patience, ServerModel
from cares.llm.types import ChatAnswer, LlmError
from tests.llm.conftest import Reply, Served, answer, echo, request

QUICK = Patience(attempts=3, first_pause_s=0.01, longest_pause_s=0.5, answer_s=60.0)
KEY = "sk-very-secret"


def ask(served: Served, *texts: str, **changed: Any) -> list[ChatAnswer]:
    model = ServerModel("toy", served.url, KEY, QUICK)
    return model.complete([request(text, **changed) for text in texts])


def test_answers_keep_the_order_of_the_requests(served: Served) -> None:
    def slow_first(number: int, body: dict[str, Any]) -> Reply:
        time.sleep(0.2 if body["messages"][-1]["content"] == "a" else 0.0)
        return echo(body)

    served.script = slow_first
    assert [a.text for a in ask(served, "a", "b", "c")] == ["echo a", "echo b", "echo c"]


def test_an_empty_wave_asks_nothing(served: Served) -> None:
    assert ask(served) == []
    assert served.bodies == []


def test_what_is_sent(served: Served) -> None:
    schema = {"type": "object"}
    ask(served, "a", json_schema=schema)
    body = served.bodies[0]
    assert body["model"] == "toy" and body["seed"] == 7 and body["max_tokens"] == 20
    assert (body["temperature"], body["top_p"]) == (0.5, 0.9)
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert served.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [429, 500, 503, 408])
def test_a_passing_failure_is_asked_again(served: Served, status: int) -> None:
    served.script = lambda number, body: (status, {}, b"{}") if number < 3 else echo(body)
    assert ask(served, "a")[0].text == "echo a"
    assert len(served.bodies) == 3


def test_retry_after_is_kept(served: Served) -> None:
    served.script = lambda number, body: (429, {"Retry-After": "0"}, b"{}") if number == 1 else echo(body)
    begin = time.monotonic()
    patient = QUICK._replace(first_pause_s=30.0, longest_pause_s=30.0)
    assert ServerModel("toy", served.url, None, patient).complete([request("a")])[0].text == "echo a"
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("reply", [None, (200, {}, b'{"choices": [{"mess'), (200, {}, b"")])
def test_a_body_that_breaks_off_is_asked_again(served: Served, reply: Reply | None) -> None:
    served.script = lambda number, body: reply if number == 1 else echo(body)
    assert ask(served, "a")[0].text == "echo a"
    assert len(served.bodies) == 2


def test_a_server_that_dies_in_mid_wave_ends_in_an_error_after_bounded_tries(served: Served) -> None:
    served.script = lambda number, body: echo(body) if number <= 2 else (500, {}, b'{"error": {"message": "out"}}')
    with pytest.raises(LlmError, match=r"status 500: out \(3 attempts\)"):
        ask(served, "a", "b", "c", "d")
    assert len(served.bodies) <= 2 + 2 * 3


def test_a_server_that_hangs_is_given_up(served: Served) -> None:
    release = threading.Event()

    def hang(number: int, body: dict[str, Any]) -> Reply:
        release.wait(5)
        return echo(body)

    served.script = hang
    hasty = QUICK._replace(answer_s=0.1)
    try:
        with pytest.raises(LlmError, match="3 attempts"):
            ServerModel("toy", served.url, None, hasty).complete([request("a")])
    finally:
        release.set()


def test_no_server_there() -> None:
    with pytest.raises(LlmError, match=r"http://127\.0\.0\.1:1: .*3 attempts"):
        ServerModel("toy", "http://127.0.0.1:1", None, QUICK)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_one_request_at_fault_fails_alone(served: Served, status: int) -> None:
    refusal = json.dumps({"error": {"message": "maximum context length is 10"}}).encode()

    def script(number: int, body: dict[str, Any]) -> Reply:
        return (status, {}, refusal) if body["messages"][-1]["content"] == "b" else echo(body)

    served.script = script
    answers = ask(served, "a", "b", "c")
    assert [a.finish_reason for a in answers] == ["stop", "error", "stop"]
    assert answers[1].text == "" and "maximum context length" in answers[1].error
    assert len(served.bodies) == 3


def test_a_refused_key_ends_the_wave_and_is_never_shown(served: Served) -> None:
    refusal = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    served.script = lambda number, body: (401, {}, refusal)
    with pytest.raises(LlmError, match="status 401") as caught:
        ask(served, "a")
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value.__cause__)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (answer("", "content_filter"), "content_filter"),
        ((200, {}, b"{}"), "without text"),
        ((200, {}, b'{"choices": []}'), "without text"),
        ((200, {}, b'["odd"]'), "without text"),
    ],
)
def test_an_odd_answer_is_that_requests_error(served: Served, reply: Reply, error: str) -> None:
    served.script = lambda number, body: reply
    (found,) = ask(served, "a")
    assert found.finish_reason == "error" and error in found.error and found.text == ""


def test_an_answer_that_was_cut_says_so(served: Served) -> None:
    served.script = lambda number, body: answer("half an ans", "length")
    (found,) = ask(served, "a")
    assert (found.text, found.finish_reason, found.prompt_tokens, found.completion_tokens) == (
        "half an ans", "length", 3, 2,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("said", "text"),
    [('{"answer": "verbal"}', "verbal"), ("B) verbal", "B) verbal"), ('{"answer": 3}', '{"answer": 3}')],
)
def test_a_choice_is_unwrapped_and_never_guessed(served: Served, said: str, text: str) -> None:
    served.script = lambda number, body: answer(said)
    (found,) = ask(served, "a", choices=("verbal", "pivot"))
    assert found.text == text
    schema = served.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["verbal", "pivot"]


def test_a_model_that_is_not_offered(served: Served) -> None:
    served.models = ["other"]
    with pytest.raises(LlmError, match="offers other, not 'toy'"):
        ask(served, "a")


@pytest.mark.parametrize("url", ["ftp://x", "localhost:8000", "http://", "http://me:pass@127.0.0.1:1"])
def test_an_address_that_cannot_be(url: str) -> None:
    with pytest.raises(InputError, match="CARES_LLM_URL") as caught:
        ServerModel("toy", url, None, QUICK)
    assert "pass@" not in str(caught.value)


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_the_environment_names_the_server(served: Served, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_LLM_URL", served.url + suffix)
    with open_llm("toy", LlmParams()) as model:
        assert not model.promised
        assert model.complete([request("a")])[0].text == "echo a"
        assert model.digest == model_identity("toy", LlmParams())
    with pytest.raises(LlmError, match="closed"):
        model.complete([request("a")])


def test_the_digest_names_no_address(served: Served) -> None:
    one = ServerModel("toy", served.url, None, QUICK)
    other = ServerModel("toy", served.url + "/v1", KEY, QUICK)
    assert one.digest == other.digest
