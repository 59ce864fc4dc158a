"""Freesound's API (version 2): search, a sound's data, previews.

The originals want a person's consent (OAuth2); the previews, OGG Vorbis of about 192 kbit/s, want only a key, so the
previews are used. The key goes into a header of requests to the API and nowhere else. What is sent again: connection
errors, time-outs, 408, 425, 429 and 5xx, with growing pauses (or those of Retry-After), a bounded number of times.
Documentation: https://freesound.org/docs/api/resources_apiv2.html
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from cares.core.errors import CaresError, InputError
from cares.core.keys import LEAST, hide

KEY, URL = "CARES_FREESOUND_KEY", "CARES_FREESOUND_URL"
DEFAULT_URL = "https://freesound.org/apiv2/"
PREVIEW: Literal["preview-hq-ogg"] = "preview-hq-ogg"
FIELDS = "id,name,username,license,url,duration,previews"
_TRY_AGAIN = frozenset({408, 425, 429})
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LARGEST_BYTES = 64 << 20
_PAGE = 50


class Patience(NamedTuple):
    """How long the service is waited for: attempts for a request, first and longest pause, time for an answer."""

    attempts: int = 6
    first_pause_s: float = 1.0
    longest_pause_s: float = 120.0
    answer_s: float = 60.0


PATIENCE = Patience()


class FreesoundError(CaresError):
    """The service stayed away, refused a request, or answered something else than its documentation says."""


class UnavailableError(FreesoundError):
    """The service works, and this one thing cannot be had of it; `reason` says in a few words why."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class _PassingError(Exception):
    """A failure that may pass; `pause_s` is what the service asked for."""

    def __init__(self, message: str, pause_s: float | None = None) -> None:
        super().__init__(message)
        self.pause_s = pause_s


class Freesound:
    """A connection to the service; use it in a `with` statement.

    Args:
        key: the API key.
        url: where the API is.
        patience: limits of waiting and repeating.

    Raises:
        InputError: there is no key, or the address is no http address.
    """

    def __init__(self, key: str, url: str = DEFAULT_URL, patience: Patience = PATIENCE) -> None:
        try:
            parts = urlsplit(url)
        except ValueError:
            raise InputError("environment", URL, "an address that cannot be read", f"such as {DEFAULT_URL}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise InputError("environment", URL, parts.geturl().split("@")[-1], f"an address such as {DEFAULT_URL}")
        if not key.strip() or not key.isascii() or not key.isprintable():
            hint = "Ask for one at https://freesound.org/apiv2/apply."
            raise InputError("environment", KEY, "(no usable key)", "the key of an account at Freesound", hint)
        self._key, self._patience, self._scheme = key.strip(), patience, parts.scheme
        self._base = url.rstrip("/") + "/"
        local = parts.hostname in _LOOPBACK
        self._client = httpx.Client(timeout=httpx.Timeout(patience.answer_s, connect=10.0), trust_env=not local)

    @classmethod
    def from_environment(cls) -> Self:
        """With the key of CARES_FREESOUND_KEY, at CARES_FREESOUND_URL or the service itself."""
        return cls(os.environ.get(KEY, ""), os.environ.get(URL) or DEFAULT_URL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._client.close()

    def search(self, query: str, condition: str) -> Iterator[Mapping[str, Any]]:
        """All sounds that match, best first, page after page; each with the keys of `FIELDS`, and only once.

        Args:
            query: terms; one with a minus sign must not occur.
            condition: a filter, such as "duration:[0.5 TO 3]".
        """
        page, seen = 1, set[Any]()
        while True:
            given = {"query": query, "filter": condition, "fields": FIELDS, "page": page, "page_size": _PAGE}
            answer = self._json("search/", given)
            results = answer.get("results")
            if not isinstance(results, list):
                raise FreesoundError(f"{self._base}search/: an answer without results")
            for result in results:
                if isinstance(result, dict) and result.get("id") not in seen:
                    seen.add(result.get("id"))
                    yield result
            if not answer.get("next") or not results:
                return
            page += 1

    def sound(self, sound_id: int) -> Mapping[str, Any]:
        """A sound's data, with the keys of `FIELDS`; FreesoundError when there is none of this id."""
        return self._json(f"sounds/{sound_id}/", {"fields": FIELDS})

    def preview(self, sound: Mapping[str, Any]) -> bytes:
        """The bytes of a sound's preview; UnavailableError when it has none, or none that is taken."""
        previews = sound.get("previews")
        address = previews.get(PREVIEW) if isinstance(previews, dict) else None
        parts = urlsplit(address) if isinstance(address, str) else None
        # an answer must not lead from https to http
        if parts is None or parts.scheme not in ("https", self._scheme) or not parts.hostname:
            message = f"sound {sound.get('id')}: no address of {PREVIEW}, but {address!r}"
            raise UnavailableError(message, "without address of a preview")
        content = self._send(str(address), {}, {}).content
        if len(content) > _LARGEST_BYTES:
            raise UnavailableError(f"{address}: {len(content)} bytes, more than {_LARGEST_BYTES}", "too large")
        return content

    def _json(self, path: str, given: dict[str, Any]) -> Mapping[str, Any]:
        response = self._send(self._base + path, given, {"Authorization": f"Token {self._key}"})
        if len(self._key) >= LEAST and self._key in response.text:
            # what is pinned is written down as it came
            raise FreesoundError(f"{self._base}{path}: an answer that repeats the key in {KEY}; it is not used")
        try:
            value = response.json()
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise FreesoundError(f"{self._base}{path}: an answer that is no JSON object")
        return value

    def _send(self, address: str, given: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
        retrying = Retrying(
            stop=stop_after_attempt(self._patience.attempts),
            wait=self._pause,
            retry=retry_if_exception_type(_PassingError),
            reraise=True,
        )
        try:
            return retrying(self._try, address, given, headers)
        except _PassingError as error:
            message = f"{address}: {error} ({self._patience.attempts} attempts)"
            raise FreesoundError(f"{message}. What was fetched is kept; run again later") from None

    def _try(self, address: str, given: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
        try:
            response = self._client.get(address, params=given or None, headers=headers)
        except httpx.HTTPError as error:
            raise _PassingError(self._hidden(str(error)) or type(error).__name__) from None
        status = response.status_code
        if status in _TRY_AGAIN or status >= 500:
            raise _PassingError(f"status {status}", _retry_after(response.headers.get("Retry-After")))
        if status == 401:
            raise FreesoundError(f"{address}: the key in {KEY} is not accepted")
        if status == 404:
            raise UnavailableError(f"{address}: no longer there", "no longer there")
        if status != 200:
            message = f"{address}: status {status}: {self._hidden(response.text[:200])}"
            raise UnavailableError(message, f"refused with status {status}")
        return response

    def _hidden(self, text: str) -> str:
        return hide(text, self._key)

    def _pause(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.pause_s if isinstance(error, _PassingError) else None
        growing = self._patience.first_pause_s * 2.0 ** (state.attempt_number - 1)
        return min(growing if asked is None else asked, self._patience.longest_pause_s)


def _retry_after(value: str | None) -> float | None:
    """Seconds of a Retry-After header (RFC 9110, 10.2.3); its date form is taken as absent."""
    return float(value) if value and value.strip().isdigit() else None
