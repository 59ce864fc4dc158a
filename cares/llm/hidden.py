"""A served model whose key comes back in no answer and no error, whatever the server says.

`cares.llm.server` takes the key out of the reasons that a server gives for a refusal. A server can repeat it elsewhere:
in an answer's text, in the reason for its end, among the names of its models. This is around all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from cares.core.errors import InputError
from cares.core.keys import hide, hide_secret
from cares.llm.server import PATIENCE, Patience, ServerModel
from cares.llm.types import ChatAnswer, ChatRequest, LlmError


def hidden_answer(answer: ChatAnswer, key: str | None) -> ChatAnswer:
    """The answer, and the error of a failed one, without the key."""
    changed = {"text": hide_secret(answer.text, key), "error": hide(answer.error, key)}
    return answer if (answer.text, answer.error) == tuple(changed.values()) else answer.model_copy(update=changed)


@contextmanager
def hidden_errors(key: str | None) -> Iterator[None]:
    """Raise every LlmError again, of its own kind, without the key."""
    try:
        yield
    except LlmError as error:
        message = hide(str(error), key)
        if message == str(error):
            raise
        raise type(error)(message) from None


def check_address(url: str, variable: str) -> None:
    """InputError for an address that cannot be read; it is not shown, because it may hold a password."""
    example = "an address such as http://127.0.0.1:8000"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise InputError("environment", variable, "an address that cannot be read", example) from None
    if "@" in url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise InputError("environment", variable, "an address with a password", f"{example}, and the key apart")


class HiddenKeyModel:
    """`ServerModel` with all that it says looked through; see there."""

    promised = False

    def __init__(self, model_id: str, url: str, key: str | None, patience: Patience = PATIENCE) -> None:
        check_address(url, "CARES_LLM_URL")
        self._key = key
        with hidden_errors(key):
            self._model = ServerModel(model_id, url, key, patience)
        self.name, self.digest = self._model.name, self._model.digest

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """Answer a wave; see `ServerModel.complete`."""
        with hidden_errors(self._key):
            answers = self._model.complete(wave)
        return [hidden_answer(answer, self._key) for answer in answers]

    def close(self) -> None:
        """Nothing more is asked."""
        self._model.close()
