"""The form of OpenAI's chat interface, in which servers are asked and answer."""

from __future__ import annotations

import json
from typing import Any

from cares.llm.types import ChatAnswer, ChatRequest, failed


def chat_body(model_id: str, request: ChatRequest) -> dict[str, Any]:
    """A request as the body of POST /v1/chat/completions."""
    body: dict[str, Any] = {
        "model": model_id,
        "messages": [message.to_json() for message in request.messages],
        "seed": request.seed,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
    }
    if request.min_p > 0:
        body["min_p"] = request.min_p  # vLLM and llama.cpp know it; it is sent only where a family asks for it
    for name in ("presence_penalty", "frequency_penalty"):
        if value := getattr(request, name):
            body[name] = value
    schema = request.json_schema
    if request.choices is not None:
        # not every server knows a list of choices, all that know schemas know this
        answer = {"type": "string", "enum": list(request.choices)}
        schema = {
            "type": "object",
            "properties": {"answer": answer},
            "required": ["answer"],
            "additionalProperties": False,
        }
    if schema is not None:
        form = {"name": "answer", "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


def chat_answer(body: Any, request: ChatRequest) -> ChatAnswer:
    """The answer in a body of status 200; an answer with an error when it is not of OpenAI's form."""
    try:
        choice, usage = body["choices"][0], body.get("usage") or {}
        text, reason = choice["message"]["content"] or "", choice["finish_reason"]
        prompt_tokens, completion_tokens = (
            max(0, int(usage.get(f"{of}_tokens", 0))) for of in ("prompt", "completion")
        )
        text.encode()
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        # among them UnicodeEncodeError: half of a surrogate pair cannot be kept in any file
        return failed(f"an answer without text: {type(error).__name__} {error}")
    if reason not in ("stop", "length"):
        return failed(f"the server ended the request: {reason}", prompt_tokens)
    if request.choices is not None:
        text = _chosen(text)
    return ChatAnswer(text=text, finish_reason=reason, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)


def _chosen(text: str) -> str:
    """The choice inside its JSON object; the raw text if the server did not keep to the schema."""
    try:
        value = json.loads(text)["answer"]
    except (ValueError, KeyError, TypeError):
        return text
    return value if isinstance(value, str) else text
