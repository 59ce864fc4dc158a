"""A served model that hears: any OpenAI-compatible chat server with audio input, such as vLLM or llama.cpp.

The recording goes as 16 kHz mono WAV in an `input_audio` part, before the question. Pauses, repetitions and what counts
as a passing failure are those of `cares.llm.server`; each answer is handed on as soon as it is there. A question that
fails in all its attempts counts as an error and the others go on, unless the server seems to be gone.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx

from cares.bench.systems_audio import AudioQuestion, wav_16k
from cares.bench.systems_reply import heard_answer
from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.executor import progress
from cares.core.text import plain
from cares.llm.hidden import hidden_answer, hidden_errors
from cares.llm.server import PATIENCE, REQUEST_AT_FAULT, NotOfferedError, Patience, ServerModel
from cares.llm.types import ChatAnswer, ChatMessage, ChatRequest, LlmError, failed
from cares.llm.wire import chat_body

LOST_AFTER = 3
_GIVEN_UP = ". Finished waves are kept; run again when the server is back"


class GivenUpError(LlmError):
    """One request got no answer in all its attempts."""


class AudioServer(ServerModel):
    """A model offered by a server; see `cares.bench.systems_audio.AudioSystem`.

    Args:
        model: the name under which the server offers it.
        url: the server's address, with or without the final /v1.
        key: sent as a bearer token if given; it stands in no file and no message.
        patience: requests in flight, time-outs, repetitions.
        given: where the address was given, for messages.

    Raises:
        InputError: the address is not an http address, or the key cannot stand in a header.
        LlmError: the server cannot be reached, or (NotOfferedError) does not offer the model.
    """

    def __init__(
        self,
        model: str,
        url: str,
        key: str | None = None,
        patience: Patience = PATIENCE,
        given: tuple[str, str] = ("command line", "--base-url"),
    ) -> None:
        _check_address(url, given)
        self._lost: list[str] = []
        try:
            with hidden_errors(key):
                super().__init__(model, url, key, patience)
        except NotOfferedError as error:
            raise NotOfferedError(plain(str(error).removesuffix(" of params.yaml"))) from None

    def body(self, question: AudioQuestion) -> Json:
        """The request without the recording."""
        return chat_body(self.name, _request(question))

    def answer(self, questions: Sequence[AudioQuestion], keep: Callable[[int, ChatAnswer, int], None]) -> None:
        """Answer all, `patience.in_flight` at a time; `keep` gets place, answer and milliseconds of each.

        Raises:
            LlmError: the server stays away (questions about `LOST_AFTER` recordings failed in a row), asks for a long
                pause or refuses the key; what was kept stays.
            InputError: a recording is missing or is another one.
        """

        async def all_of_them(client: httpx.AsyncClient) -> None:
            waiting = iter(enumerate(questions))
            with progress(total=len(questions), desc=self.name, unit="question") as bar:

                async def work() -> None:
                    # each worker reads a recording when its turn comes, so that few are in memory at once
                    for place, question in waiting:
                        begin = time.monotonic()
                        answer = hidden_answer(await self._hear(client, question), self._key)
                        keep(place, answer, round(1000 * (time.monotonic() - begin)))
                        bar.update()

                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self._patience.in_flight, len(questions))):
                        group.create_task(work())

        self._lost.clear()
        with hidden_errors(self._key):
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
        try:
            status, value = await self._send(client, "POST", "chat/completions", body)
        except GivenUpError as error:
            return self._given_up(question, str(error))
        self._lost.clear()
        if status in REQUEST_AT_FAULT:
            return failed(f"status {status}: {self._reason(value)}")
        if status != 200:
            raise self._refused(status, value, f"the model {self.name!r}")
        return heard_answer(value, request)

    def _given_up(self, question: AudioQuestion, error: str) -> ChatAnswer:
        """The failed answer; questions about one recording may fail together, those about several are the server's."""
        self._lost.append(question.audio_sha256)
        if len(set(self._lost)) >= LOST_AFTER:
            raise LlmError(
                f"{error}. The last {len(self._lost)} questions, about {LOST_AFTER} recordings, got no answer: the "
                "server seems to be gone. Answers so far are kept; run the same command again when it is back"
            )
        return failed(error)

    async def _send(
        self, client: httpx.AsyncClient, method: str, path: str, body: dict[str, Any] | None
    ) -> tuple[int, Any]:
        try:
            return await super()._send(client, method, path, body)
        except LlmError as error:
            message = str(error)
            if message.endswith(_GIVEN_UP):
                raise GivenUpError(plain(message.removesuffix(_GIVEN_UP))) from None
            raise LlmError(plain(message)) from None

    async def _try(
        self, client: httpx.AsyncClient, method: str, path: str, body: dict[str, Any] | None
    ) -> tuple[int, Any]:
        try:
            return await super()._try(client, method, path, body)
        except RecursionError:
            # JSON of nothing but brackets is no answer, and none the next time either
            return 200, None

    def _reason(self, body: Any) -> str:
        return plain(super()._reason(body))

    def _refused(self, status: int, body: Any, asked: str) -> LlmError:
        error = str(super()._refused(status, body, asked))
        return LlmError(error.replace("the address in CARES_LLM_URL", "the address"))


def _check_address(url: str, given: tuple[str, str]) -> None:
    file, field = given
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        known = False
    if not known:
        shown = "an address with a password" if "@" in url else url
        raise InputError(file, field, shown, "an address such as http://127.0.0.1:8000/v1")
    if parts.username or parts.password:
        raise InputError(file, field, "an address with a password", "the key in CARES_LLM_KEY")


def _request(question: AudioQuestion) -> ChatRequest:
    return ChatRequest(
        messages=(ChatMessage(role="user", content=question.prompt),),
        seed=question.seed,
        max_tokens=question.max_tokens,
        temperature=0.0,
        top_p=1.0,
        choices=question.choices or None,
    )
