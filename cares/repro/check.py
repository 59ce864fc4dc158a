"""params.yaml and the catalog as a whole, before anything runs: a stage checks only what it reads."""

from __future__ import annotations

import os
from pathlib import Path

from cares.allocation.params import AllocationParams
from cares.audit.params import AuditParams
from cares.bench.items_params import ItemsParams
from cares.bench.params import BenchParams
from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.core.params import SECTIONS, Params
from cares.core.record import Record
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.families import families
from cares.dialogue.params import DialoguesParams, TopicsParams
from cares.llm.params import LlmParams
from cares.mix.params import MixParams, TimelineParams
from cares.models.params import ModelsParams
from cares.models.registry import registered
from cares.report.params import ReportParams
from cares.sounds.params import SoundsParams
from cares.sounds.room_params import RoomsParams
from cares.speech.break_params import BreakParams
from cares.speech.engines.openai import server_address
from cares.speech.params import AlignParams, SpeechParams
from cares.speech.voices import load_voices

SCHEMAS: dict[str, type[Record]] = {
    "models": ModelsParams,
    "llm": LlmParams,
    "allocation": AllocationParams,
    "sounds": SoundsParams,
    "rooms": RoomsParams,
    "calibration": CalibrationParams,
    "topics": TopicsParams,
    "dialogues": DialoguesParams,
    "speech": SpeechParams,
    "align": AlignParams,
    "timeline": TimelineParams,
    "mix": MixParams,
    "breaks": BreakParams,
    "audit": AuditParams,
    "items": ItemsParams,
    "bench": BenchParams,
    "report": ReportParams,
}


def check_inputs(root: Path) -> int:
    """Read every section of params.yaml and the catalog; the number of sections.

    Raises:
        InputError: the first fault, with file, field and value; also when a model is not registered or needs a server
            and there is none, when writer and evaluator are of one model family, when voices are too few, and when a
            recogniser is not in the form that reads it.
    """
    params = Params(root / "params.yaml")
    check_sections(params)
    calibration = params.section("calibration", CalibrationParams)
    models = params.section("models", ModelsParams)
    models.check(params.path, writer_is_served=bool(os.environ.get("CARES_LLM_URL")))
    families(models, calibration.evaluator, calibration.allow_same_family, params.path)
    _check_waves(params)
    _check_voices(params)
    _check_recognisers(params)
    load_catalog()
    return len(SCHEMAS)


def check_sections(params: Params) -> None:
    """Hold every section against its schema, by itself.

    Raises:
        InputError: the first key that no schema has or value that is out of range.
    """
    assert params.seed >= 0
    for name in SECTIONS:
        if name != "seed":
            params.section(name, SCHEMAS[name])


def _check_voices(params: Params) -> None:
    """The voices that are asked for are enough, their models are registered, and a server that speaks is named."""
    section = params.section("speech", SpeechParams)
    for voice in load_voices(section.voices, held_out=section.held_out_voices).values():
        if voice.served:
            server_address(voice.url, voice.model)
        else:
            registered(voice.model)


def _check_recognisers(params: Params) -> None:
    """Who hears, aligns and tells voices apart is of the right kind; who hears and aligns in the right form."""
    speech, align = params.section("speech", SpeechParams), params.section("align", AlignParams)
    for field, model_id, kind, by_ctranslate2 in (
        ("models.asr", params.section("models", ModelsParams).asr, "asr", False),
        ("speech.recogniser", speech.recogniser, "asr", False),
        ("speech.speaker_encoder", speech.speaker_encoder, "speaker", False),
        ("align.recogniser", align.recogniser, "asr", align.backend == "faster-whisper"),
    ):
        model = registered(model_id)
        if model.kind != kind:
            raise InputError(params.path, field, model_id, f"a model of kind {kind}, this is of kind {model.kind}")
        is_of_ctranslate2 = model.convert == "none" and any(file.name == "model.bin" for file in model.files)
        if is_of_ctranslate2 != by_ctranslate2:
            form = "in CTranslate2's form, such as whisper-base-ct2" if by_ctranslate2 else "such as whisper-base"
            hint = "Only align.backend faster-whisper reads CTranslate2's form."
            raise InputError(params.path, field, model_id, f"a model {form}", hint)


def _check_waves(params: Params) -> None:
    """Every wave has to fit the engine, which is found out here and not when it is loaded."""
    limit = params.section("llm", LlmParams).wave_limit
    topics, dialogues = params.section("topics", TopicsParams), params.section("dialogues", DialoguesParams)
    for field, size in (
        ("topics.group_scenes", topics.group_scenes),
        ("dialogues.group_scenes", dialogues.group_scenes),
        ("dialogues.repair_places", dialogues.repair_places),
        ("bench.wave_size", params.section("bench", BenchParams).wave_size),
    ):
        if size > limit:
            raise InputError(params.path, field, size, f"at most llm.wave_limit, which is {limit}")
