"""The section `models` of params.yaml: which registered models the pipeline uses."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from cares.core.errors import InputError
from cares.core.record import Record
from cares.models.registry import registered
from cares.models.schema import Kind, ModelId


class ModelsParams(Record):
    """Models by role.

    Attributes:
        writer: writes topics and dialogues, and answers for the text-only systems.
        encoder: sentence encoder of the evaluators.
        tts: engines that speak, each with its voices.
        asr: hears and aligns.
    """

    writer: Annotated[str, Field(min_length=1)]
    encoder: ModelId
    tts: Annotated[tuple[ModelId, ...], Field(min_length=1)]
    asr: ModelId

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.tts)) != len(self.tts):
            raise ValueError("a model occurs twice in tts")
        return self

    def ids(self) -> tuple[str, ...]:
        """All models, each once, in the order of the roles."""
        return self.writer, self.encoder, *self.tts, self.asr

    def check(self, file: object, writer_is_served: bool) -> None:
        """InputError unless every model is registered and of the kind that its role needs.

        A writer that a server offers (CARES_LLM_URL) need not be registered.
        """
        roles: list[tuple[str, str, Kind]] = [
            *(() if writer_is_served else (("writer", self.writer, "llm"),)),
            ("encoder", self.encoder, "encoder"),
            *((f"tts.{place}", model_id, "tts") for place, model_id in enumerate(self.tts)),
            ("asr", self.asr, "asr"),
        ]
        for role, model_id, kind in roles:
            found = registered(model_id).kind
            if found != kind:
                raise InputError(file, f"models.{role}", model_id, f"a model of kind {kind}, this is of kind {found}")
