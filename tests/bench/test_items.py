"""Items: what each task asks, about what, and that nothing but the recording gives the answer away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.bench.items import build_items
from cares.bench.items_params import ItemsParams
from cares.bench.options import read_confusable_locations
from cares.bench.questions import DEFINITIONS, Questions, clock
from cares.catalog.catalog import Catalog
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE
from cares.records.item import Counterfactual, Item
from cares.records.scene import REACTIONS, SPLITS, Reaction
from cares.records.timeline import MixedScene

MakeScene = Callable[..., MixedScene]
MakeItems = Callable[..., list[Item]]
Muted = Callable[[Sequence[MixedScene]], list[Counterfactual]]
SCENES = st.lists(
    st.tuples(st.lists(st.sampled_from(REACTIONS), max_size=3).map(tuple), st.sampled_from(SPLITS)),
    min_size=1,
    max_size=30,
)
SECTION = {
    "tasks": ["scene", "sounds", "reactions", "grounding", "summary"],
    "splits": ["train", "validation", "test"],
    "reaction_levels": ["time"],
    "grounding_splits": ["test"],
    "summary_words": [25],
}


def made(make_scene: MakeScene, drawn: Sequence[tuple[tuple[Reaction, ...], str]]) -> list[MixedScene]:
    return [make_scene(number, reactions, split=split) for number, (reactions, split) in enumerate(drawn)]


def content(items: Sequence[Item]) -> dict[str, Item]:
    return {item.item_id: item for item in items}


def test_every_event_and_every_scene_is_asked_about(items: list[Item], scenes: list[MixedScene]) -> None:
    counts = Counter(item.group for item in items)
    events = sum(len(scene.events) for scene in scenes)
    assert counts == {
        "scene": len(scenes),
        "sounds": events,
        "reactions-time": events,
        "reactions-time_and_name": events,
        "reactions-neither": events,
        "grounding-original": events,
        "grounding-muted": events,
        "summary-25": len(scenes),
        "summary-75": len(scenes),
        "summary-200": len(scenes),
    }
    assert len(content(items)) == len(items)
    assert {item.item_id for item in items} >= {"reactions-neither/t00003-0/2", "scene/t00000-0", "sounds/t00001-0/0"}


def test_a_question_reveals_what_its_level_says(items: list[Item], scenes: list[MixedScene]) -> None:
    for item in items:
        if item.task != "reactions":
            continue
        scene = next(scene for scene in scenes if scene.scene_id == item.scene_id)
        assert item.event is not None and item.time_ms is not None
        assert abs(item.time_ms - scene.events[item.event].start_sample * 1000 / SAMPLE_RATE) <= 0.5
        assert (clock(item.time_ms) in item.question) == (item.level != "neither")
        assert (item.sound_name in item.question) == (item.level == "time_and_name")
        ordinal = ("first", "second", "third")[item.event]
        assert (f"the {ordinal} of these sounds" in item.question) == (item.level == "neither")
        assert item.answer == scene.events[item.event].reaction


def test_all_levels_show_the_same_options_in_the_same_order(items: list[Item]) -> None:
    orders: dict[tuple[str, int | None], set[tuple[str, ...]]] = {}
    for item in items:
        if item.task == "reactions":
            orders.setdefault((item.scene_id, item.event), set()).add(item.choices)
    assert all(len(order) == 1 for order in orders.values())


def test_every_option_stands_in_the_question_behind_its_letter(items: list[Item]) -> None:
    for item in items:
        for letter, choice, text in zip(item.letters, item.choices, item.texts, strict=True):
            line = f"{letter}) {choice}: {DEFINITIONS[choice]}" if item.task == "reactions" else f"{letter}) {text}"
            assert line in item.question.splitlines()


def test_no_question_holds_the_name_of_a_file_or_a_label_beside_its_options(items: list[Item]) -> None:
    for item in items:
        assert item.scene_id not in item.question
        if item.task != "reactions":
            assert not any(label in item.question for label in REACTIONS)


def test_halves_of_a_pair_differ_in_their_recording_only(items: list[Item]) -> None:
    pairs: dict[str, dict[str, Item]] = {}
    for item in items:
        if item.task == "grounding":
            pairs.setdefault(item.pair, {})[item.level] = item
    assert pairs
    for halves in pairs.values():
        original, muted = halves["original"], halves["muted"]
        assert (original.answer, muted.answer) == ("yes", "no")
        assert original.question == muted.question and original.sound_name in original.question
        assert original.audio == f"data/scenes/{original.scene_id}.wav"
        assert muted.audio == f"data/bench/counterfactuals/{muted.scene_id}-{muted.event}.wav"
        assert muted.audio_sha256 != original.audio_sha256


def test_a_summary_is_asked_for_without_a_hint_at_sounds(items: list[Item], scenes: list[MixedScene]) -> None:
    for item in items:
        if item.task == "summary":
            scene = next(scene for scene in scenes if scene.scene_id == item.scene_id)
            assert f" {item.words} words" in item.question
            assert "sound" not in item.question and "noise" not in item.question
            assert [(told.event, told.label) for told in item.references] == [
                (event.event, event.reaction) for event in scene.events
            ]


@settings(max_examples=30, deadline=None)
@given(drawn=SCENES, seed=st.integers(0, 5))
def test_distractors_are_absent_and_nothing_alike_stands_together(
    make_scene: MakeScene, make_items: MakeItems, catalog: Catalog, drawn: list, seed: int
) -> None:
    scenes = {scene.scene_id: scene for scene in made(make_scene, drawn)}
    alike = read_confusable_locations(catalog.locations)
    for item in make_items(list(scenes.values()), "scene", "sounds", seed=seed):
        assert item.choices.count(item.answer) == 1
        scene = scenes[item.scene_id]
        others = set(item.choices) - {item.answer}
        for one in item.choices:
            confusable = alike[one] if item.task == "scene" else catalog.confusable(one)
            assert not confusable & set(item.choices)
        if item.task == "scene":
            assert item.answer == scene.location
            continue
        present = {event.sound for event in scene.events}
        assert item.answer in present and not others & present
        for other in others:
            assert scene.location in catalog.sounds[other].locations
            assert not catalog.confusable(other) & present


@settings(max_examples=30, deadline=None)
@given(drawn=SCENES, seed=st.integers(0, 5))
def test_answers_are_even_over_positions(make_scene: MakeScene, make_items: MakeItems, drawn: list, seed: int) -> None:
    items = make_items(made(make_scene, drawn), "scene", "sounds", "reactions", "grounding", seed=seed)
    cells: dict[tuple[object, ...], Counter[int]] = {}
    sizes: dict[tuple[object, ...], int] = {}
    for item in items:
        label = item.references[0].label if item.references else item.answer
        for key in ((item.group, item.split), (item.group, item.split, label)):
            cells.setdefault(key, Counter())[item.position] += 1
            sizes[key] = len(item.choices)
    for key, counts in cells.items():
        places = [counts[place] for place in range(sizes[key])]
        assert max(places) - min(places) <= 1, key
    halves = Counter(item.position for item in items if item.task == "grounding")
    assert halves[0] == halves[1]


def test_all_orders_of_the_other_options_occur(make_scene: MakeScene, make_items: MakeItems) -> None:
    scenes = [make_scene(number, ("verbal", "ambient", "pivot")) for number in range(100)]
    items = [item for item in make_items(scenes, "reactions") if item.answer == "verbal" and item.level == "time"]
    orders = Counter(tuple(choice for choice in item.choices if choice != "verbal") for item in items)
    assert len(orders) == 6
    assert max(orders.values()) < 40


def test_the_same_seed_gives_the_same_items_and_another_seed_others(
    make_items: MakeItems, scenes: list[MixedScene]
) -> None:
    assert make_items(scenes, seed=7) == make_items(scenes, seed=7)
    one, other = make_items(scenes, seed=7), make_items(scenes, seed=8)
    for task in ("scene", "sounds", "reactions", "grounding"):
        assert [item.order for item in one if item.task == task] != [item.order for item in other if item.task == task]


@settings(max_examples=20, deadline=None)
@given(drawn=SCENES, more=SCENES)
def test_more_scenes_leave_earlier_items_alone_but_for_unfinished_blocks(
    make_scene: MakeScene, make_items: MakeItems, drawn: list, more: list
) -> None:
    scenes = made(make_scene, [*drawn, *more])
    few, many = content(make_items(scenes[: len(drawn)])), content(make_items(scenes))
    assert few.keys() <= many.keys()
    moved: Counter[tuple[str, str, str]] = Counter()
    for name, item in few.items():
        assert set(many[name].choices) == set(item.choices) and many[name].answer == item.answer
        if many[name] != item:
            label = item.references[0].label if item.references else item.answer
            moved[item.group, item.split, label] += 1
    for (group, *_), count in moved.items():
        assert count <= (1 if group.startswith("grounding") else 3)


def test_a_split_does_not_depend_on_the_others(make_scene: MakeScene, make_items: MakeItems) -> None:
    test = [make_scene(number, ("verbal", "pivot"), split="test") for number in range(20, 27)]
    train = [make_scene(number, ("ambient", "verbal", "behavioral")) for number in range(9)]
    alone, beside = content(make_items(test)), content(make_items([*train, *test]))
    assert all(beside[name] == item for name, item in alone.items())


def test_a_task_does_not_depend_on_the_others(make_items: MakeItems, scenes: list[MixedScene]) -> None:
    every = content(make_items(scenes))
    assert all(every[item.item_id] == item for item in make_items(scenes, "reactions", "sounds"))


def test_only_the_wanted_splits_levels_and_lengths(
    scenes: list[MixedScene], catalog: Catalog, questions: Questions, counterfactuals: Muted
) -> None:
    params = ItemsParams.parse(SECTION | {"splits": ["validation", "test"]}, "params.yaml", "items")
    items = build_items(scenes, catalog, params, 1, questions, counterfactuals(scenes))
    assert {item.split for item in items} == {"validation", "test"}
    assert {item.split for item in items if item.task == "grounding"} == {"test"}
    groups = {item.group for item in items}
    assert groups == {"scene", "sounds", "reactions-time", "grounding-original", "grounding-muted", "summary-25"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sound": "no_such_sound"}, r"t00001-0.events.0.sound: got 'no_such_sound', expected a sound of the catalog"),
        ({"location": "the_moon"}, r"t00001-0.location: got 'the_moon', expected a location of the catalog"),
    ],
)
def test_what_the_catalog_does_not_hold_is_an_error(
    make_items: MakeItems, scenes: list[MixedScene], change: dict[str, str], message: str
) -> None:
    scene = scenes[1]
    if "sound" in change:
        scenes[1] = scene.model_copy(update={"events": (scene.events[0].model_copy(update=change),)})
    else:
        scenes[1] = scene.model_copy(update=change)
    for tasks in ((), ("sounds",)):
        with pytest.raises(InputError, match=message):
            make_items(scenes, *tasks)


def test_a_missing_or_outdated_counterfactual_is_an_error_that_says_what_to_run(
    scenes: list[MixedScene], catalog: Catalog, questions: Questions, counterfactuals: Muted
) -> None:
    params = ItemsParams.parse(SECTION | {"grounding_splits": ["train"]}, "params.yaml", "items")
    muted = counterfactuals(scenes)
    for wrong in (muted[1:], [muted[0].model_copy(update={"of_sha256": "0" * 64}), *muted[1:]]):
        with pytest.raises(InputError, match=r"t00001-0/0.of_sha256.*dvc repro counterfactuals"):
            build_items(scenes, catalog, params, 1, questions, wrong)


def test_a_sound_that_occurs_twice_cannot_be_muted(make_items: MakeItems, make_scene: MakeScene) -> None:
    scene = make_scene(1, ("verbal", "ambient"))
    twice = tuple(event.model_copy(update={"sound": "dog_bark"}) for event in scene.events)
    with pytest.raises(InputError, match=r"t00001-0/0.sound: got 'dog_bark', expected a sound that occurs once"):
        make_items([scene.model_copy(update={"events": twice})], "grounding")
