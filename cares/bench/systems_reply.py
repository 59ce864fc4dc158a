"""What a server said, read for its text: side fields that are odd or missing cost no answer.

Servers differ in them: token counts may be null, the reason for the end missing or "eos", the text a list of parts.
"""

from __future__ import annotations

import math
from typing import Any

from cares.bench.systems_audio import FILTERED
from cares.core.text import plain
from cares.llm.types import ChatAnswer, ChatRequest, failed
from cares.llm.wire import chat_answer

CUT = frozenset({"length", "max_tokens"})
BROKEN_OFF = frozenset({"abort", "aborted", "cancelled", "error"})


def heard_answer(body: Any, request: ChatRequest) -> ChatAnswer:
    """The answer in a body of status 200; one with an error where there is no text or the server broke it off."""
    choice = _first(body)
    message = choice.get("message") if choice is not None else None
    if choice is None or not isinstance(message, dict):
        error = body.get("error") if isinstance(body, dict) else None
        said = error.get("message") if isinstance(error, dict) else error
        return failed(
            f"an answer without text: {plain(said)[:300]}" if isinstance(said, str) else "no text in the answer"
        )
    reason = str(choice.get("finish_reason"))
    if reason == FILTERED:
        return failed(FILTERED)
    usage = body.get("usage")
    tokens = {name: _count(usage, name) for name in ("prompt_tokens", "completion_tokens")}
    text = _text(message.get("content"))
    if text is None:
        return failed("the content of the answer is neither a text nor a list of texts", tokens["prompt_tokens"])
    if reason in BROKEN_OFF:
        return failed(f"the server ended the request: {reason}", tokens["prompt_tokens"])
    regular = {
        "choices": [{"message": {"content": text}, "finish_reason": "length" if reason in CUT else "stop"}],
        "usage": tokens,
    }
    try:
        return chat_answer(regular, request)
    except RecursionError:
        # brackets in brackets instead of the one choice: kept as it is, and read like any text
        return chat_answer(regular, request.model_copy(update={"choices": None}))


def _first(body: Any) -> dict[str, Any] | None:
    choices = body.get("choices") if isinstance(body, dict) else None
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None


def _text(content: Any) -> str | None:
    """The text, of parts put together; half of a surrogate pair, which no file can hold, becomes a question mark."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        content = "".join(part for part in parts if isinstance(part, str))
    return content.encode("utf-8", "replace").decode("utf-8") if isinstance(content, str) else None


def _count(usage: Any, name: str) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    known = isinstance(value, int | float) and math.isfinite(value)
    return max(0, int(value)) if known and value is not None else 0
