"""Items: one an event, frozen, and nothing in the order of options that gives the answer away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.bench.items import build_items, clock, describe_items
from cares.bench.params import ItemsParams
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE
from cares.records.scene import REACTIONS
from cares.records.timeline import MixedScene

ALL = ItemsParams(tasks=("reactions",), splits=("train", "validation", "test"))
MakeScene = Callable[..., MixedScene]
COMPOSITIONS = st.lists(st.lists(st.sampled_from(REACTIONS), max_size=3).map(tuple), min_size=1, max_size=30)


def test_one_item_an_event_in_the_order_of_the_scenes(names: dict[str, str], scenes: list[MixedScene]) -> None:
    items = build_items(scenes, names, ALL, 7)
    events = [(scene.scene_id, event.event, event.reaction) for scene in scenes for event in scene.events]
    assert [(item.scene_id, item.event, item.answer) for item in items] == events
    assert len({item.item_id for item in items}) == len(items)


def test_the_question_names_the_sound_and_its_time(names: dict[str, str], scenes: list[MixedScene]) -> None:
    item = build_items(scenes, names, ALL, 7)[0]
    scene = next(scene for scene in scenes if scene.scene_id == item.scene_id)
    exact = scene.events[0].start_sample * 1000 / SAMPLE_RATE
    assert abs(item.time_ms - exact) <= 0.5
    assert names[item.sound] in item.question
    assert clock(item.time_ms) in item.question
    assert item.audio_sha256 == scene.sha256


def test_only_the_wanted_splits(names: dict[str, str], scenes: list[MixedScene]) -> None:
    wanted = ItemsParams(tasks=("reactions",), splits=("test",))
    assert {item.split for item in build_items(scenes, names, wanted, 7)} == {"test"}


@settings(max_examples=40, deadline=None)
@given(COMPOSITIONS, st.integers(0, 5))
def test_answers_are_even_over_positions_for_each_label_and_in_total(
    make_scene: MakeScene, names: dict[str, str], compositions: list[tuple[str, ...]], seed: int
) -> None:
    scenes = [make_scene(number, reactions) for number, reactions in enumerate(compositions)]
    items = build_items(scenes, names, ALL, seed)
    at = [(item.answer, item.options.index(item.answer)) for item in items]
    for label in (*REACTIONS, None):
        counts = Counter(position for answer, position in at if label in (answer, None))
        assert max(counts.values(), default=0) - min((counts[p] for p in range(4)), default=0) <= 1
    for item in items:
        assert sorted(item.options) == sorted(REACTIONS)


def test_all_orders_of_the_other_options_occur(make_scene: MakeScene, names: dict[str, str]) -> None:
    scenes = [make_scene(number, ("verbal", "ambient", "pivot")) for number in range(100)]
    items = [item for item in build_items(scenes, names, ALL, 7) if item.answer == "verbal"]
    orders = Counter(tuple(option for option in item.options if option != "verbal") for item in items)
    assert len(orders) == 6
    assert max(orders.values()) < 40


def test_another_seed_gives_another_order_and_the_same_seed_the_same(
    names: dict[str, str], scenes: list[MixedScene]
) -> None:
    assert build_items(scenes, names, ALL, 7) == build_items(scenes, names, ALL, 7)
    assert build_items(scenes, names, ALL, 7) != build_items(scenes, names, ALL, 8)


def test_more_scenes_leave_whole_blocks_of_the_earlier_items_alone(
    make_scene: MakeScene, names: dict[str, str]
) -> None:
    few = [make_scene(number, ("verbal",)) for number in range(8)]
    more = [*few, *(make_scene(number, ("verbal",)) for number in range(8, 11))]
    assert build_items(more, names, ALL, 7)[:8] == build_items(few, names, ALL, 7)


def test_a_sound_without_a_name_is_an_error(scenes: list[MixedScene]) -> None:
    with pytest.raises(InputError, match=r"t00001-0.*sound.*expected a catalog sound"):
        build_items(scenes, {}, ALL, 7)


def test_counts_for_the_metrics(names: dict[str, str], scenes: list[MixedScene]) -> None:
    items = build_items(scenes, names, ALL, 7)
    found = describe_items(items)
    assert found["items"] == sum(found["by_label"].values()) == sum(found["by_split"].values()) == len(items)
    assert sum(found["answer_at"].values()) == len(items)


@pytest.mark.parametrize(
    ("section", "field"),
    [
        ({"tasks": ["reactions"], "splits": []}, "splits"),
        ({"tasks": ["reactions"], "splits": ["dev"]}, "splits"),
        ({"tasks": ["reactions"], "splits": ["test", "test"]}, "splits"),
        ({"tasks": ["reaction"], "splits": ["test"]}, "tasks"),
        ({"tasks": ["reactions"], "splits": ["test"], "split": 1}, "split"),
    ],
)
def test_a_wrong_section_is_an_error_with_its_field(section: dict[str, object], field: str) -> None:
    with pytest.raises(InputError, match=rf"params.yaml: items\.{field}"):
        ItemsParams.parse(section, "params.yaml", "items")


@pytest.mark.parametrize(
    ("time_ms", "text"), [(0, "0:00.0"), (7349, "0:07.3"), (59_960, "1:00.0"), (119_949, "1:59.9")]
)
def test_clock(time_ms: int, text: str) -> None:
    assert clock(time_ms) == text
