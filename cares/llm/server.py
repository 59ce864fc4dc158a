"""A language model behind an OpenAI-compatible server: one that is given (CARES_LLM_URL) or that `serve` started.

What is sent again: connection errors, time-outs, a body that breaks off or is not JSON, 408, 409, 425, 429 and 5xx,
with growing pauses (or those of Retry-After), a bounded number of times and for a bounded time. What is not: a refused
key, an unknown model, and a request that the server calls wrong. The key goes into the header and nowhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt, stop_after_delay

from cares.core.canonical import digest
from cares.core.errors import InputError
from cares.core.executor import progress
from cares.llm.types import ChatAnswer, ChatRequest, LlmError, failed
from cares.llm.wire import chat_answer, chat_body
from cares.models.registry import load_registry

TRY_AGAIN = frozenset({408, 409, 425, 429})
REQUEST_AT_FAULT = frozenset({400, 413, 422})
KEY_AT_FAULT = frozenset({401, 403})
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Patience(NamedTuple):
    """How long a server is waited for.

    Attributes:
        attempts: most attempts for one request.
        first_pause_s, longest_pause_s: pauses between attempts double from the first to the longest.
        longest_asked_s: longest pause that the server may ask for (Retry-After); a longer one ends the wave.
        answer_s: time for one whole answer, however its bytes trickle.
        request_s: time after which no further attempt is made.
        in_flight: most requests that are out at once.
    """

    attempts: int = 6
    first_pause_s: float = 1.0
    longest_pause_s: float = 60.0
    longest_asked_s: float = 600.0
    answer_s: float = 900.0
    request_s: float = 1800.0
    in_flight: int = 32


PATIENCE = Patience()
T = TypeVar("T")


class NotOfferedError(LlmError):
    """The server answers, but it does not offer the model."""


class _Passing(Exception):
    """A failure that may pass; `pause_s` is what the server asked for."""

    def __init__(self, message: str, pause_s: float | None = None) -> None:
        super().__init__(message)
        self.pause_s = pause_s


def server_digest(model_id: str) -> str:
    """What an item's key says of a served model: its name, the revision that the registry asks for, not where it is."""
    known = load_registry().get(model_id)
    return digest({"model": model_id, "revision": known.revision if known else "", "way": "server"})


class ServerModel:
    """A model offered by a server; see `cares.llm.types.LanguageModel`.

    Args:
        model_id: the name under which the server offers the model.
        url: the server's address, with or without the final /v1.
        key: sent as a bearer token if given.
        patience: limits of waiting and repeating.

    Raises:
        InputError: the address is not an http address, or the key cannot stand in a header.
        LlmError: the server cannot be reached, or (NotOfferedError) does not offer the model.
    """

    promised = False

    def __init__(self, model_id: str, url: str, key: str | None = None, patience: Patience = PATIENCE) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError("environment", "CARES_LLM_URL", parts.geturl(), "an address such as http://127.0.0.1:8000")
        if parts.username or parts.password:
            raise InputError("environment", "CARES_LLM_URL", "an address with a password", "the key in CARES_LLM_KEY")
        if key and not (key.isascii() and key.isprintable() and " " not in key):
            raise InputError("environment", "CARES_LLM_KEY", "a key that is not shown", "no blanks, no line breaks")
        self.name = model_id
        self.digest = server_digest(model_id)
        self._patience = patience
        self._key = key
        self._at = f"{parts.scheme}://{parts.netloc}"
        self._base = f"{self._at}{parts.path.rstrip('/').removesuffix('/v1')}/v1/"
        self._through_proxy = parts.hostname not in LOOPBACK
        self._closed = False
        self._run(self._check_offered)

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """Answer a wave, its requests in flight together; LlmError when the server stays away or refuses the key."""
        if self._closed:
            raise LlmError(f"{self.name}: the model is closed")

        async def all_of_them(client: httpx.AsyncClient) -> list[ChatAnswer]:
            places = asyncio.Semaphore(self._patience.in_flight)
            with progress(total=len(wave), desc=self.name, unit="request") as bar:

                async def one(request: ChatRequest) -> ChatAnswer:
                    async with places:
                        answer = await self._one(client, request)
                    bar.update()
                    return answer

                return list(await asyncio.gather(*(one(request) for request in wave)))

        return self._run(all_of_them)

    def close(self) -> None:
        """Connections live only as long as a wave; nothing is left to give back."""
        self._closed = True

    def _run(self, work: Callable[[httpx.AsyncClient], Awaitable[T]]) -> T:
        async def with_client() -> T:
            async with httpx.AsyncClient(
                base_url=self._base,
                headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
                timeout=httpx.Timeout(None, connect=10.0),
                limits=httpx.Limits(max_connections=self._patience.in_flight),
                trust_env=self._through_proxy,
            ) as client:
                return await work(client)

        return asyncio.run(with_client())

    async def _check_offered(self, client: httpx.AsyncClient) -> None:
        status, body = await self._send(client, "GET", "models", None)
        if status != 200:
            raise self._refused(status, body, "the list of models")
        entries = body.get("data") if isinstance(body, dict) else None
        offered = [str(entry.get("id")) for entry in entries or [] if isinstance(entry, dict)]
        if self.name not in offered:
            raise NotOfferedError(
                f"{self._at}: offers {', '.join(offered) or 'no model'}, not {self.name!r} of params.yaml"
            )

    async def _one(self, client: httpx.AsyncClient, request: ChatRequest) -> ChatAnswer:
        status, body = await self._send(client, "POST", "chat/completions", chat_body(self.name, request))
        if status in REQUEST_AT_FAULT:
            return failed(f"status {status}: {self._reason(body)}")
        if status != 200:
            raise self._refused(status, body, f"the model {self.name!r}")
        return chat_answer(body, request)

    def _refused(self, status: int, body: Any, asked: str) -> LlmError:
        hint = ""
        if status in KEY_AT_FAULT:
            hint = ". It refuses the key in CARES_LLM_KEY" if self._key else ". It wants a key: set CARES_LLM_KEY"
        elif status == 404:
            hint = (
                ". Is the address in CARES_LLM_URL that of an OpenAI-compatible interface, and the model's name right?"
            )
        return LlmError(f"{self._at}: status {status} for {asked}: {self._reason(body)}{hint}")

    async def _send(
        self, client: httpx.AsyncClient, method: str, path: str, body: dict[str, Any] | None
    ) -> tuple[int, Any]:
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._patience.attempts) | stop_after_delay(self._patience.request_s),
            wait=self._pause,
            retry=retry_if_exception_type(_Passing),
            reraise=True,
        )
        try:
            return await retrying(self._try, client, method, path, body)
        except _Passing as error:
            message = f"{self._at}: {error} ({retrying.statistics['attempt_number']} attempts)"
            raise LlmError(f"{message}. Finished waves are kept; run again when the server is back") from None

    async def _try(
        self, client: httpx.AsyncClient, method: str, path: str, body: dict[str, Any] | None
    ) -> tuple[int, Any]:
        try:
            async with asyncio.timeout(self._patience.answer_s):
                response = await client.request(method, path, json=body)
        except TimeoutError:
            raise _Passing(f"no whole answer within {self._patience.answer_s:g} s") from None
        except httpx.HTTPError as error:
            raise _Passing(str(error) or type(error).__name__) from error
        if response.status_code in TRY_AGAIN or response.status_code >= 500:
            message = f"status {response.status_code}: {self._reason(_json(response))}"
            pause_s = _retry_after(response.headers)
            if pause_s is not None and pause_s > self._patience.longest_asked_s:
                raise LlmError(f"{self._at}: {message}. It asks to come back after {pause_s:g} s; run again then")
            raise _Passing(message, pause_s)
        value = _json(response)
        if response.status_code == 200 and value is None:
            raise _Passing("an answer that is not JSON")
        return response.status_code, value

    def _reason(self, body: Any) -> str:
        """The server's own words, shortened; OpenAI's form {"error": {"message": ...}} or anything else."""
        if isinstance(body, dict) and isinstance(error := body.get("error", body), dict):
            body = error.get("message", error)
        text = "no reason given" if body is None else str(body)
        if self._key:
            text = text.replace(self._key, "(key)")
        return text if len(text) <= 300 else text[:297] + "..."

    def _pause(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, _Passing) and error.pause_s is not None:
            return error.pause_s
        return float(
            min(self._patience.first_pause_s * 2 ** (state.attempt_number - 1), self._patience.longest_pause_s)
        )


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that Retry-After asks for (RFC 9110, 10.2.3); a date is taken against the answer's own Date."""
    value = headers.get("Retry-After", "").strip()
    if value.isdigit():
        return float(value)
    try:
        pause = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("Date", ""))
    except (TypeError, ValueError):
        return None
    return max(0.0, pause.total_seconds())
