"""What an evaluator said of a dialogue, and why that refuses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cares.dialogue.lint import Fault
from cares.records.dialogue import Turn, Verdict, planned_turns
from cares.records.scene import Scene


@dataclass(frozen=True)
class Opinion:
    """What the evaluator said of a dialogue that passed the lint; `fault` says why it is refused, if it is."""

    verdicts: tuple[Verdict, ...]
    similarity: float
    fault: Fault | None

    @property
    def confidence(self) -> float:
        """The least score that the evaluator gave to one of its labels, from 0 to 1; 1 where it gives none."""
        return min((verdict.scores.get(verdict.label or "", 1.0) for verdict in self.verdicts), default=1.0)

    def wanted(self, scene: Scene) -> float:
        """The least score that the evaluator gave to a label that the scene asks for; 1 where it gives none."""
        asked = (verdict.scores.get(scene.events[verdict.event].reaction, 1.0) for verdict in self.verdicts)
        return min(asked, default=1.0)


def verdict_fault(
    scene: Scene, turns: Sequence[Turn], verdicts: Sequence[Verdict], similarity: float, threshold: float
) -> Fault | None:
    """Why an evaluator refuses a dialogue: a label or the topic that it did not recover; None when it does not."""
    found = {verdict.event: verdict for verdict in verdicts}
    numbers = planned_turns(turns)
    slots = {s.event: n for n, turn in zip(numbers, turns, strict=True) for s in turn.segments if s.event is not None}
    for index, event in enumerate(scene.events):
        verdict = found.get(index)
        if verdict is None or verdict.label is None:
            why = verdict.detail if verdict else "no verdict"
            return Fault("no_verdict", f"event {index} ({event.sound}): {why}", slots.get(index))
        if verdict.label != event.reaction:
            detail = f"event {index} ({event.sound}): {event.reaction} read as {verdict.label}"
            return Fault("label_not_recovered", detail, slots.get(index))
    if similarity < threshold:
        return Fault("topic_not_recovered", f"similarity {similarity:.3f}, threshold {threshold:.3f}")
    return None
