"""Files of the items: the scenes that they are about, the frozen items with their cross-checks, and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from cares.core.canonical import Json, read_jsonl
from cares.core.errors import InputError
from cares.core.record import read_records
from cares.records.item import LETTERS, Item
from cares.records.scene import REACTIONS, SPLITS
from cares.records.timeline import MixedScene


def read_scenes(path: Path) -> list[MixedScene]:
    """All finished scenes of a file, without their words: no question is about a word, and 10,000 scenes have millions.

    Raises:
        InputError: a line is not a finished scene.
    """
    scenes = []
    for number, value in enumerate(read_jsonl(path), 1):
        wordless = value | {"words": []} if isinstance(value, dict) else value
        scenes.append(MixedScene.parse(wordless, path, f"line {number}"))
    return scenes


def read_items(path: Path) -> list[Item]:
    """All items of a file; InputError when one is not valid or they do not go together."""
    items = read_records(Item, path)
    check_items(items, path)
    return items


def check_items(items: Sequence[Item], path: Path) -> None:
    """What no single item can tell.

    Raises:
        InputError: an id occurs twice, or a pair of `grounding` is not an original and a muted half that are asked the
            same.
    """
    pairs: dict[str, list[Item]] = {}
    lines: dict[str, int] = {}
    for number, item in enumerate(items, 1):
        if item.item_id in lines:
            expected = f"an id that is not already in line {lines[item.item_id]}"
            raise InputError(path, f"line {number}.item_id", item.item_id, expected)
        lines[item.item_id] = number
        if item.pair:
            pairs.setdefault(item.pair, []).append(item)
    for pair, halves in pairs.items():
        levels = sorted(half.level for half in halves)
        if levels != ["muted", "original"]:
            raise InputError(path, pair, levels, "an original and a muted half")
        first, second = halves
        if first.question != second.question or first.audio_sha256 == second.audio_sha256:
            raise InputError(path, pair, first.question, "halves with the same question and different recordings")


def describe_items(items: Sequence[Item]) -> Json:
    """Counts for metrics/items.json: of each group (task and level) its items, splits, labels and places of the answer.

    `by_label` counts items by the label of the event that they are about; `answer_at` how often the right answer stands
    at each letter.
    """
    groups = {group: [item for item in items if item.group == group] for group in {item.group: 0 for item in items}}
    return {
        "items": len(items),
        "scenes": len({item.scene_id for item in items}),
        "by_split": _by_split(items),
        "groups": {group: _described(members) for group, members in groups.items()},
    }


def _described(items: Sequence[Item]) -> Json:
    told: dict[str, Json] = {"items": len(items), "by_split": _by_split(items)}
    if items[0].event is not None:
        labels = Counter(reference.label for item in items for reference in item.references)
        told["by_label"] = {label: labels[label] for label in REACTIONS}
    if items[0].choices:
        at = Counter(item.position for item in items)
        told["answer_at"] = {letter: at[place] for place, letter in enumerate(LETTERS[: len(items[0].choices)])}
    return told


def _by_split(items: Iterable[Item]) -> Json:
    splits = Counter(item.split for item in items)
    return {split: splits[split] for split in SPLITS}
