"""Stage `calibrate`: train the classifier on the labelled probes, measure evaluators, find thresholds for topics."""

from contextlib import closing
from pathlib import Path

from cares.catalog.load import load_catalog
from cares.core.atomic import replace_folder, write_bytes
from cares.core.canonical import write_json
from cares.core.params import Params
from cares.core.stage import run_stage
from cares.dialogue.calibration import EncoderId, calibrate
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.calibration_summary import calibration_metrics, confusion_csv, roc_csv, summary_lines
from cares.dialogue.encoder import SentenceEncoder
from cares.dialogue.evaluator import PROMPTS, llm_evaluator
from cares.dialogue.families import families, judge_of
from cares.dialogue.llm_measure import ask_about_probes, judge_settings
from cares.dialogue.probes import load_probes, load_topic_pairs
from cares.llm.params import LlmParams
from cares.models.ensure import model_digest
from cares.models.params import ModelsParams

OUT = Path("data/calibration.json")
PLOTS = Path("metrics/plots")


def main() -> None:
    """Read the probes; write the classifier, the figures of every evaluator that is measured, and plots."""
    params = Params()
    section, models = params.section("calibration", CalibrationParams), params.section("models", ModelsParams)
    of_whom = families(models, section.evaluator, section.allow_same_family, params.path)
    probes, pairs, encoder, llm = load_probes(), load_topic_pairs(), SentenceEncoder(models.encoder), None
    if section.asks_llm:
        model_id, settings = judge_of(models, params.path), params.section("llm", LlmParams)
        judging = judge_settings(model_id, pairs, encoder, section, params.seed)
        judge = llm_evaluator(model_id, settings, encoder, PROMPTS, f"llm/{model_id}", judging.topic.threshold)
        with closing(judge):
            llm = ask_about_probes(judge, probes, encoder, judging, section, params.seed)
    encoder_id = EncoderId(models.encoder, model_digest(models.encoder))
    found = calibrate(probes, pairs, encoder, encoder_id, load_catalog(), of_whom, section, params.seed, llm)
    write_json(OUT, found.calibration.to_json())
    write_json(Path("metrics/calibration.json"), calibration_metrics(found.calibration))
    write_bytes(PLOTS / "topic_roc.csv", roc_csv(found.roc).encode())
    with replace_folder(PLOTS / "evaluator_confusion") as folder:
        for kind, pairs in found.test_labels.items():
            write_bytes(folder / f"{kind}.csv", confusion_csv(pairs).encode())
    for line in summary_lines(found.calibration):
        print(f"calibrate: {line}")
    print(f"calibrate: all of it in {OUT}")


if __name__ == "__main__":
    run_stage(main)
