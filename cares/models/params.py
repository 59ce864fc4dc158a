"""The section `models` of params.yaml: which registered models the pipeline uses."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from cares.core.errors import InputError
from cares.core.record import Record
from cares.models.registry import registered
from cares.models.schema import Family, Kind, ModelId


class ModelsParams(Record):
    """Models by role.

    Attributes:
        topics: writes topics; null when the writer does.
        writer: writes dialogues, and answers for the text-only systems.
        writer_family: family of the writer; needed when the registry does not know it, as with a served model.
        judge: language model of the evaluators `llm` and `both`; null when there is none.
        judge_family: family of the judge, as with the writer.
        encoder: sentence encoder of the evaluators.
        tts: engines that speak, each with its voices.
        asr: hears and aligns.
        speaker: tells voices apart.
    """

    topics: Annotated[str, Field(min_length=1)] | None = None
    writer: Annotated[str, Field(min_length=1)]
    writer_family: Family | None = None
    judge: Annotated[str, Field(min_length=1)] | None = None
    judge_family: Family | None = None
    encoder: ModelId
    tts: Annotated[tuple[ModelId, ...], Field(min_length=1)]
    asr: ModelId
    speaker: ModelId

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.tts)) != len(self.tts):
            raise ValueError("a model occurs twice in tts")
        if self.judge is None and self.judge_family is not None:
            raise ValueError("judge_family needs a judge")
        return self

    @property
    def topic_writer(self) -> str:
        """Who writes topics."""
        return self.topics or self.writer

    @property
    def language_models(self) -> tuple[str, ...]:
        """Who writes topics and dialogues and who judges, each once: what a server may offer."""
        return tuple(dict.fromkeys(name for name in (self.topic_writer, self.writer, self.judge) if name is not None))

    def ids(self) -> tuple[str, ...]:
        """All models, each once, in the order of the roles."""
        return *self.language_models, self.encoder, *self.tts, self.asr, self.speaker

    def check(self, file: object, writer_is_served: bool) -> None:
        """InputError unless every model is registered and of the kind that its role needs.

        Language models that a server offers (CARES_LLM_URL) need not be registered.
        """
        asked: list[tuple[str, str, Kind]] = [("writer", self.writer, "llm")]
        if self.topics is not None:
            asked.append(("topics", self.topics, "llm"))
        if self.judge is not None:
            asked.append(("judge", self.judge, "llm"))
        roles: list[tuple[str, str, Kind]] = [
            *(() if writer_is_served else asked),
            ("encoder", self.encoder, "encoder"),
            *((f"tts.{place}", model_id, "tts") for place, model_id in enumerate(self.tts)),
            ("asr", self.asr, "asr"),
            ("speaker", self.speaker, "speaker"),
        ]
        for role, model_id, kind in roles:
            model = registered(model_id)
            if model.kind != kind:
                expected = f"a model of kind {kind}, this is of kind {model.kind}"
                raise InputError(file, f"models.{role}", model_id, expected)
            if model.served:
                hint = f"Serve {model.repository} at {model.revision} (docs/full-scale.md)"
                if kind == "tts":
                    hint = "Its voices need no entry here: name them in speech.voices and the server in CARES_TTS_URL"
                    raise InputError(file, f"models.{role}", model_id, "a model whose weights are here", hint)
                raise InputError(file, f"models.{role}", model_id, "the server that offers it in CARES_LLM_URL", hint)
