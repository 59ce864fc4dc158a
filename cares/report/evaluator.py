"""How far the evaluator is to be trusted, in one sentence for every page."""

from __future__ import annotations

from collections.abc import Mapping

from cares.core.canonical import Json
from cares.report.inputs import Inputs
from cares.report.tables import percent

UNKNOWN = (
    "How often the evaluator that accepted these dialogues is right is not known here: metrics/calibration.json is not "
    "there yet."
)


def evaluator_note(inputs: Inputs) -> str:
    """Balanced accuracy on held-out probes with its interval, and whether writer and evaluator share a model family."""
    figures: Json = inputs.metrics.get("calibration")
    stored: Mapping[str, Json] = inputs.calibration or {}
    if not isinstance(figures, Mapping) or "balanced_accuracy" not in figures:
        return UNKNOWN
    confidence = stored.get("accuracy", {}).get("confidence", 0.95)
    low, high = figures.get("balanced_accuracy_low"), figures.get("balanced_accuracy_high")
    sounds = figures.get("test_sounds")
    name = figures.get("evaluator", "of unknown name")
    interval = f"{confidence:.0%} interval {percent(low)} to {percent(high)}"
    on = f"{sounds} sounds of held-out probes" if sounds else "held-out probes"
    text = (
        f"Labels were checked by the evaluator {name}: balanced accuracy {percent(figures['balanced_accuracy'])} "
        f"({interval}) on {on}."
    )
    same = stored.get("same_family", figures.get("same_family"))
    if same is None:
        return text
    return f"{text} Writer and evaluator are of {'one model family' if same else 'different model families'}."
