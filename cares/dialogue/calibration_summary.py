"""Figures of a calibration for metrics and plots."""

from __future__ import annotations

from collections.abc import Sequence

from cares.core.canonical import Json
from cares.dialogue.calibration import RocPoint
from cares.dialogue.calibration_record import Calibration
from cares.records.scene import Reaction


def calibration_metrics(found: Calibration) -> dict[str, Json]:
    """Flat figures: the evaluator on the test probes (and on dev), then the topic threshold."""
    right, topic = found.accuracy, found.topic
    return {
        "evaluator": f"{found.evaluator}/{found.encoder}",
        "balanced_accuracy": right.balanced_accuracy,
        "balanced_accuracy_low": right.low,
        "balanced_accuracy_high": right.high,
        "kappa": right.kappa,
        **{f"recall_{label}": value for label, value in right.recall.items()},
        "test_probes": right.probes,
        "test_sounds": right.sounds,
        "dev_balanced_accuracy": found.dev_accuracy.balanced_accuracy,
        "topic_threshold": topic.threshold,
        "topic_youden_j": topic.youden_j,
        "topic_auc": topic.auc,
        "topic_test_auc": topic.test_auc,
        "topic_test_tpr": topic.test_tpr,
        "topic_test_fpr": topic.test_fpr,
    }


def roc_csv(points: Sequence[RocPoint]) -> str:
    """The ROC curve as a DVC plot file: threshold, fpr, tpr."""
    rows = [f"{point.threshold:.3f},{point.fpr:.4f},{point.tpr:.4f}" for point in points]
    return "\n".join(["threshold,fpr,tpr", *rows]) + "\n"


def confusion_csv(pairs: Sequence[tuple[Reaction, Reaction]]) -> str:
    """The test sounds as a DVC confusion plot: one row a sound, its actual and its predicted label."""
    return "\n".join(["actual,predicted", *(f"{actual},{predicted}" for actual, predicted in pairs)]) + "\n"
