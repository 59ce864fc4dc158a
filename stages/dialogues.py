"""Stage `dialogues`: write, check, judge, and write again, until a scene has its dialogue or no attempt is left."""

from contextlib import closing
from functools import partial
from pathlib import Path

from cares.catalog.load import load_catalog
from cares.core.atomic import replace_folder
from cares.core.executor import executor_kind
from cares.core.params import Params
from cares.core.record import read_records, write_records
from cares.core.stage import run_stage
from cares.dialogue.acceptance import accept_dialogues
from cares.dialogue.context import check_context
from cares.dialogue.evaluator import load_evaluator
from cares.dialogue.free import make_writer
from cares.dialogue.params import DialoguesParams
from cares.dialogue.spread import DialogueWork, accept_dialogues_apart, joined
from cares.dialogue.summary import write_summary
from cares.dialogue.timing import TimedWaves
from cares.llm.params import LlmParams
from cares.llm.waves import StoredWaves
from cares.models.params import ModelsParams
from cares.records.dialogue import Topic
from cares.records.scene import Scene, batches

OUT = Path("data/dialogues")
PROMPTS = Path("prompts")


def main() -> None:
    """Read scenes, topics and the calibrated evaluator; write accepted dialogues and all attempts."""
    params = Params()
    section = params.section("dialogues", DialoguesParams)
    models = params.section("models", ModelsParams)
    scenes = read_records(Scene, Path("data/allocation/scenes.jsonl"))
    topics = read_records(Topic, Path("data/topics.jsonl"))
    writer, llm = make_writer(load_catalog(), section, params.seed, PROMPTS), params.section("llm", LlmParams)
    open_judge = partial(load_evaluator, Path("data/calibration.json"), llm, PROMPTS)
    check_context(scenes, writer, llm)
    if executor_kind() == "ray":
        work = DialogueWork(models.writer, llm, section, params.seed, PROMPTS, open_judge)
        outcome, model = accept_dialogues_apart(scenes, topics, work)
    else:
        with closing(open_judge()) as judge, StoredWaves(models.writer, llm) as waves:
            model = TimedWaves(waves)
            # scenes that were added share no group with those before them, whose waves would be others
            outcome = joined(
                accept_dialogues(batch, topics, writer, model, judge, section) for batch in batches(scenes)
            )
    with replace_folder(OUT) as folder:
        write_records(folder / "accepted.jsonl", outcome.accepted)
        write_records(folder / "attempts.jsonl", outcome.attempts)
    write_summary(outcome, scenes, params.seed, Path("metrics"))
    count = f"{len(outcome.accepted)} of {len(scenes)} scenes accepted after {len(outcome.attempts)} attempts"
    print(f"dialogues: {count}, in {OUT}; {model.per_scene(len(outcome.accepted))}")
    if outcome.refused:
        print(f"dialogues: not accepted, left out: {', '.join(outcome.refused)} (reasons in {OUT / 'attempts.jsonl'})")


if __name__ == "__main__":
    run_stage(main)
