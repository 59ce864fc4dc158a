"""One system over all items, from the files of the earlier stages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cares.bench.ask import Question, ask
from cares.bench.params import BenchParams
from cares.bench.run_audio import hear_items, told_timings
from cares.bench.run_journal import Journal
from cares.bench.systems import (
    cascade_questions,
    load_prompt,
    majority_answers,
    oracle_questions,
    random_answers,
    read_answers,
)
from cares.bench.systems_audio import AudioSystem
from cares.bench.systems_repeats import repeated
from cares.catalog.load import load_catalog
from cares.core.canonical import Json
from cares.core.errors import CaresError, InputError
from cares.core.paths import store_root
from cares.core.record import iter_records
from cares.core.record_file import RecordFile
from cares.llm.params import LlmParams
from cares.llm.waves import StoredWaves, promised
from cares.records.answer import Answer
from cares.records.item import Item
from cares.records.timeline import MixedScene
from cares.records.transcript import Transcript

PROMPT = Path("prompts/bench_text.jinja")
CONSTRAINED = "-constrained"


def answer_items(
    system: str, items: Sequence[Item], params: BenchParams, model_id: str, llm: LlmParams, seed: int, root: Path
) -> tuple[list[Answer], Json]:
    """The answers of one system, and what to know of it beside its scores.

    Models are asked the items of `params.tasks`; `majority` and `random` answer all but summaries. Answers come in the
    order of the items, then those of the repeated subset.

    Args:
        system: which; see `BenchParams`.
        items: the frozen questions.
        params: the section `bench`.
        model_id: the language model that reads the transcripts.
        llm: the section `llm`.
        seed: the data set's seed.
        root: the repository.

    Raises:
        InputError: a file is missing or belongs to another build, or a wave is larger than the model takes.
        CaresError: the model failed as a whole; what was answered is kept.
    """
    base, constrained = system.removesuffix(CONSTRAINED), system.endswith(CONSTRAINED)
    if base == "majority":
        return majority_answers(items), {"model": "constant"}
    if base == "random":
        return random_answers(items, seed), {"model": "keyed draws"}
    items = [item for item in items if params.asks(item)]
    if base in ("openai", "transformers"):
        return _hear(system, base, items, params, constrained, seed, root)
    if params.wave_size > llm.wave_limit:
        raise InputError(
            "params.yaml", "bench.wave_size", params.wave_size, f"at most llm.wave_limit, {llm.wave_limit}"
        )
    scenes = RecordFile(MixedScene, root / "data/scenes/scenes.jsonl")
    template = load_prompt(root / PROMPT)
    about: dict[str, Json] = {"model": model_id, "same_again_promised": promised()}
    if base == "cascade":
        path = root / "data/bench/transcripts.jsonl"
        about["recogniser"] = ", ".join(sorted({heard.recogniser for heard in iter_records(Transcript, path)}))
        questions = cascade_questions(items, scenes, RecordFile(Transcript, path), template, params.context_s)
    else:
        names = {sound.id: sound.display for sound in load_catalog().sounds.values()}
        marked = base == "oracle"
        questions = oracle_questions(items, scenes, names, template, params.context_s, marked)
    questions = [question._replace(constrained=constrained) for question in questions]
    again = _again(questions, params, seed)
    with StoredWaves(model_id, llm) as model:
        raw = ask(questions, model, params, seed) + ask(again, model, params, seed)
    about["prompt_tokens"] = sum(answer.prompt_tokens for answer in raw)
    about["completion_tokens"] = sum(answer.completion_tokens for answer in raw)
    return read_answers(system, [*questions, *again], raw), about


def _again(questions: Sequence[Question], params: BenchParams, seed: int) -> list[Question]:
    """The repeated subset, in waves of its own: its questions have other company than the first time."""
    chosen = {item.item_id for item in repeated([question.item for question in questions], params.repeats, seed)}
    return [question._replace(repeat=1) for question in questions if question.item.item_id in chosen]


def _hear(
    system: str, base: str, items: Sequence[Item], params: BenchParams, constrained: bool, seed: int, root: Path
) -> tuple[list[Answer], Json]:
    model = _audio_system(base, params)
    try:
        with Journal(store_root() / "bench" / f"{system}.jsonl") as journal:
            heard = hear_items(
                model, system, items, root, journal, seed, params.max_tokens, constrained, params.repeats
            )
    finally:
        model.close()
    print(f"bench {system}: {heard.asked} questions asked now, {told_timings(heard.timings)}")
    about: dict[str, Json] = {"model": model.name, "same_again_promised": False}
    about["prompt_tokens"] = sum(answer.prompt_tokens for answer in heard.answers)
    about["completion_tokens"] = sum(answer.completion_tokens for answer in heard.answers)
    return heard.answers, about


def _audio_system(base: str, params: BenchParams) -> AudioSystem:
    if base == "transformers":
        if params.transformers is None:
            raise InputError("params.yaml", "bench.transformers", None, "the model that the system transformers runs")
        from cares.bench.adapters.run import TransformersModel

        return TransformersModel(params.transformers)
    if params.audio_model is None:
        raise InputError("params.yaml", "bench.audio_model", None, "the name of the model that the system openai asks")
    addresses = [address.strip() for address in os.environ.get("CARES_LLM_URL", "").split(",") if address.strip()]
    if not addresses:
        raise CaresError(
            "bench openai: CARES_LLM_URL names no server; set it to the address of one that offers the model"
        )
    from cares.bench.systems_openai import AudioServer
    from cares.llm.server import NotOfferedError

    refusals = []
    for address in addresses:
        try:
            given = ("environment", "CARES_LLM_URL")
            return AudioServer(params.audio_model, address, os.environ.get("CARES_LLM_KEY"), given=given)
        except NotOfferedError as error:
            refusals.append(str(error))
    raise CaresError("; ".join(refusals))
