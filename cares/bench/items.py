"""Frozen questions from finished scenes: one item an event, options permuted, the right answer even over positions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from cares.bench.params import ItemsParams
from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE
from cares.core.rng import KeyedRandom
from cares.records.item import LETTERS, Item
from cares.records.scene import REACTIONS, SPLITS
from cares.records.timeline import MixedScene, PlacedEvent

DEFINITIONS: dict[str, str] = {
    "pivot": "they drop their topic and go on talking about the sound",
    "verbal": "one short remark on the sound, then their topic goes on",
    "behavioral": "a speaker breaks off, stalls or starts again, but never mentions the sound",
    "ambient": "they talk on as if nothing had happened",
}


def build_items(scenes: Sequence[MixedScene], names: Mapping[str, str], params: ItemsParams, seed: int) -> list[Item]:
    """One item an event of the scenes in the wanted splits, in the order of the scenes.

    The position of the right answer is even for each label and in total (counts differ by at most one); which item
    gets which position, and the order of the other three options, are keyed draws.

    Args:
        scenes: finished scenes.
        names: what the question calls each sound (catalog display name by sound id).
        params: tasks and splits.
        seed: the data set's seed.

    Raises:
        InputError: a sound that `names` does not hold.
    """
    found = [(scene, event) for scene in scenes if scene.split in params.splits for event in scene.events]
    positions = _answer_positions([(_item_id(scene, event), event.reaction) for scene, event in found], seed)
    return [_item(scene, event, names, positions[_item_id(scene, event)], seed) for scene, event in found]


def describe_items(items: Sequence[Item]) -> Json:
    """Counts for metrics/items.json: by label, by split, and how often the right answer stands at each letter."""
    labels, splits = Counter(item.answer for item in items), Counter(item.split for item in items)
    letters = Counter(LETTERS[item.options.index(item.answer)] for item in items)
    return {
        "items": len(items),
        "scenes": len({item.scene_id for item in items}),
        "by_label": {label: labels[label] for label in REACTIONS},
        "by_split": {split: splits[split] for split in SPLITS},
        "answer_at": {letter: letters[letter] for letter in LETTERS},
    }


def clock(time_ms: int) -> str:
    """A time for people: minutes, seconds and tenths, such as "0:07.3"."""
    tenths = (time_ms + 50) // 100
    return f"{tenths // 600}:{tenths // 10 % 60:02d}.{tenths % 10}"


def _item_id(scene: MixedScene, event: PlacedEvent) -> str:
    return f"reactions-{scene.scene_id}-{event.event}"


def _item(scene: MixedScene, event: PlacedEvent, names: Mapping[str, str], position: int, seed: int) -> Item:
    if event.sound not in names:
        raise InputError("scenes.jsonl", f"{scene.scene_id}.events.{event.event}.sound", event.sound, "a catalog sound")
    item_id = _item_id(scene, event)
    options = KeyedRandom(seed, "option_order", item_id).shuffled([r for r in REACTIONS if r != event.reaction])
    options.insert(position, event.reaction)
    time_ms = (event.start_sample * 1000 + SAMPLE_RATE // 2) // SAMPLE_RATE
    return Item(
        item_id=item_id,
        task="reactions",
        scene_id=scene.scene_id,
        template_id=scene.template_id,
        split=scene.split,
        audio=scene.path,
        audio_sha256=scene.sha256,
        event=event.event,
        reveal="time_and_name",
        time_ms=time_ms,
        sound=event.sound,
        sound_name=names[event.sound],
        question=f"How do the speakers react to the sound ({names[event.sound]}) at {clock(time_ms)}?",
        options=tuple(options),
        definitions=tuple(DEFINITIONS[option] for option in options),
        answer=event.reaction,
    )


def _answer_positions(labelled: Sequence[tuple[str, str]], seed: int) -> dict[str, int]:
    """Blocks of four items of one label get the four positions in drawn order; a last, smaller block the least used."""
    positions: dict[str, int] = {}
    used = [0, 0, 0, 0]
    for label in REACTIONS:
        ids = [item_id for item_id, its_label in labelled if its_label == label]
        for start in range(0, len(ids), 4):
            block = ids[start : start + 4]
            drawn = KeyedRandom(seed, "answer_position", label, start // 4).shuffled(range(4))
            wanted = set(sorted(drawn, key=used.__getitem__)[: len(block)])
            for item_id, position in zip(block, (p for p in drawn if p in wanted), strict=True):
                positions[item_id] = position
                used[position] += 1
    return positions
