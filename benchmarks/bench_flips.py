"""Flip rate in server mode: the share of texts that change with the number of requests in flight.

The same requests, each with its own seed, go to one server with 1, 4 and 16 in flight; half are bound to a schema, half
are free. Asked are the server of CARES_LLM_URL or, without one, a vLLM server of a registered model, started here.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from cares.llm.params import LlmParams
from cares.llm.serve import serve
from cares.llm.server import PATIENCE, ServerModel
from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest

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
LINE = {"type": "string", "pattern": "^[A-Z][A-Za-z' ,]{20,120}[.?!]$"}
SCHEMA: dict[str, Any] = {"type": "array", "items": LINE, "minItems": 4, "maxItems": 4}


def requests(count: int, max_tokens: int) -> list[ChatRequest]:
    """`count` requests, every second one bound to a schema."""
    return [
        ChatRequest(
            messages=(
                ChatMessage(role="user", content=f"Four lines that two friends say about {TOPICS[n % len(TOPICS)]}."),
            ),
            seed=n,
            max_tokens=max_tokens,
            temperature=0.9,
            top_p=1.0,
            json_schema=SCHEMA if n % 2 else None,
        )
        for n in range(count)
    ]


@contextlib.contextmanager
def server(model_id: str, wave_limit: int) -> Iterator[str]:
    """The address of the server to ask."""
    if url := os.environ.get("CARES_LLM_URL"):
        yield url
        return
    params = LlmParams(context_tokens=1024, batched_tokens=16384, kv_cache_gib=1.0, wave_limit=wave_limit)
    with serve(model_id, params) as url:
        yield url


def parted_at(one: str, other: str) -> int:
    """The first character at which two texts part."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def main() -> None:
    """Ask with each number in flight and compare the texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m-instruct", help="the model's id, or its name at CARES_LLM_URL")
    parser.add_argument("--requests", type=int, default=32)
    parser.add_argument("--max-tokens", type=int, default=160)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[1, 4, 16])
    arguments = parser.parse_args()
    wave = requests(arguments.requests, arguments.max_tokens)
    texts: dict[str, list[ChatAnswer]] = {}
    with server(arguments.model, max(arguments.in_flight)) as url:
        for run, in_flight in enumerate([arguments.in_flight[0], *arguments.in_flight]):
            model = ServerModel(
                arguments.model, url, os.environ.get("CARES_LLM_KEY"), PATIENCE._replace(in_flight=in_flight)
            )
            begin = time.perf_counter()
            answers = model.complete(wave)
            seconds = time.perf_counter() - begin
            texts[f"{in_flight} again" if run == 1 else str(in_flight)] = answers
            tokens = sum(answer.completion_tokens for answer in answers)
            failed = sum(answer.finish_reason == "error" for answer in answers)
            print(f"{in_flight:3} in flight: {tokens} tokens, {tokens / seconds:.1f} tokens/s, {failed} failed")
    for one, other in combinations(texts, 2):
        pairs = list(zip(texts[one], texts[other], strict=True))
        flips = [parted_at(a.text, b.text) for a, b in pairs if a.text != b.text]
        where = f", the earliest after {min(flips)} characters" if flips else ""
        for kind, part in (("free", pairs[::2]), ("with a schema", pairs[1::2])):
            count = sum(a.text != b.text for a, b in part)
            print(f"{one} / {other}, {kind}: {count} of {len(part)} texts differ ({count / len(part):.0%})")
        print(f"{one} / {other}: {len(flips)} of {len(pairs)} texts differ ({len(flips) / len(pairs):.0%}){where}")


if __name__ == "__main__":
    main()
