"""The file of items: what a record refuses, what reading checks across lines, and the counts of the metrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from cares.bench.items_file import describe_items, read_items, read_scenes
from cares.core.canonical import file_digest
from cares.core.errors import InputError
from cares.core.record import write_records
from cares.records.item import Item
from cares.records.timeline import MixedScene


def of_group(items: list[Item], group: str) -> Item:
    return next(item for item in items if item.group == group)


@pytest.mark.parametrize(
    ("group", "change", "message"),
    [
        ("reactions-time", {"level": "name"}, "has the levels time, time_and_name, neither, not 'name'"),
        ("scene", {"level": "time"}, "not 'time'"),
        ("scene", {"answer": "the_moon"}, "must hold the answer"),
        ("scene", {"answer": ""}, "must hold the answer"),
        ("summary-25", {"answer": "A"}, "must hold the answer"),
        ("sounds", {"choices": ["a", "b", "c"]}, "4 different choices"),
        ("sounds", {"choices": ["a", "b", "c", "c"]}, "4 different choices"),
        ("sounds", {"texts": ["a", "b", "c", "c"]}, "a text for each"),
        ("grounding-muted", {"texts": ["yes"]}, "a text for each"),
        ("reactions-time", {"order": [0, 1, 2, 2]}, "no permutation"),
        ("reactions-time", {"order": []}, "no permutation"),
        ("reactions-time", {"choices": ["pivot", "verbal", "behavioral", "loud"]}, "are not pivot, verbal"),
        ("grounding-original", {"choices": ["yes", "maybe"], "answer": "yes"}, "are not yes, no"),
        ("reactions-time", {"event": None}, "event None does not go with task 'reactions'"),
        ("scene", {"time_ms": 5}, "time_ms 5 does not go with task 'scene'"),
        ("sounds", {"sound_name": ""}, "sound_name '' does not go with"),
        ("grounding-original", {"pair": ""}, "pair '' does not go with"),
        ("sounds", {"pair": "x"}, "pair 'x' does not go with"),
        ("summary-25", {"words": 75}, "words 75 do not go with 'summary-25'"),
        ("scene", {"words": 25}, "words 25 do not go with 'scene'"),
        ("sounds", {"references": []}, "references must hold event"),
        ("scene", {"question": ""}, "at least 1 character"),
        ("scene", {"audio_sha256": "00"}, "match pattern"),
        ("scene", {"options": []}, "no such key"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(
    items: list[Item], group: str, change: dict[str, object], message: str
) -> None:
    value = of_group(items, group).to_json()
    with pytest.raises(InputError, match=message):
        Item.parse(value | change, "items.jsonl", "line 1")


def test_an_order_that_does_not_give_the_choices_is_refused(items: list[Item]) -> None:
    value = of_group(items, "sounds").to_json()
    turned = [*value["order"][1:], value["order"][0]]
    with pytest.raises(InputError, match="does not give"):
        Item.parse(value | {"order": turned}, "items.jsonl", "line 1")


def test_items_are_written_and_read_alike(items: list[Item], tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    write_records(path, items)
    first = file_digest(path)
    assert read_items(path) == items
    write_records(path, read_items(path))
    assert file_digest(path) == first


def test_an_id_that_occurs_twice_is_an_error_with_both_lines(items: list[Item], tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    write_records(path, [*items[:3], items[0]])
    with pytest.raises(InputError, match=r"line 4.item_id: .*not already in line 1"):
        read_items(path)


def test_a_pair_without_its_other_half_is_an_error(items: list[Item], tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    muted, original = of_group(items, "grounding-muted"), of_group(items, "grounding-original")
    write_records(path, [muted])
    with pytest.raises(InputError, match=r"got \['muted'\], expected an original and a muted half"):
        read_items(path)
    for change in ({"question": "Another one?"}, {"audio_sha256": muted.audio_sha256}):
        write_records(path, [muted, original.model_copy(update=change)])
        with pytest.raises(InputError, match="the same question and different recordings"):
            read_items(path)


def test_scenes_are_read_without_their_words(scenes: list[MixedScene], tmp_path: Path) -> None:
    path = tmp_path / "scenes.jsonl"
    write_records(path, scenes)
    assert read_scenes(path) == [scene.model_copy(update={"words": ()}) for scene in scenes]


@pytest.mark.parametrize(
    ("line", "message"), [("{", "line 2.*valid JSON"), ("[]", "line 2"), ('{"scene_id":"x"}', "line 2.*to be present")]
)
def test_a_line_that_is_no_scene_is_an_error(scenes: list[MixedScene], tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "scenes.jsonl"
    write_records(path, scenes[:1])
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_scenes(path)


def test_counts_for_the_metrics(items: list[Item]) -> None:
    told = describe_items(items)
    assert told["items"] == sum(told["by_split"].values()) == len(items)
    assert sum(about["items"] for about in told["groups"].values()) == len(items)
    assert told["groups"]["scene"].keys() == {"items", "by_split", "answer_at"}
    assert told["groups"]["summary-25"].keys() == {"items", "by_split"}
    for group in ("sounds", "reactions-neither", "grounding-muted"):
        about = told["groups"][group]
        assert sum(about["by_label"].values()) == sum(about["answer_at"].values()) == about["items"]
