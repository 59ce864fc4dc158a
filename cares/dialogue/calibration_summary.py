"""Figures of a calibration for metrics and plots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cares.core.canonical import Json
from cares.dialogue.calibration_record import Accuracy, Calibration
from cares.dialogue.topic_threshold import RocPoint
from cares.records.scene import Reaction


def calibration_metrics(found: Calibration) -> dict[str, Json]:
    """The evaluator that accepts dialogues first, then every evaluator that was measured, then the topic thresholds."""
    topic, judge = found.topic, found.judge
    evaluators: dict[str, Json] = {}
    for kind, measured in found.measured.items():
        evaluators[kind] = {"name": measured.name, **_figures(measured.accuracy)}
        if measured.on_sample is not None:
            evaluators[kind]["on_sample"] = _figures(measured.on_sample)
    recovered: dict[str, Json] = {}
    if judge is not None:
        recovered = {
            "llm_topic_threshold": judge.topic.threshold,
            "llm_topic_youden_j": judge.topic.youden_j,
            "llm_topic_test_auc": judge.topic.test_auc,
            "llm_answers_promised": judge.promised,
        }
        if judge.recovered is not None:
            recovered |= {
                "llm_topics_recovered": judge.recovered.tpr,
                "llm_topics_confused": judge.recovered.fpr,
                "llm_topics_auc": judge.recovered.auc,
            }
    return {
        "evaluator": found.name,
        "writer_family": found.families.writer,
        "evaluator_families": ", ".join(found.families.evaluator),
        "same_family": found.families.same,
        "probes_sha256": found.probes_sha256,
        **_figures(found.accuracy),
        "dev_balanced_accuracy": found.dev_accuracy.balanced_accuracy,
        "evaluators": evaluators,
        "topic_threshold": topic.threshold,
        "topic_youden_j": topic.youden_j,
        "topic_auc": topic.auc,
        "topic_test_auc": topic.test_auc,
        "topic_test_auc_low": topic.test_auc_interval.low,
        "topic_test_auc_high": topic.test_auc_interval.high,
        "topic_test_tpr": topic.test_tpr,
        "topic_test_fpr": topic.test_fpr,
        "topic_unrelated_fpr": found.topic_unrelated.fpr,
        "topic_unrelated_auc": found.topic_unrelated.auc,
        **recovered,
    }


def summary_lines(found: Calibration) -> list[str]:
    """What the stage prints: a line for each evaluator and one for the topics."""
    lines = []
    for kind, measured in found.measured.items():
        right = measured.accuracy
        role = ", accepts dialogues" if kind == found.evaluator else ""
        lines.append(
            f"{measured.name}: balanced accuracy {right.balanced_accuracy:.3f} [{right.low:.3f}, {right.high:.3f}], "
            f"kappa {right.kappa:.3f} on {right.sounds} sounds of {right.probes} test probes{role}"
        )
    if found.families.same:
        lines.append(f"the evaluator is of the writer's family, {found.families.writer}, as allowed")
    lines.append(f"topic threshold {found.topic.threshold:.3f}, area under ROC {found.topic.auc:.3f}")
    return lines


def roc_csv(points: Sequence[RocPoint]) -> str:
    """The ROC curve as a DVC plot file: threshold, fpr, tpr."""
    rows = [f"{point.threshold:.3f},{point.fpr:.4f},{point.tpr:.4f}" for point in points]
    return "\n".join(["threshold,fpr,tpr", *rows]) + "\n"


def confusion_csv(pairs: Iterable[tuple[Reaction, Reaction | None]]) -> str:
    """The test sounds as a DVC confusion plot: one row a sound, its actual and its predicted label, or "none"."""
    rows = [f"{actual},{predicted or 'none'}" for actual, predicted in pairs]
    return "\n".join(["actual,predicted", *rows]) + "\n"


def _figures(right: Accuracy) -> dict[str, Json]:
    recalls = {f"recall_{label}": value for label, value in right.recall.items()}
    return {
        "balanced_accuracy": right.balanced_accuracy,
        "balanced_accuracy_low": right.low,
        "balanced_accuracy_high": right.high,
        "confidence": right.confidence,
        "kappa": right.kappa,
        "kappa_low": right.kappa_interval.low,
        "kappa_high": right.kappa_interval.high,
        **recalls,
        "test_probes": right.probes,
        "test_sounds": right.sounds,
        "unlabelled": right.unlabelled,
        "right_of_labelled": right.right_of_labelled,
    }
