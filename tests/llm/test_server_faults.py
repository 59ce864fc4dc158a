"""Servers that are slow, busy, broken, closed or of another kind: what is asked again, and what is said."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from cares.core.canonical import digest
from cares.core.errors import InputError
from cares.core.store import ItemStore
from cares.llm.open import open_llm
from cares.llm.params import LlmParams
from cares.llm.probe import ANSWERED, ANSWERS, GREETS, REQUEST
from cares.llm.server import Patience, ServerModel, server_digest
from cares.llm.types import ChatAnswer, LlmError
from cares.llm.waves import StoredWaves
from tests.llm.conftest import Reply, Served, answer, echo, request

QUICK = Patience(attempts=3, first_pause_s=0.01, longest_pause_s=0.05, answer_s=60.0)
KEY = "sk-very-secret"
KEPT = json.dumps({GREETS: "Good morning, how are you?", ANSWERED: ANSWERS[0]})
SCHEMA = {"type": "array", "items": {"type": "string"}}


def ask(served: Served, patience: Patience = QUICK, key: str | None = None) -> ChatAnswer:
    (found,) = ServerModel("toy", served.url, key, patience).complete([request("a")])
    return found


def test_a_body_that_trickles_is_given_up_after_a_time_for_the_whole(served: Served) -> None:
    served.byte_s = 0.05
    begin = time.monotonic()
    with pytest.raises(LlmError, match=r"no whole answer within 0\.3 s \(2 attempts\)"):
        ask(served, QUICK._replace(attempts=2, answer_s=0.3))
    assert time.monotonic() - begin < 5


def test_no_attempt_begins_after_the_time_for_a_request(served: Served) -> None:
    served.byte_s = 0.05
    with pytest.raises(LlmError, match=r"\(2 attempts\)"):
        ask(served, QUICK._replace(attempts=50, answer_s=0.2, request_s=0.3))


def test_requests_that_wait_for_their_turn_use_up_no_time(served: Served) -> None:
    def slow(number: int, body: dict[str, Any]) -> Reply:
        time.sleep(0.15)
        return echo(body)

    served.script = slow
    model = ServerModel("toy", served.url, None, QUICK._replace(answer_s=0.5, in_flight=1, attempts=1))
    assert [a.finish_reason for a in model.complete([request(str(n)) for n in range(5)])] == ["stop"] * 5


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "1"},
        {"Retry-After": "Wed, 21 Oct 2015 07:28:01 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"},
    ],
)
def test_the_pause_that_a_busy_server_asks_for_is_kept(served: Served, headers: dict[str, str]) -> None:
    served.script = lambda number, body: (429, headers, b"{}") if number == 1 else echo(body)
    begin = time.monotonic()
    assert ask(served).text == "echo a"
    assert 1.0 <= time.monotonic() - begin < 5, "longer than the longest pause of our own"


def test_a_server_that_asks_for_hours_is_not_waited_for(served: Served) -> None:
    served.script = lambda number, body: (429, {"Retry-After": "7200"}, b'{"error": {"message": "daily limit"}}')
    with pytest.raises(LlmError, match=r"status 429: daily limit.*after 7200 s"):
        ask(served)
    assert len(served.bodies) == 1


def test_a_server_that_stays_broken_is_asked_a_bounded_number_of_times(served: Served) -> None:
    served.script = lambda number, body: (500, {}, b'{"error": {"message": "out of memory"}}')
    with pytest.raises(LlmError, match=r"status 500: out of memory \(3 attempts\).*run again"):
        ask(served)
    assert len(served.bodies) == 3


@pytest.mark.parametrize("reply", [None, (200, {}, b'{"choices": [{"mess'), (200, {}, b"<html>proxy</html>")])
def test_bodies_that_always_break_off_end_in_an_error(served: Served, reply: Reply | None) -> None:
    served.script = lambda number, body: reply
    with pytest.raises(LlmError, match=r"\(3 attempts\)"):
        ask(served)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"finish_reason": "stop"}]},
        {"choices": [{"message": {"content": "x"}}]},
        {"choices": [{"message": {"content": [{"type": "text"}]}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": "many"}},
        {"choices": [{"message": {"content": "half \ud83d"}, "finish_reason": "stop"}]},
    ],
)
def test_an_answer_with_missing_or_odd_fields_fails_alone(served: Served, body: dict[str, Any]) -> None:
    served.script = lambda number, _: (200, {}, json.dumps(body).encode())
    found = ask(served)
    assert (found.text, found.finish_reason) == ("", "error") and "without text" in found.error


def test_an_answer_without_a_count_of_tokens_is_taken(served: Served) -> None:
    body = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": None}
    served.script = lambda number, _: (200, {}, json.dumps(body).encode())
    assert ask(served).text == "x"


def test_a_model_that_vanished_is_named(served: Served) -> None:
    served.script = lambda number, body: (404, {}, b'{"error": {"message": "no such model"}}')
    with pytest.raises(LlmError, match=r"status 404 for the model 'toy': no such model\. Is the address"):
        ask(served)
    assert len(served.bodies) == 1


def test_an_address_without_the_interface_is_named(served: Served) -> None:
    served.listing = (404, {}, b"not found")
    with pytest.raises(LlmError, match=r"status 404 for the list of models.*CARES_LLM_URL"):
        ask(served)


@pytest.mark.parametrize(("key", "hint"), [(None, "set CARES_LLM_KEY"), (KEY, "refuses the key in CARES_LLM_KEY")])
@pytest.mark.parametrize("at_start", [True, False])
def test_a_refused_key_names_the_variable_and_never_the_key(
    served: Served, key: str | None, hint: str, at_start: bool
) -> None:
    refusal: Reply = (401, {}, json.dumps({"error": {"message": f"no: {KEY}" if key else "no"}}).encode())
    served.listing = refusal if at_start else None
    served.script = lambda number, body: refusal
    with pytest.raises(LlmError, match=hint) as caught:
        ask(served, key=key)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} x", "schlüssel"])
def test_a_key_that_cannot_be_sent_is_not_shown_either(served: Served, key: str) -> None:
    with pytest.raises(InputError, match="CARES_LLM_KEY") as caught:
        ask(served, key=key)
    assert key.strip() not in str(caught.value)


def test_penalties_are_sent_where_they_are_asked_for(served: Served) -> None:
    model = ServerModel("toy", served.url, None, QUICK)
    model.complete([request("a"), request("b", presence_penalty=0.5, frequency_penalty=-0.25)])
    first, second = sorted(served.bodies, key=lambda body: body["messages"][0]["content"])
    assert "presence_penalty" not in first and "frequency_penalty" not in first
    assert (second["presence_penalty"], second["frequency_penalty"]) == (0.5, -0.25)


def structured(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waves: int = 2) -> None:
    monkeypatch.setenv("CARES_LLM_URL", served.url)
    with StoredWaves("toy", LlmParams(), ItemStore("llm", tmp_path)) as model:
        for number in range(waves):
            model.complete([request(f"{number}", json_schema=SCHEMA)])


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        ((400, {}, b'{"error": {"message": "response_format is not supported"}}'), "response_format is not supported"),
        (answer("Hello! How can I help you?"), "not the JSON.*Hello! How"),
        (answer(f"```json\n{KEPT}\n```"), "not the JSON"),
        (answer(json.dumps({GREETS: "HELLO", ANSWERED: ANSWERS[0]})), "pattern and enum"),
        (answer(KEPT.replace("how are you?", "and " * 40 + "so on.")), "pattern and enum"),
        (answer(json.dumps({GREETS: "Good morning, how are you?", ANSWERED: "Hello."})), "pattern and enum"),
        (answer(json.dumps({GREETS: "Good morning, how are you?", ANSWERED: ["x"]})), "pattern and enum"),
        (answer(json.dumps({ANSWERED: ANSWERS[0], GREETS: "Good morning, how are you?"})), "in their order"),
        (answer(json.dumps({GREETS: "Good morning, how are you?"})), "in their order"),
        (answer('{"1 A, gree', "length"), "not the JSON"),
        (answer("[]"), "in their order"),
        (answer("7"), "in their order"),
    ],
)
def test_a_server_without_structured_output_is_found_by_the_first_small_request(
    served: Served, reply: Reply, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.script = lambda number, body: reply
    with pytest.raises(LlmError, match=f"toy: structured output does not work here: .*{what}"):
        structured(served, tmp_path, monkeypatch)
    assert len(served.bodies) == 1 and served.bodies[0]["max_tokens"] == REQUEST.max_tokens


def test_a_server_with_structured_output_is_asked_once_more_and_no_oftener(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.script = lambda number, body: answer(KEPT if number == 1 else '["x"]')
    structured(served, tmp_path, monkeypatch)
    assert len(served.bodies) == 3
    structured(served, tmp_path, monkeypatch)
    assert len(served.bodies) == 3, "kept waves need no model and no probe"


def test_choices_are_checked_like_schemas(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_LLM_URL", served.url)
    served.script = lambda number, body: answer(KEPT if number == 1 else '{"answer": "yes"}')
    with StoredWaves("toy", LlmParams(), ItemStore("llm", tmp_path)) as model:
        assert model.complete([request("a", choices=("yes", "no"))])[0].text == "yes"
    assert len(served.bodies) == 2
    served.script = lambda number, body: answer("yes")
    with (
        StoredWaves("toy", LlmParams(), ItemStore("llm", tmp_path / "other")) as model,
        pytest.raises(LlmError, match="structured output does not work here"),
    ):
        model.complete([request("a", choices=("yes", "no"))])


def test_free_text_needs_no_structured_output(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_LLM_URL", served.url)
    with StoredWaves("toy", LlmParams(), ItemStore("llm", tmp_path)) as model:
        assert model.complete([request("a")])[0].text == "echo a"
    assert len(served.bodies) == 1


def test_several_servers_are_asked_in_turn_who_offers_the_model(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.models = ["writer"]
    monkeypatch.setenv("CARES_LLM_URL", f"{served.url}, {served.url}/v1")
    with open_llm("writer", LlmParams()) as model:
        assert model.complete([request("a")])[0].text == "echo a"
    with (
        pytest.raises(LlmError, match=r"offers writer, not 'judge'.*; .*offers writer, not 'judge'"),
        open_llm("judge", LlmParams()),
    ):
        pytest.fail("nobody offers it")


def test_of_several_servers_one_that_is_away_is_said(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cares.llm.server.ServerModel.__init__.__defaults__", (None, QUICK))
    monkeypatch.setenv("CARES_LLM_URL", f"http://127.0.0.1:1,{served.url}")
    with pytest.raises(LlmError, match=r"http://127\.0\.0\.1:1"), open_llm("toy", LlmParams()):
        pytest.fail("a server that is named must be there")


@pytest.mark.parametrize("addresses", [",", " , "])
def test_commas_alone_name_no_server(addresses: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_LLM_URL", addresses)
    with pytest.raises(LlmError, match="names no server"), open_llm("toy", LlmParams()):
        pytest.fail("there is none")


def test_the_digest_follows_the_pinned_revision() -> None:
    assert server_digest("deepseek-v3-0324") != digest({"model": "deepseek-v3-0324", "revision": "", "way": "server"})
    assert server_digest("somebodys-model") == digest({"model": "somebodys-model", "revision": "", "way": "server"})
