"""Questions about scenes that were added to a set change none before them, nor the waves in which these are asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from cares.bench.ask import waves
from cares.bench.items import build_items
from cares.bench.items_params import ItemsParams
from cares.bench.questions import Questions
from cares.catalog.catalog import Catalog
from cares.records.item import Counterfactual, Item
from cares.records.scene import SPLITS
from cares.records.timeline import MixedScene

PROMPTS = Path(__file__).parents[2] / "prompts"
PARAMS = ItemsParams(
    tasks=("scene", "sounds", "reactions", "grounding", "summary"),
    splits=SPLITS,
    reaction_levels=("time",),
    grounding_splits=SPLITS,
    summary_words=(25,),
)


def test_items_before_an_added_batch_are_the_same_and_asked_in_the_same_waves(
    catalog: Catalog,
    scenes: list[MixedScene],
    counterfactuals: Callable[[Sequence[MixedScene]], list[Counterfactual]],
) -> None:
    start = 7
    added = {scene.scene_id: 1 for scene in scenes[start:]}

    def items(some: list[MixedScene]) -> list[Item]:
        return build_items(some, catalog, PARAMS, 1, Questions(PROMPTS), counterfactuals(some), added)

    before, after = items(scenes[:start]), {item.item_id: item for item in items(scenes)}
    assert [after[item.item_id].to_json() for item in before] == [item.to_json() for item in before]
    fresh = [item for item in after.values() if item.scene_id in added]
    assert fresh and len(before) + len(fresh) == len(after)
    assert all(item.to_json()["added"] == 1 for item in fresh) and "added" not in before[0].to_json()

    def asked(some: Sequence[Item]) -> list[list[str]]:
        return [[some[place].item_id for place in wave] for wave in waves(some, 12, 12)]

    first = asked(before)
    assert asked(list(after.values()))[: len(first)] == first
