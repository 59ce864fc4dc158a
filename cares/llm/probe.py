"""One small question before the first wave that binds its answers: does this model, this server, keep to a schema?

Some servers ignore `response_format`, others refuse what our schemas are made of: an object whose properties come in
order, `enum`, and patterns with long alternations and bounded repetitions. Asked at the start, it costs seconds; found
out by refused answers, it costs the whole budget of attempts.
"""

from __future__ import annotations

import json
import re
from itertools import product

from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest, LanguageModel, LlmError

_WHEN = ("morning", "day", "evening", "to see you", "to have you here", "that you are here", "to find you in")
_OPENERS = tuple(" ".join(pair) for pair in product(("Good", "Nice", "Lovely", "How good", "How nice"), _WHEN))
PATTERN = rf"^({'|'.join(_OPENERS)})[ ,]([A-Za-z0-9 -]|[,.?!] |[A-Za-z]'[a-z]|s' ){{3,40}}[a-z0-9][.?!]$"
ANSWERS = tuple(f"{opener}, {name}." for name, opener in product(("my friend", "neighbour"), _OPENERS))
GREETS, ANSWERED = "1 A, greets", "2 B, answers"
REQUEST = ChatRequest(
    messages=(ChatMessage(role="user", content="Write a short greeting and its answer."),),
    seed=0,
    max_tokens=80,
    temperature=0.0,
    top_p=1.0,
    json_schema={
        "type": "object",
        "properties": {
            GREETS: {"type": "string", "pattern": PATTERN},
            ANSWERED: {"type": "string", "enum": list(ANSWERS)},
        },
        "required": [GREETS, ANSWERED],
        "additionalProperties": False,
    },
)


def check_structured(model: LanguageModel) -> None:
    """Ask the small question; LlmError says what came back when it is not what the schema allows."""
    (answer,) = model.complete([REQUEST])
    if fault := _fault(answer):
        hint = "Take a server and a model that keep to a JSON schema (vLLM does; docs/full-scale.md)"
        raise LlmError(f"{model.name}: structured output does not work here: {fault}. {hint}")


def _fault(answer: ChatAnswer) -> str:
    """What is wrong with the answer; empty when it keeps to the schema."""
    if answer.finish_reason == "error":
        return f"the request was refused: {answer.error}"
    shown = answer.text if len(answer.text) <= 80 else answer.text[:77] + "..."
    try:
        value = json.loads(answer.text)
    except ValueError:
        return f"the answer is not the JSON that was asked for: {shown!r}"
    if not isinstance(value, dict) or list(value) != [GREETS, ANSWERED]:
        return f"the answer does not hold the keys that were asked for, in their order: {shown!r}"
    greeting, reply = value.values()
    if not isinstance(greeting, str) or not re.search(PATTERN, greeting) or reply not in ANSWERS:
        return f"the answer does not keep to pattern and enum: {shown!r}"
    return ""
