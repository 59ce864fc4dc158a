"""How long the finished scenes are, against what was asked for: figures, and rows of a histogram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev

from cares.core.canonical import Json
from cares.core.pcm import SAMPLE_RATE
from cares.records.scene import Scene
from cares.records.timeline import MixedScene

BIN_S = 5
NEAR = 0.1


def describe_lengths(mixed: Sequence[MixedScene], scenes: Sequence[Scene]) -> dict[str, Json]:
    """Mean and standard deviation (of the set itself) of the finished scenes and of their targets, in seconds.

    `off` is the mean over the target's, less one; `within_a_tenth` the share of scenes that are within a tenth of their
    own target. Both are None where no scene has one.
    """
    targets = _targets(scenes)
    seconds = {scene.scene_id: scene.n_samples / SAMPLE_RATE for scene in mixed}
    asked = [(length, targets[name]) for name, length in seconds.items() if name in targets]
    figures: dict[str, Json] = {
        "mean_s": round(fmean(seconds.values()), 2),
        "deviation_s": round(pstdev(seconds.values()), 2),
        "target_mean_s": None,
        "target_deviation_s": None,
        "off": None,
        "within_a_tenth": None,
    }
    if asked:
        wanted = [target for _, target in asked]
        figures |= {
            "target_mean_s": round(fmean(wanted), 2),
            "target_deviation_s": round(pstdev(wanted), 2),
            "off": round(fmean(length for length, _ in asked) / fmean(wanted) - 1, 4),
            "within_a_tenth": round(fmean(abs(length - target) <= NEAR * target for length, target in asked), 4),
        }
    return figures


def length_counts(mixed: Sequence[MixedScene], scenes: Sequence[Scene]) -> list[tuple[int, int, int]]:
    """How many scenes and how many targets every five seconds hold, from the shortest of either to the longest.

    Returns:
        the second at which each five begin, scenes, targets.
    """
    targets = _targets(scenes)
    found, wanted = Counter[int](), Counter[int]()
    for scene in mixed:
        found[int(scene.n_samples / SAMPLE_RATE // BIN_S)] += 1
        if scene.scene_id in targets:
            wanted[int(targets[scene.scene_id] // BIN_S)] += 1
    places = [*found, *wanted]
    return [(place * BIN_S, found[place], wanted[place]) for place in range(min(places), max(places) + 1)]


def length_rows(mixed: Sequence[MixedScene], scenes: Sequence[Scene]) -> list[dict[str, object]]:
    """`length_counts` as rows of a table."""
    return [
        {"seconds": f"{start:03d}-{start + BIN_S:03d}", "scenes": found, "targets": wanted}
        for start, found, wanted in length_counts(mixed, scenes)
    ]


def _targets(scenes: Sequence[Scene]) -> Mapping[str, float]:
    return {scene.scene_id: scene.length_s for scene in scenes if scene.length_s is not None}
