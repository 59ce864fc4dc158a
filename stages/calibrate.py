"""Stage `calibrate`: train the evaluator on the labelled probes, measure it, and find the threshold for topics."""

from pathlib import Path

from cares.catalog.load import load_catalog
from cares.core.atomic import write_bytes
from cares.core.canonical import write_json
from cares.core.params import Params
from cares.core.stage import run_stage
from cares.dialogue.calibration import calibrate
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.calibration_summary import calibration_metrics, confusion_csv, roc_csv
from cares.dialogue.encoder import SentenceEncoder
from cares.dialogue.probes import load_probes
from cares.models.ensure import model_digest
from cares.models.params import ModelsParams

OUT = Path("data/calibration.json")


def main() -> None:
    """Read the probes; write the calibrated evaluator, its figures and its plots."""
    params = Params()
    section = params.section("calibration", CalibrationParams)
    encoder = params.section("models", ModelsParams).encoder
    found = calibrate(
        load_probes(), SentenceEncoder(encoder), encoder, model_digest(encoder), load_catalog(), section, params.seed
    )
    write_json(OUT, found.calibration.to_json())
    write_json(Path("metrics/calibration.json"), calibration_metrics(found.calibration))
    write_bytes(Path("metrics/plots/topic_roc.csv"), roc_csv(found.roc).encode())
    write_bytes(Path("metrics/plots/evaluator_confusion.csv"), confusion_csv(found.test_labels).encode())
    right, topic = found.calibration.accuracy, found.calibration.topic
    interval = f"{right.balanced_accuracy:.3f} [{right.low:.3f}, {right.high:.3f}]"
    print(f"calibrate: balanced accuracy {interval} on the {right.sounds} sounds of {right.probes} test probes")
    print(f"calibrate: topic threshold {topic.threshold:.3f}, area under ROC {topic.auc:.3f}; in {OUT}")


if __name__ == "__main__":
    run_stage(main)
