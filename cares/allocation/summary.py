"""How even an allocation is: the figures of metrics/allocation.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from cares.allocation.labels import N_LABELS, PIVOT, unevenness
from cares.allocation.quotas import spread
from cares.core.canonical import Json
from cares.records.scene import REACTIONS, SPLITS, Scene


def label_imbalance(counts: Iterable[Sequence[int]]) -> int:
    """By how many events all sounds together are off from meeting the four labels evenly; 0 when they do.

    Args:
        counts: for each sound its events as pivot, verbal, behavioral and ambient.
    """
    rows = list(counts)
    total = sum(map(sum, rows))
    pivots = sum(row[PIVOT] for row in rows)
    return sum(unevenness(row, total, pivots) for row in rows) if total else 0


def summarise(
    scenes: Sequence[Scene],
    levels: Mapping[str, Collection[Hashable]],
    rare: Collection[str],
    rare_wanted: int,
    drawn_from: int,
) -> dict[str, Json]:
    """The metrics of an allocation.

    `quota_difference` gives for each factor the largest difference in count between two of its levels, over all scenes
    or within a split, whichever is larger; `sound_labels` that between verbal, behavioral and ambient of a sound.

    Args:
        scenes: what was allocated.
        levels: all levels of the factors composition, location, relation, genders and of `register <reaction>`.
        rare: ids of the rare sounds.
        rare_wanted: how many rare pivots there should be; fewer there are where too few pivots could be rare.
        drawn_from: number of sounds that could be drawn.
    """
    parts = [list(scenes), *([s for s in scenes if s.split == split] for split in SPLITS)]
    difference = {
        factor: max(_difference([value for scene in part for value in _values(scene, factor)], known) for part in parts)
        for factor, known in levels.items()
    }
    events = [event for scene in scenes for event in scene.events]
    counts: dict[str, list[int]] = {}
    for event in events:
        if event.sound not in rare:
            counts.setdefault(event.sound, [0] * N_LABELS)[REACTIONS.index(event.reaction)] += 1
    difference["sound_labels"] = max((spread(row[PIVOT + 1 :]) for row in counts.values()), default=0)
    return {
        "scenes": len(scenes),
        "templates": len({scene.template_id for scene in scenes}),
        "scenes_per_split": {split: sum(scene.split == split for scene in scenes) for split in SPLITS},
        "events": {reaction: sum(event.reaction == reaction for event in events) for reaction in REACTIONS},
        "rare_pivots_wanted": rare_wanted,
        "rare_pivots": sum(event.sound in rare for event in events),
        "sounds_drawn_from": drawn_from,
        "sounds_used": len({event.sound for event in events}),
        "quota_difference": difference,
        "quota_difference_max": max(difference.values()),
        "sound_label_imbalance": label_imbalance(counts.values()),
    }


def _values(scene: Scene, factor: str) -> list[Any]:
    if factor.startswith("register "):
        reaction = factor.removeprefix("register ")
        return [event.register_id for event in scene.events if event.reaction == reaction]
    if factor == "composition":
        return [tuple(getattr(scene.composition, reaction) for reaction in REACTIONS)]
    if factor == "relation":
        return [scene.relation]
    return [getattr(scene, factor)]


def _difference(values: Iterable[Hashable], levels: Collection[Hashable]) -> int:
    counts = Counter(values)
    return spread([counts[level] for level in levels])
