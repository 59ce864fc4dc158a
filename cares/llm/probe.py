"""One small question before the first wave that needs a schema: does this model, this server, keep to one?

Some servers ignore `response_format`, others refuse what our schemas are made of (`prefixItems`, `const`, bounded
patterns). Asked at the start, it costs seconds; found out by refused answers, it costs the whole budget of attempts.
"""

from __future__ import annotations

import json
import re

from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest, LanguageModel, LlmError

PATTERN = r"^(Well|Oh), [a-z ,]{3,40}[.?!]$"
REQUEST = ChatRequest(
    messages=(ChatMessage(role="user", content="Greet me in one short line."),),
    seed=0,
    max_tokens=120,
    temperature=0.0,
    top_p=1.0,
    json_schema={
        "type": "array",
        "prefixItems": [
            {
                "type": "object",
                "properties": {"who": {"const": "A, greets"}, "says": {"type": "string", "pattern": PATTERN}},
                "required": ["who", "says"],
                "additionalProperties": False,
            }
        ],
        "items": False,
        "minItems": 1,
        "maxItems": 1,
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
        (entry,) = json.loads(answer.text)
        who, says = entry["who"], entry["says"]
    except (ValueError, TypeError, KeyError):
        return f"the answer is not the JSON that was asked for: {shown!r}"
    if who != "A, greets" or not isinstance(says, str) or not re.search(PATTERN, says):
        return f"the answer does not keep to const and pattern: {shown!r}"
    return ""
