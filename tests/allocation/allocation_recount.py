"""Counts every quota of an allocation from its files, with nothing of the code that made them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from cares.catalog.load import load_catalog

SPLITS = ("train", "validation", "test")
LABELS = ("pivot", "verbal", "behavioral", "ambient")
PLAIN_LABELS = LABELS[1:]


def read_scenes(folder: Path) -> list[dict[str, Any]]:
    """The lines of scenes.jsonl."""
    return [json.loads(line) for line in (folder / "scenes.jsonl").read_text(encoding="utf-8").splitlines()]


def gap(values: Iterable[Hashable], levels: Collection[Hashable]) -> int:
    """Largest difference in count between two of `levels`; every value must be one of them."""
    counts = Counter(values)
    assert counts.keys() <= set(levels)
    return max(counts[level] for level in levels) - min(counts[level] for level in levels)


def compositions() -> list[tuple[int, ...]]:
    """The 30 compositions as (pivot, verbal, behavioral, ambient)."""
    found = [c for c in product((0, 1), range(4), range(4), range(4)) if sum(c) <= 3]
    assert len(found) == 30
    return found


def check_quotas(scenes: list[dict[str, Any]]) -> None:
    """Compositions, locations, relations, genders and registers: at most one apart, overall and within each split."""
    catalog = load_catalog()
    parts = [scenes, *([s for s in scenes if s["split"] == split] for split in SPLITS)]
    assert sum(len(part) for part in parts[1:]) == len(scenes)
    for part in parts:
        assert gap((tuple(s["composition"][label] for label in LABELS) for s in part), compositions()) <= 1
        assert gap((s["location"] for s in part), list(catalog.locations)) <= 1
        assert gap((s["relation"] for s in part), list(catalog.relations)) <= 1
        assert gap((tuple(s["genders"]) for s in part), list(product("FM", repeat=2))) <= 1
        for label in LABELS:
            registers = [r.id for r in catalog.registers.values() if r.reaction == label]
            used = [e["register"] for s in part for e in s["events"] if e["reaction"] == label]
            assert gap(used, registers) <= 1, label


def check_scenes(scenes: list[dict[str, Any]], min_turns: int, max_turns: int) -> None:
    """Each scene by itself: events as composed, spaced, plausible where they are, and not to be confused."""
    catalog = load_catalog()
    for scene in scenes:
        assert scene["roles"] == [scene["relation"]] * 2
        assert min_turns <= scene["n_turns"] <= max_turns
        events = scene["events"]
        assert Counter(e["reaction"] for e in events) == Counter(scene["composition"])
        slots = [e["slot"] for e in events]
        assert all(later - earlier >= 3 for earlier, later in pairwise(slots))
        assert not slots or (slots[0] >= 1 and slots[-1] <= scene["n_turns"] - 3)
        for event in events:
            sound = catalog.sounds[event["sound"]]
            assert scene["location"] in sound.locations
            assert sound.group != "rare" or event["reaction"] == "pivot"
        names = [e["sound"] for e in events]
        assert len(set(names)) == len(names)
        assert not any(other in catalog.confusable(name) for name in names for other in names)


def check_sounds(scenes: list[dict[str, Any]], pools: Mapping[str, Collection[str]] | None = None) -> None:
    """Every sound meets the labels evenly, and the sounds of a location are used evenly.

    Args:
        scenes: the scenes.
        pools: sounds that could be drawn, per split; None for the whole catalog.
    """
    catalog = load_catalog()
    common = [e for s in scenes for e in s["events"] if catalog.sounds[e["sound"]].group != "rare"]
    pivot_share = sum(e["reaction"] == "pivot" for e in common) / max(1, len(common))
    by_sound: dict[str, Counter[str]] = {}
    for event in common:
        by_sound.setdefault(event["sound"], Counter())[event["reaction"]] += 1
    for name, counts in by_sound.items():
        plain = [counts[label] for label in PLAIN_LABELS]
        assert max(plain) - min(plain) <= 1, (name, counts)
        assert abs(counts["pivot"] - pivot_share * counts.total()) <= 1 + 1e-9, (name, counts)

    for location in catalog.locations:
        for splits in ([s] for s in SPLITS) if pools else (*([s] for s in SPLITS), list(SPLITS)):
            here = [s for s in scenes if s["location"] == location and s["split"] in splits]
            levels = [
                s.id
                for s in catalog.sounds_at(location)
                if s.group != "rare" and (pools is None or s.id in pools[splits[0]])
            ]
            used = [e["sound"] for s in here for e in s["events"] if catalog.sounds[e["sound"]].group != "rare"]
            assert gap(used, levels) <= 1, (location, splits)


def check_files(folder: Path, n_scenes: int, per_template: int) -> list[dict[str, Any]]:
    """The three files agree with each other; returns the scenes."""
    scenes = read_scenes(folder)
    templates = [json.loads(line) for line in (folder / "templates.jsonl").read_text(encoding="utf-8").splitlines()]
    splits = json.loads((folder / "splits.json").read_text(encoding="utf-8"))
    assert len(scenes) == n_scenes
    assert [s["scene_id"] for s in scenes] == [scene_id for t in templates for scene_id in t["scene_ids"]]
    assert len({s["scene_id"] for s in scenes}) == n_scenes
    assert all(len(t["scene_ids"]) == per_template for t in templates[:-1])
    assert 1 <= len(templates[-1]["scene_ids"]) <= per_template
    by_id = {t["template_id"]: t for t in templates}
    for scene in scenes:
        template = by_id[scene["template_id"]]
        assert (template["split"], template["theme"]) == (scene["split"], scene["theme"])
    assert splits == {split: [s["scene_id"] for s in scenes if s["split"] == split] for split in SPLITS}
    for split in (None, *SPLITS):
        assert gap((t["theme"] for t in templates if split in (None, t["split"])), list(load_catalog().themes)) <= 1
    return scenes
