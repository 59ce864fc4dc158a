"""Speech from a server with OpenAI's interface: POST /v1/audio/speech, as vLLM-Omni, OpenAI and others offer it.

What is asked again: connection errors, time-outs, an answer that is no sound, 408, 409, 425, 429 and 5xx, with growing
pauses (or those of Retry-After), a bounded number of times. What is not: a refused key, an unknown model or voice, and
a request that the server calls wrong. The key goes into the header and nowhere else. The samples are not promised to be
the same again; the item store keeps what came.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
import numpy as np
import soundfile
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from cares.core.errors import CaresError, InputError
from cares.core.keys import hide
from cares.speech.engines import EngineError, Speech

URL, KEY = "CARES_TTS_URL", "CARES_TTS_KEY"
TRY_AGAIN = frozenset({408, 409, 425, 429})
REQUEST_AT_FAULT = frozenset({400, 413, 422})
UNKNOWN_LENGTH = 2**31 - 1
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# words in a server's refusal that tell that the text itself was too much for it
TEXT_AT_FAULT = ("too long", "maximum length", "max_length", "context length", "empty")
Field = str | int | float | bool


class Patience(NamedTuple):
    """How long a server is waited for.

    Attributes:
        attempts: most attempts for one text.
        first_pause_s, longest_pause_s: pauses between attempts double from the first to the longest.
        longest_asked_s: longest pause that the server may ask for (Retry-After); a longer one is an error.
        connect_s, answer_s: time to connect, and between two pieces of an answer.
    """

    attempts: int = 6
    first_pause_s: float = 1.0
    longest_pause_s: float = 60.0
    longest_asked_s: float = 600.0
    connect_s: float = 10.0
    answer_s: float = 600.0


PATIENCE = Patience()


class _PassingError(Exception):
    """A failure that may pass; `pause_s` is what the server asked for."""

    def __init__(self, message: str, pause_s: float | None = None) -> None:
        super().__init__(message)
        self.pause_s = pause_s


def server_address(url: str, model: str) -> str:
    """The address in CARES_TTS_URL, else `url` of the voice table; InputError when there is neither or it is wrong."""
    given = os.environ.get(URL, "") or url
    if not given:
        hint = "Start a server that offers it, such as vLLM-Omni, and set the variable (docs/speech.md)"
        raise InputError("environment", URL, "", f"the address of the server that offers {model}", hint)
    where = "environment" if os.environ.get(URL) else "voices.yaml"
    example = "an address such as http://127.0.0.1:8091"
    try:
        parts = urlsplit(given)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a bracket without its other half, or a port beyond 65535
        raise InputError(where, URL, "an address that cannot be read", example) from None
    if not fits or parts.query or parts.fragment:
        raise InputError(where, URL, f"{parts.scheme}://{parts.hostname}", f"{example}, without a query")
    if parts.username or parts.password:
        raise InputError(where, URL, "an address with a password", f"the key in {KEY}")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}/v1/"


def server_key() -> str | None:
    """The key in CARES_TTS_KEY, or None; InputError when it cannot stand in a header."""
    key = os.environ.get(KEY)
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise InputError("environment", KEY, "a key that is not shown", "no blanks, no line breaks")
    return key or None


def _is_cut_off(content: bytes) -> bool:
    """Whether a RIFF file ends before the length in its header; a server that streams writes 0 or the largest one."""
    declared = int.from_bytes(content[4:8], "little")
    return content[:4] == b"RIFF" and declared < UNKNOWN_LENGTH and declared + 8 > len(content)


class OpenAIEngine:
    """Voices of a model that a server offers.

    Args:
        model: the name under which the server offers the model.
        base: the server's address with the final /v1/ (`server_address`).
        key: sent as a bearer token if given.
        request: further fields of every request, such as {"language": "English"}; `seed: true` sends each utterance's
            own seed, which not every server takes.
        patience: limits of waiting and repeating.
    """

    def __init__(
        self,
        model: str,
        base: str,
        key: str | None = None,
        request: Mapping[str, Field] | None = None,
        patience: Patience = PATIENCE,
    ) -> None:
        self._model, self._key, self._patience = model, key, patience
        self._request = dict(request or {})
        self._at = base.removesuffix("/v1/")
        self._client = httpx.Client(
            base_url=base,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(patience.answer_s, connect=patience.connect_s),
            trust_env=urlsplit(base).hostname not in LOOPBACK,
        )

    def speak(self, text: str, voice: str, speed: float, seed: int) -> Speech:
        """See `Engine.speak`; the pace and the seed are the server's to keep.

        Raises:
            EngineError: the server finds the text too long or empty, or sends a sound without samples.
            InputError: the server does not know the voice.
            CaresError: the server stays away, refuses the key, or calls the request wrong.
        """
        body: dict[str, Field] = {**self._request, "model": self._model, "input": text, "voice": voice}
        body |= {"response_format": "wav", "speed": speed}
        if self._request.get("seed") is True:
            body["seed"] = seed
        retrying = Retrying(
            stop=stop_after_attempt(self._patience.attempts),
            wait=self._pause,
            retry=retry_if_exception_type(_PassingError),
            reraise=True,
        )
        try:
            speech: Speech = retrying(self._once, body)
        except _PassingError as error:
            said = hide(str(error), self._key)
            message = f"{self._at}: {said} ({retrying.statistics['attempt_number']} attempts)"
            raise CaresError(f"{message}. What was spoken is kept; run again when the server is back") from None
        if not len(speech.samples):
            raise EngineError(f"{self._at}: {text!r} gives a sound without samples")
        return speech

    def _once(self, body: dict[str, Field]) -> Speech:
        try:
            response = self._client.post("audio/speech", json=body)
        except httpx.HTTPError as error:
            raise _PassingError(str(error) or type(error).__name__) from error
        status = response.status_code
        if status in TRY_AGAIN or status >= 500:
            raise self._passing(response)
        if status != 200:
            raise self._refused(response, str(body["voice"]))
        if _is_cut_off(response.content):
            raise _PassingError(f"half a sound file ({len(response.content)} bytes)")
        try:
            samples, rate = soundfile.read(io.BytesIO(response.content), dtype="float32", always_2d=True)
        except soundfile.SoundFileError:
            kind = response.headers.get("Content-Type", "no type")
            raise _PassingError(f"an answer that is no sound file ({kind}, {len(response.content)} bytes)") from None
        return Speech(np.asarray(samples.mean(axis=1), np.float32), int(rate))

    def _passing(self, response: httpx.Response) -> Exception:
        message = f"status {response.status_code}: {self._reason(response)}"
        asked = response.headers.get("Retry-After", "").strip()
        pause_s = float(asked) if asked.isdigit() else None
        if pause_s is not None and pause_s > self._patience.longest_asked_s:
            return CaresError(f"{self._at}: {message}. It asks to come back after {pause_s:g} s; run again then")
        return _PassingError(message, pause_s)

    def _refused(self, response: httpx.Response, voice: str) -> CaresError:
        status, reason = response.status_code, self._reason(response)
        if status in REQUEST_AT_FAULT:
            if status == 413 or any(words in reason.lower() for words in TEXT_AT_FAULT):
                return EngineError(f"{self._at}: status {status}: {reason}")
            if "voice" in reason.lower() or "speaker" in reason.lower():
                return InputError(self._at, "voice", voice, f"a voice of {self._model}; the server says: {reason}")
        hint = ""
        if status in (401, 403):
            hint = f". It refuses the key in {KEY}" if self._key else f". It wants a key: set {KEY}"
        elif status == 404:
            hint = f". Has it /v1/audio/speech, and does it offer the model {self._model!r}?"
        return CaresError(f"{self._at}: status {status} for {self._model!r}: {reason}{hint}")

    def _reason(self, response: httpx.Response) -> str:
        """The server's own words, shortened; OpenAI's form {"error": {"message": ...}} or anything else."""
        try:
            body = response.json()
        except ValueError:
            body = response.text.strip()
        if isinstance(body, dict) and isinstance(error := body.get("error", body), dict):
            body = error.get("message", error)
        text = hide(str(body) or "no reason given", self._key)
        return text if len(text) <= 300 else text[:297] + "..."

    def _pause(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, _PassingError) and error.pause_s is not None:
            return error.pause_s
        return float(
            min(self._patience.first_pause_s * 2 ** (state.attempt_number - 1), self._patience.longest_pause_s)
        )
