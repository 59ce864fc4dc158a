"""How long the accepted dialogues will be: figures that are known before anything is spoken."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, pstdev

from cares.core.canonical import Json
from cares.dialogue.pace import Pace, predicted_seconds
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene

HEAD = ("scene_id", "predicted_s", "target_s")
NEAR = 0.1


def predicted_rows(dialogues: Sequence[Dialogue], scenes: Sequence[Scene], pace: Pace) -> list[tuple[str, float, Json]]:
    """Id, predicted and wanted seconds of each dialogue's scene; "" where nothing is asked."""
    by_id = {scene.scene_id: scene for scene in scenes}
    rows = []
    for dialogue in dialogues:
        scene = by_id[dialogue.scene_id]
        target = "" if scene.length_s is None else scene.length_s
        rows.append((dialogue.scene_id, round(predicted_seconds(dialogue.turns, scene, pace), 1), target))
    return rows


def predicted_lengths(rows: Sequence[tuple[str, float, Json]]) -> dict[str, Json]:
    """Mean and deviation of what is predicted and of what was asked for; how many dialogues are within a tenth of it.

    `off` is the predicted mean over the target's, less one.
    """
    found = [seconds for _, seconds, _ in rows]
    asked = [(seconds, target) for _, seconds, target in rows if target != ""]
    figures: dict[str, Json] = {"predicted_s": spread_of(found), "target_s": None, "off": None, "within_a_tenth": None}
    if asked:
        targets = [target for _, target in asked]
        figures |= {
            "target_s": spread_of(targets),
            "off": round(fmean(seconds for seconds, _ in asked) / fmean(targets) - 1, 4),
            "within_a_tenth": round(fmean(abs(s - target) <= NEAR * target for s, target in asked), 4),
        }
    return figures


def spread_of(seconds: Sequence[float]) -> Json:
    """Mean, standard deviation (of the set itself), least and greatest; None of nothing."""
    if not seconds:
        return None
    return {
        "mean": round(fmean(seconds), 2),
        "deviation": round(pstdev(seconds), 2),
        "min": round(min(seconds), 1),
        "max": round(max(seconds), 1),
    }
