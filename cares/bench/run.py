"""One system over all items, from the files of the earlier stages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cares.bench.ask import ask
from cares.bench.params import BenchParams, System
from cares.bench.systems import cascade_questions, load_prompt, majority_answers, oracle_questions, read_answers
from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.record import read_records
from cares.llm.params import LlmParams
from cares.llm.waves import StoredWaves, promised
from cares.records.answer import Answer
from cares.records.item import Item
from cares.records.timeline import MixedScene
from cares.records.transcript import Transcript

PROMPT = Path("prompts/bench_reactions.jinja")


def answer_items(
    system: System, items: Sequence[Item], params: BenchParams, model_id: str, llm: LlmParams, seed: int, root: Path
) -> tuple[list[Answer], Json]:
    """The answers of one system, row by row, and what to know of it beside its scores.

    Args:
        system: which.
        items: the frozen questions.
        params: the section `bench`.
        model_id: the language model that reads the transcripts.
        llm: the section `llm`.
        seed: the data set's seed.
        root: the repository.

    Raises:
        InputError: a file is missing or belongs to another build, or a wave is larger than the model takes.
        LlmError: the language model failed as a whole; waves that were answered are kept.
    """
    if system == "majority":
        answers = majority_answers(items)
        return answers, {"label": answers[0].choice if answers else None}
    if params.wave_size > llm.wave_limit:
        raise InputError(
            "params.yaml", "bench.wave_size", params.wave_size, f"at most llm.wave_limit, {llm.wave_limit}"
        )
    scenes = {scene.scene_id: scene for scene in read_records(MixedScene, root / "data/scenes/scenes.jsonl")}
    template = load_prompt(root / PROMPT)
    about: dict[str, Json] = {"language_model": model_id, "same_again_promised": promised()}
    if system == "oracle":
        questions = oracle_questions(items, scenes, template, params.context_s)
    else:
        heard = read_records(Transcript, root / "data/bench/transcripts.jsonl")
        about["recogniser"] = ", ".join(sorted({transcript.recogniser for transcript in heard}))
        by_scene = {transcript.scene_id: transcript for transcript in heard}
        questions = cascade_questions(items, scenes, by_scene, template, params.context_s)
    with StoredWaves(model_id, llm) as model:
        raw = ask(questions, model, params, seed)
    about["prompt_tokens"] = sum(answer.prompt_tokens for answer in raw)
    about["completion_tokens"] = sum(answer.completion_tokens for answer in raw)
    return read_answers(system, items, raw), about
