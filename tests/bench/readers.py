"""A model that reads, for the tests of the systems that cannot hear."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from cares.bench.params import BenchParams
from cares.bench.systems import load_prompt
from cares.llm.probe import ANSWERED, ANSWERS, GREETS
from cares.llm.probe import REQUEST as PROBE
from cares.llm.types import ChatAnswer, ChatRequest, LlmError, failed
from cares.records.item import Item

PARAMS = BenchParams(
    systems=("majority", "random", "oracle", "cascade"),
    wave_templates=4,
    wave_size=6,
    context_s=20.0,
    max_tokens=24,
    bootstrap=100,
)
PROMPT = load_prompt(Path("prompts/bench_text.jinja"))
MakeItems = Callable[..., list[Item]]


class Echo:
    """Answers each question with the letter B; requests holding `bad` fail alone."""

    name = "echo"
    promised = True

    def __init__(self, bad: str = "\0", fail_at_wave: int | None = None) -> None:
        self.asked: list[list[ChatRequest]] = []
        self._bad, self._fail_at_wave = bad, fail_at_wave

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        if list(wave) == [PROBE]:
            greeting = json.dumps({GREETS: "Good morning, neighbour.", ANSWERED: ANSWERS[0]})
            return [ChatAnswer(text=greeting, finish_reason="stop", prompt_tokens=8, completion_tokens=8)]
        if self._fail_at_wave == len(self.asked):
            raise LlmError("the engine stopped")
        self.asked.append(list(wave))
        return [self._answer(request) for request in wave]

    def close(self) -> None:
        """Nothing to free."""

    def _answer(self, request: ChatRequest) -> ChatAnswer:
        text = request.messages[-1].content
        if self._bad in text:
            return failed("refused", 7)
        return ChatAnswer(text="B", finish_reason="stop", prompt_tokens=len(text.split()), completion_tokens=1)
