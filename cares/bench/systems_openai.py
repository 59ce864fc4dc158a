"""A served model that hears: any OpenAI-compatible chat server with audio input, such as vLLM or llama.cpp.

The recording goes as 16 kHz mono WAV in an `input_audio` part, before the question. Pauses, repetitions and what counts
as a passing failure are those of `cares.llm.server`; each answer is handed on as soon as it is there.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx

from cares.bench.systems_audio import FILTERED, AudioQuestion, wav_16k
from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.executor import progress
from cares.llm.server import PATIENCE, REQUEST_AT_FAULT, Patience, ServerModel
from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest, LlmError, failed
from cares.llm.wire import chat_answer, chat_body


class AudioServer(ServerModel):
    """A model offered by a server; see `cares.bench.systems_audio.AudioSystem`.

    Args:
        model: the name under which the server offers it.
        url: the server's address, with or without the final /v1.
        key: sent as a bearer token if given; it stands in no file and no message.
        patience: requests in flight, time-outs, repetitions.

    Raises:
        InputError: the address is not an http address, or the key cannot stand in a header.
        LlmError: the server cannot be reached, or does not offer the model.
    """

    def __init__(self, model: str, url: str, key: str | None = None, patience: Patience = PATIENCE) -> None:
        if not url.startswith(("http://", "https://")):
            raise InputError("command line", "--base-url", url, "an address such as http://127.0.0.1:8000/v1")
        super().__init__(model, url, key, patience)

    def body(self, question: AudioQuestion) -> Json:
        """The request without the recording."""
        return chat_body(self.name, _request(question))

    def answer(self, questions: Sequence[AudioQuestion], keep: Callable[[int, ChatAnswer, int], None]) -> None:
        """Answer all, `patience.in_flight` at a time; `keep` gets place, answer and milliseconds of each.

        Raises:
            LlmError: the server stays away or refuses the key; what was kept stays.
            InputError: a recording is missing or is another one.
        """

        async def all_of_them(client: httpx.AsyncClient) -> None:
            waiting = iter(enumerate(questions))
            with progress(total=len(questions), desc=self.name, unit="question") as bar:

                async def work() -> None:
                    # each worker reads a recording when its turn comes, so that few are in memory at once
                    for place, question in waiting:
                        begin = time.monotonic()
                        answer = await self._hear(client, question)
                        keep(place, answer, round(1000 * (time.monotonic() - begin)))
                        bar.update()

                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self._patience.in_flight, len(questions))):
                        group.create_task(work())

        try:
            self._run(all_of_them)
        except ExceptionGroup as group:
            first = group.exceptions[0]
            raise first from None

    async def _hear(self, client: httpx.AsyncClient, question: AudioQuestion) -> ChatAnswer:
        request = _request(question)
        body = chat_body(self.name, request)
        wav = await asyncio.to_thread(wav_16k, question.audio, question.audio_sha256)
        sound = {"data": base64.b64encode(wav).decode("ascii"), "format": "wav"}
        content = [{"type": "input_audio", "input_audio": sound}, {"type": "text", "text": question.prompt}]
        body["messages"] = [{"role": "user", "content": content}]
        status, value = await self._send(client, "POST", "chat/completions", body)
        if status in REQUEST_AT_FAULT:
            return failed(f"status {status}: {self._reason(value)}")
        if status != 200:
            raise self._refused(status, value, f"the model {self.name!r}")
        if _reason_of(value) == FILTERED:
            return failed(FILTERED)
        return chat_answer(value, request)

    def _refused(self, status: int, body: Any, asked: str) -> LlmError:
        error = str(super()._refused(status, body, asked))
        return LlmError(error.replace("the address in CARES_LLM_URL", "the address"))


def _request(question: AudioQuestion) -> ChatRequest:
    return ChatRequest(
        messages=(ChatMessage(role="user", content=question.prompt),),
        seed=question.seed,
        max_tokens=question.max_tokens,
        temperature=0.0,
        top_p=1.0,
        choices=question.choices or None,
    )


def _reason_of(body: Any) -> object:
    try:
        return body["choices"][0]["finish_reason"]
    except (KeyError, IndexError, TypeError):
        return None
