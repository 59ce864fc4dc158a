"""Start time, speed and memory of the embedded writer: one wave of eight answers bound to a schema."""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

from cares.llm.open import open_llm
from cares.llm.params import LlmParams
from cares.llm.types import ChatMessage, ChatRequest

TOPICS = (
    "a broken oven",
    "the lost keys",
    "a noisy flat",
    "an old car",
    "learning to swim",
    "a job abroad",
    "rain",
    "tea",
)


def schema(turns: int) -> dict[str, Any]:
    """An array of turns with a forced speaker and a bounded sentence each."""
    entries = []
    for turn in range(turns):
        line = {"type": "string", "pattern": "^[A-Z][A-Za-z' ,]{20,120}[.?!]$"}
        entries.append(
            {
                "type": "object",
                "properties": {"speaker": {"const": "AB"[turn % 2]}, "text": line},
                "required": ["speaker", "text"],
                "additionalProperties": False,
            }
        )
    return {"type": "array", "prefixItems": entries, "items": False, "minItems": turns, "maxItems": turns}


def main() -> None:
    """Measure one model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-1.5b-instruct")
    parser.add_argument("--turns", type=int, default=8)
    arguments = parser.parse_args()
    wave = [
        ChatRequest(
            messages=(
                ChatMessage(role="user", content=f"Write a spoken dialogue of two friends about {topic}, as JSON."),
            ),
            seed=number,
            max_tokens=900,
            temperature=0.9,
            top_p=0.95,
            json_schema=schema(arguments.turns),
        )
        for number, topic in enumerate(TOPICS)
    ]
    begin = time.perf_counter()
    with open_llm(arguments.model, LlmParams()) as model:
        print(f"start {time.perf_counter() - begin:.1f} s")
        begin = time.perf_counter()
        answers = model.complete(wave)
        seconds = time.perf_counter() - begin
    tokens = sum(answer.completion_tokens for answer in answers)
    whole = sum(answer.finish_reason == "stop" for answer in answers)
    print(f"{len(wave)} answers ({whole} whole), {tokens} tokens in {seconds:.1f} s: {tokens / seconds:.1f} tokens/s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")


if __name__ == "__main__":
    main()
