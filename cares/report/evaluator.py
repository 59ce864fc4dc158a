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
    if not isinstance(figures, Mapping) or "balanced_accuracy" not in figures:
        return UNKNOWN
    name = figures.get("evaluator", "of unknown name")
    low, high = figures.get("balanced_accuracy_low"), figures.get("balanced_accuracy_high")
    interval = f"{_confidence(inputs.calibration)} % interval {percent(low)} to {percent(high)}"
    sounds = figures.get("test_sounds")
    on = f"{sounds} sounds of held-out probes" if sounds else "held-out probes"
    text = (
        f"Labels were checked by the evaluator {name}: balanced accuracy {percent(figures['balanced_accuracy'])} "
        f"({interval}) on {on}."
    )
    same = figures.get("same_family")
    if same is None:
        return text
    families = figures.get("writer_family"), figures.get("evaluator_families")
    named = f" ({families[0]}; {families[1]})" if all(families) else ""
    return f"{text} Writer and evaluator are of {'one model family' if same else 'different model families'}{named}."


def _confidence(calibration: Json) -> str:
    """The confidence of the accepting evaluator's interval, in percent."""
    stored: Json = calibration if isinstance(calibration, Mapping) else {}
    measured = stored.get("measured", {}).get(stored.get("evaluator"), stored)
    return f"{100 * measured.get('accuracy', {}).get('confidence', 0.95):g}"
