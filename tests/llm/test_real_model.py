"""SmolLM2 through real vLLM, both ways in."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cares.llm.open import open_llm
from cares.llm.params import LlmParams
from cares.llm.probe import check_structured
from cares.llm.serve import serve
from cares.llm.types import ChatRequest
from tests.llm.conftest import request
from tests.llm.test_serve import gone

pytestmark = pytest.mark.models

MODEL = "smollm2-135m-instruct"
PARAMS = LlmParams(context_tokens=1024, batched_tokens=4096, kv_cache_gib=0.25, wave_limit=8)
PATTERN = r"^[A-Z][a-z ,]{8,40}[.?!]$"
SCHEMA: dict[str, Any] = {
    "type": "array",
    "prefixItems": [
        {
            "type": "object",
            "properties": {"speaker": {"const": "A"}, "text": {"type": "string", "pattern": PATTERN, "maxLength": 30}},
            "required": ["speaker", "text"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"speaker": {"const": "B"}, "text": {"type": "string", "minLength": 5, "maxLength": 20}},
            "required": ["speaker", "text"],
            "additionalProperties": False,
        },
    ],
    "items": False,
    "minItems": 2,
    "maxItems": 2,
}


def wave() -> list[ChatRequest]:
    talks = [request(f"Two lines about {what}.", seed=n, max_tokens=120, temperature=0.9, json_schema=SCHEMA)
             for n, what in enumerate(("rain", "a lost key", "the new neighbour"))]  # fmt: skip
    return [
        *talks,
        request("word " * 1100),
        request("Is rain wet?", json_schema={"type": "strung"}),
        request("Is rain wet? Answer yes or no.", choices=("yes", "no"), max_tokens=30),
    ]


def check(texts: list[str], reasons: list[str]) -> None:
    assert reasons == ["stop", "stop", "stop", "error", "error", "stop"]
    for text in texts[:3]:
        first, second = json.loads(text)
        assert (first["speaker"], second["speaker"]) == ("A", "B")
        assert re.fullmatch(PATTERN, first["text"]) and len(first["text"]) <= 30
        assert 5 <= len(second["text"]) <= 20
    assert texts[3] == texts[4] == ""
    assert texts[5] in ("yes", "no")


PROGRAM = """
import json, sys
from cares.llm.open import open_llm
from cares.llm.probe import check_structured
from tests.llm.test_real_model import MODEL, PARAMS, wave
with open_llm(MODEL, PARAMS) as model:
    assert model.promised
    if "probe" in sys.argv:
        check_structured(model)
    answers = [model.complete(wave()) for _ in range(2)]
print(json.dumps([[answer.to_json() for answer in kept] for kept in answers]))
"""


def run_in_process(*words: str) -> list[list[dict[str, Any]]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stderr[-2000:]
    kept: list[list[dict[str, Any]]] = json.loads(done.stdout.splitlines()[-1])
    return kept


def test_the_same_wave_gives_the_same_answers_in_two_processes_and_twice_in_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CARES_LLM_URL", raising=False)
    first, again = run_in_process()
    assert first == again
    assert run_in_process("probe") == [first, again], "the small question before changes no later answer"
    check([answer["text"] for answer in first], [answer["finish_reason"] for answer in first])


def test_a_served_model_answers_and_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(MODEL, PARAMS) as url:
        monkeypatch.setenv("CARES_LLM_URL", url)
        with open_llm(MODEL, PARAMS) as model:
            check_structured(model)
            answers = model.complete(wave())
        running = [pid for pid in all_pids() if url.split(":")[-1].removesuffix("/v1") in command(pid)]
        assert running
    check([answer.text for answer in answers], [answer.finish_reason for answer in answers])
    assert gone(running)


def all_pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
