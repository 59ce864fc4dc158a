"""`cares judge`: an evaluator reads transcripts from a file and says how the speakers react to each sound."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cares.dialogue.judging import Evaluator


class EvaluatorName(StrEnum):
    """Evaluators."""

    CLASSIFIER = "classifier"
    LLM = "llm"
    BOTH = "both"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(judge)


def judge(
    transcripts: Annotated[Path, typer.Argument(metavar="IN.jsonl", help="Transcripts, one JSON object a line.")],
    out: Annotated[Path, typer.Option(help="JSON Lines file to write.")],
    evaluator: Annotated[EvaluatorName, typer.Option(help="Who judges.")] = EvaluatorName.CLASSIFIER,
    model: Annotated[
        str | None, typer.Option(help="Language model of llm and both; by default models.judge of params.yaml.")
    ] = None,
) -> None:
    """Judge transcripts of any origin: how do the speakers react to each sound?

    A line is {"id": "x1", "turns": [{"speaker": "A", "text": "..."}, {"sound": "dog_bark"}, ...]}.
    """
    from cares.core.canonical import write_jsonl
    from cares.core.errors import InputError
    from cares.core.paths import repo_root
    from cares.dialogue.judge_files import answer_line, read_transcripts

    if out.is_dir() or out.resolve() == transcripts.resolve():
        raise InputError("command line", "--out", str(out), "a file other than the one that is read, and no folder")
    if (repo_root() / "data").resolve() in out.resolve().parents:
        raise InputError("command line", "--out", str(out), "a file outside data/, which holds what the pipeline made")
    if model is not None and evaluator == EvaluatorName.CLASSIFIER:
        raise InputError("command line", "--model", model, "no model: the classifier asks none")
    given = read_transcripts(transcripts)
    with closing(_evaluator(evaluator, model, repo_root())) as judging:
        verdicts = judging.judge_many([transcript.pieces for transcript in given])
        name = judging.name
    write_jsonl(out, (answer_line(one, found) for one, found in zip(given, verdicts, strict=True)))
    sounds = sum(len(found) for found in verdicts)
    none = sum(verdict.label is None for found in verdicts for verdict in found)
    print(f"judge: {name} on {sounds} sounds of {len(given)} transcripts, {none} of them without a label, in {out}")


def _evaluator(kind: EvaluatorName, model: str | None, root: Path) -> Evaluator:
    from cares.core.params import Params
    from cares.dialogue.both import BothEvaluator
    from cares.dialogue.calibration_params import CalibrationParams
    from cares.dialogue.encoder import SentenceEncoder
    from cares.dialogue.evaluator import llm_evaluator, ready_classifier
    from cares.dialogue.families import judge_of
    from cares.llm.params import LlmParams
    from cares.models.params import ModelsParams

    params = Params(root / "params.yaml")
    models = params.section("models", ModelsParams)
    regularisation = params.section("calibration", CalibrationParams).inverse_regularisation
    path = root / "data/calibration.json"
    if kind == EvaluatorName.CLASSIFIER:
        return ready_classifier(path, models.encoder, regularisation)
    name = model or judge_of(models, params.path)
    settings = params.section("llm", LlmParams)
    # a file has no topics to recover, so that any threshold will do
    llm = llm_evaluator(name, settings, SentenceEncoder(models.encoder), root / "prompts", f"llm/{name}", 0.0)
    if kind == EvaluatorName.LLM:
        return llm
    classifier = ready_classifier(path, models.encoder, regularisation)
    return BothEvaluator(classifier, llm, f"both/{models.encoder}+{name}")
