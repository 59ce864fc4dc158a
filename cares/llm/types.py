"""What a language model is asked and what it answers, whichever way it is reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import Field, model_validator

from cares.core.errors import CaresError
from cares.core.record import Record


class LlmError(CaresError):
    """The language model failed as a whole: it cannot be started or reached, or it stopped in mid-wave."""


class ChatMessage(Record):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class ChatRequest(Record):
    """One request of a wave.

    `min_p` leaves out tokens less likely than this share of the likeliest; unlike `top_p` it needs no sorting of the
    vocabulary, which on two cores took a sixth of the time. The penalties lower the logit of a token that the answer
    already holds: once, and by how often it does (OpenAI's chat API). `json_schema` binds the answer to a JSON schema,
    `choices` to one of the given texts; at most one of them is set.
    """

    messages: Annotated[tuple[ChatMessage, ...], Field(min_length=1)]
    seed: Annotated[int, Field(ge=0, lt=1 << 31)]
    max_tokens: Annotated[int, Field(ge=1)]
    temperature: Annotated[float, Field(ge=0, le=2)]
    top_p: Annotated[float, Field(gt=0, le=1)]
    min_p: Annotated[float, Field(ge=0, lt=1)] = 0.0
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    json_schema: dict[str, Any] | None = None
    choices: Annotated[tuple[str, ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.json_schema is not None and self.choices is not None:
            raise ValueError("json_schema and choices exclude each other")
        return self


class ChatAnswer(Record):
    """What came back. A request that failed alone has the finish reason "error", no text, and the reason in `error`."""

    text: str
    finish_reason: Literal["stop", "length", "error"]
    prompt_tokens: Annotated[int, Field(ge=0)]
    completion_tokens: Annotated[int, Field(ge=0)]
    error: str = ""


class LanguageModel(Protocol):
    """A model that is ready to answer.

    Attributes:
        name: the model's id, or the name under which a server offers it.
        digest: what an item's key says of the model and of how it is run; no URL.
        promised: whether the same waves give the same answers again (same versions, same kind of processor).
    """

    name: str
    digest: str
    promised: bool

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        """Answer all requests of a wave, in their order.

        Raises:
            LlmError: the model failed as a whole. A request that fails alone is an answer with an error.
        """
        ...

    def close(self) -> None:
        """Give back memory or connections; a closed model answers no more."""
        ...


def failed(error: str, prompt_tokens: int = 0) -> ChatAnswer:
    """The answer of a request that failed alone."""
    return ChatAnswer(text="", finish_reason="error", prompt_tokens=prompt_tokens, completion_tokens=0, error=error)
