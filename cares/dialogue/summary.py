"""Figures of a run of the dialogues stage, for metrics and plots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cares.core.canonical import Json, dumps
from cares.dialogue.acceptance import Outcome
from cares.records.scene import REACTIONS, Scene


def acceptance_metrics(outcome: Outcome, scenes: Sequence[Scene]) -> dict[str, Json]:
    """Acceptance by scene, first attempt, label and reason; tokens written for each accepted scene.

    `first_attempt_accepted` is the share of scenes whose very first candidate was accepted. `quota_spread` is, for each
    quota, the largest difference in count between two levels among the accepted scenes (at most 1 when all are).
    """
    accepted = {dialogue.scene_id for dialogue in outcome.accepted}
    first = [a for a in outcome.attempts if a.attempt == 0 and a.candidate == 0]
    kept = [scene for scene in scenes if scene.scene_id in accepted]
    labels: dict[str, Json] = {}
    for reaction in REACTIONS:
        wanted = [scene for scene in scenes for event in scene.events if event.reaction == reaction]
        done = sum(scene.scene_id in accepted for scene in wanted)
        labels[reaction] = {"events": len(wanted), "accepted": done}
    return {
        "scenes": len(scenes),
        "accepted": len(accepted),
        "refused": list(outcome.refused),
        "first_attempt_accepted": _share(sum(a.reason == "accepted" for a in first), len(first)),
        "attempts": len(outcome.attempts),
        "attempts_accepted": _share(sum(a.reason == "accepted" for a in outcome.attempts), len(outcome.attempts)),
        "reasons": dict(sorted(Counter(a.reason for a in outcome.attempts).items())),
        "labels": labels,
        "tokens_per_accepted_scene": _share(sum(a.completion_tokens for a in outcome.attempts), len(accepted), 1),
        "quota_spread": {
            "composition": _spread([dumps(scene.composition.to_json()) for scene in kept]),
            "location": _spread([scene.location for scene in kept]),
            "relation": _spread([scene.relation for scene in kept]),
            "genders": _spread(["".join(scene.genders) for scene in kept]),
        },
    }


def acceptance_rows(outcome: Outcome) -> list[dict[str, Json]]:
    """Rows of the acceptance plot: accepted scenes, in total, after each wave."""
    waves = sorted({attempt.attempt for attempt in outcome.attempts})
    return [{"wave": w, "accepted": sum(dialogue.attempt <= w for dialogue in outcome.accepted)} for w in waves]


def _share(part: int, whole: int, digits: int = 4) -> float | None:
    return round(part / whole, digits) if whole else None


def _spread(levels: Sequence[str]) -> int:
    counts = Counter(levels).values()
    return max(counts) - min(counts) if counts else 0
