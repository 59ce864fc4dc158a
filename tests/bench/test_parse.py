"""Answers as models give them, and what a fair person would make of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cares.bench.parse import parse_answer
from cares.bench.parse_signs import loop_start
from cares.bench.questions import DEFINITIONS
from cares.core.params import read_yaml
from cares.records.answer import STATUSES
from cares.records.item import Item, Reference, canonical_order
from cares.records.scene import REACTIONS

SHOWN: dict[str, dict[str, str]] = {
    "reactions": {label: DEFINITIONS[label] for label in REACTIONS},
    "scene": {
        "train_station": "train station",
        "public_park": "public park",
        "cafe_restaurant": "café or restaurant",
        "beach": "beach",
    },
    "sounds": {
        "dog_bark": "dog bark",
        "car_horn": "car horn",
        "car_passing": "passing car",
        "door_knock": "knock on a door",
    },
    "grounding": {"yes": "yes", "no": "no"},
    "summary": {},
}
LEVEL = {"reactions": "time", "grounding": "original", "summary": "75"}


def make_item(task: Any, shown: dict[str, str] | None = None) -> Item:
    """An item of a task whose options stand in the order given here."""
    shown = SHOWN[task] if shown is None else shown
    choices = tuple(shown)
    fields: dict[str, Any] = {}
    if task in ("reactions", "sounds", "grounding"):
        told = Reference(event=0, sound="dog_bark", sound_name="dog bark", label="verbal", time_ms=1000)
        fields = {"event": 0, "time_ms": 1000, "sound": "dog_bark", "sound_name": "dog bark", "references": (told,)}
    if task == "grounding":
        fields["pair"] = "grounding/t00000-0/0"
    if task == "summary":
        fields["words"] = 75
    return Item(
        item_id=f"{task}/t00000-0",
        task=task,
        level=LEVEL.get(task, ""),
        scene_id="t00000-0",
        template_id="t00000",
        split="train",
        audio="data/scenes/t00000-0.wav",
        audio_sha256="0" * 64,
        question="?",
        choices=choices,
        texts=tuple(shown.values()),
        answer=choices[0] if choices else "",
        order=tuple(canonical_order(task, choices).index(choice) for choice in choices),
        **fields,
    )


ITEMS = {task: make_item(task) for task in SHOWN}
ITEM = ITEMS["reactions"]
RECORDED: Any = read_yaml(Path(__file__).parent / "data/answers.yaml")
CASES = [(task, case) for task, cases in RECORDED.items() for case in cases]


@pytest.mark.parametrize(
    ("task", "case"), CASES, ids=lambda value: str(value)[:60] if isinstance(value, dict) else value
)
def test_a_recorded_answer_is_read_as_a_person_would(task: str, case: dict[str, Any]) -> None:
    reason = "length" if case.get("cut") else "stop"
    assert parse_answer(case["text"], reason, ITEMS[task]) == (case["status"], case.get("choice"))


def test_there_are_many_recorded_answers_of_every_kind() -> None:
    assert len(CASES) >= 250
    seen = {case["status"] for _, case in CASES}
    assert seen == set(STATUSES) - {"error"}
    assert all(sum(case["status"] == status for _, case in CASES) > 5 for status in seen)


def test_a_failed_request_is_an_error_whatever_its_text() -> None:
    assert parse_answer("verbal", "error", ITEM) == ("error", None)


def test_a_filter_of_the_server_is_a_refusal() -> None:
    assert parse_answer("The speakers", "content_filter", ITEM) == ("refused", None)


def test_nothing_but_brackets_is_unreadable() -> None:
    assert parse_answer("[" + "[ab" * 40_000, "stop", ITEM)[1] is None
    assert parse_answer("[" * 3000, "stop", ITEM)[1] is None


def test_letters_follow_the_order_of_the_item() -> None:
    order = ("ambient", "pivot", "verbal", "behavioral")
    turned = make_item("reactions", {label: DEFINITIONS[label] for label in order})
    assert parse_answer("A)", "stop", turned) == ("ok", "ambient")
    assert parse_answer("B) pivot", "stop", turned) == ("ok", "pivot")
    assert parse_answer("B) verbal", "stop", turned) == ("unreadable", None)


@given(st.text(max_size=200), st.sampled_from(["stop", "length", "error"]), st.sampled_from(sorted(ITEMS)))
def test_any_text_gets_a_status(text: str, finish_reason: str, task: str) -> None:
    status, choice = parse_answer(text, finish_reason, ITEMS[task])
    assert status in STATUSES
    assert (choice is not None) == (status == "ok" and task != "summary")
    assert choice is None or choice in ITEMS[task].choices


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    )
)
def test_any_json_gets_a_status(value: object) -> None:
    status, choice = parse_answer(json.dumps(value), "stop", ITEM)
    assert (status == "ok") == (choice is not None)


@given(
    st.sampled_from(sorted(set(SHOWN) - {"summary"})).flatmap(
        lambda task: st.tuples(st.just(task), st.sets(st.sampled_from(sorted(SHOWN[task])), min_size=2))
    ),
    st.sampled_from([" ", ", ", " or ", "/", " and ", "\n"]),
)
def test_two_choices_side_by_side_are_never_read(of_task: tuple[str, set[str]], joint: str) -> None:
    task, choices = of_task
    assert parse_answer(joint.join(sorted(choices)), "stop", ITEMS[task]) == ("unreadable", None)


@given(
    st.sampled_from(sorted(set(SHOWN) - {"summary"})),
    st.integers(0, 3),
    st.sampled_from(["{}", "{})", "({})", "**{}**"]),
)
def test_every_letter_is_read(task: str, at: int, form: str) -> None:
    item = ITEMS[task]
    at %= len(item.choices)
    assert parse_answer(form.format(item.letters[at]), "stop", item) == ("ok", item.choices[at])
    shown = f"{item.letters[at]}) {item.texts[at]}"
    assert parse_answer(shown, "stop", item) == ("ok", item.choices[at])


@given(
    st.lists(st.sampled_from(["the", "dog", "barks", "and", "then", "he"]), min_size=1, max_size=8), st.integers(12, 30)
)
def test_a_unit_said_again_and_again_is_a_loop(unit: list[str], times: int) -> None:
    text = "They talk about the picnic. " + " ".join(unit * max(times, 24 // len(unit) + 1))
    assert loop_start(text) is not None


def test_a_long_text_without_a_loop_is_none() -> None:
    text = " ".join(f"word{number}" for number in range(500))
    assert loop_start(text) is None
    assert loop_start(text + " and so on, and so on, and so on.") is None
