"""What counts as an answer in a server's reply, whatever stands beside it."""

from __future__ import annotations

from typing import Any

import pytest

from cares.bench.systems_reply import heard_answer
from cares.core.text import no_formula, plain
from cares.llm.types import ChatMessage, ChatRequest

REQUEST = ChatRequest(
    messages=(ChatMessage(role="user", content="?"),), seed=1, max_tokens=9, temperature=0.0, top_p=1.0
)


def body(content: Any = "B", usage: Any = None, **choice: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}, **choice}], "usage": usage}


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        {},
        {"completion_tokens": None},
        {"completion_tokens": float("nan"), "prompt_tokens": float("inf")},
        {"prompt_tokens": "many"},
    ],
)
def test_odd_counts_of_tokens_cost_no_answer(usage: Any) -> None:
    answer = heard_answer(body("B", usage, finish_reason="stop"), REQUEST)
    assert (answer.text, answer.finish_reason, answer.prompt_tokens, answer.completion_tokens) == ("B", "stop", 0, 0)


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({}, "stop"),
        ({"finish_reason": None}, "stop"),
        ({"finish_reason": "eos"}, "stop"),
        ({"finish_reason": "eos_token"}, "stop"),
        ({"finish_reason": "length"}, "length"),
        ({"finish_reason": "max_tokens"}, "length"),
        ({"finish_reason": "abort"}, "error"),
        ({"finish_reason": "content_filter"}, "error"),
        ({"finish_reason": {"type": "stop"}}, "stop"),
    ],
)
def test_the_reason_for_the_end_is_read_generously(choice: dict[str, Any], reason: str) -> None:
    assert heard_answer(body(**choice), REQUEST).finish_reason == reason


def test_a_list_of_parts_is_one_text() -> None:
    parts = [{"type": "text", "text": "The answer "}, {"type": "text", "text": "is B."}]
    assert heard_answer(body(parts), REQUEST).text == "The answer is B."
    assert heard_answer(body(None), REQUEST).text == ""
    assert heard_answer(body("B \ud800"), REQUEST).text == "B ?"


@pytest.mark.parametrize("value", [None, [], {}, {"choices": []}, {"choices": [None]}, {"choices": [{}]}, body(7)])
def test_without_a_text_it_is_an_error_in_plain_words(value: Any) -> None:
    answer = heard_answer(value, REQUEST)
    assert answer.finish_reason == "error"
    assert not any(word in answer.error for word in ("Error", "NoneType", "'"))


def test_the_servers_own_words_are_kept_without_control_characters() -> None:
    answer = heard_answer({"error": {"message": "no \x1b[2Jaudio\nhere"}}, REQUEST)
    assert answer.error == "an answer without text: no ?[2Jaudio here"


def test_a_constrained_answer_of_nothing_but_brackets_is_kept_as_text() -> None:
    request = REQUEST.model_copy(update={"choices": ("A", "B")})
    assert heard_answer(body("[" * 200_000), request).text == "[" * 200_000
    assert heard_answer(body('{"answer": "A"}'), request).text == "A"


def test_names_are_fit_for_terminals_and_spreadsheets() -> None:
    assert plain("a\x1b[31m\tb\n\u202ec") == "a?[31m b ?c"
    assert [no_formula(text) for text in ("=1+1", "@x", "Qwen/Qwen2")] == ["'=1+1", "'@x", "Qwen/Qwen2"]
