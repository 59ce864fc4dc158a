"""Answers as models give them, and what a fair person would make of each."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cares.bench.items import DEFINITIONS
from cares.bench.parse import parse_answer
from cares.records.item import Item
from cares.records.scene import REACTIONS

ITEM = Item(
    item_id="reactions-t00000-0-0",
    task="reactions",
    scene_id="t00000-0",
    template_id="t00000",
    split="train",
    audio="data/scenes/t00000-0.wav",
    audio_sha256="0" * 64,
    event=0,
    reveal="time_and_name",
    time_ms=1000,
    sound="dog_bark",
    sound_name="dog bark",
    question="How do the speakers react?",
    options=("pivot", "verbal", "behavioral", "ambient"),
    definitions=tuple(DEFINITIONS[label] for label in REACTIONS),
    answer="verbal",
)

READABLE = [
    ("ambient", "ambient"),
    ("ambient.", "ambient"),
    ("Ambient", "ambient"),
    ("  AMBIENT!\n", "ambient"),
    ("**verbal**", "verbal"),
    ("`pivot`", "pivot"),
    ('"behavioral"', "behavioral"),
    ("'verbal'.", "verbal"),
    ("behavioural", "behavioral"),
    ("verbally", "verbal"),
    ("The conversation pivots to the dog.", "pivot"),
    ('{"reaction":"ambient"}', "ambient"),
    ('{"reaction": "ambient", "reason": "nothing verbal is said"}', "ambient"),
    ('```json\n{"answer": "B"}\n```', "verbal"),
    ('{"Final Answer": "C) behavioral"}', "behavioral"),
    ('{"x": "pivot"}', "pivot"),
    ('["ambient"]', "ambient"),
    ('"D"', "ambient"),
    ('Sure! {"reaction": "ambient"}', "ambient"),
    ("B) verbal", "verbal"),
    ("B) verbal: one short remark on the sound, then their topic goes on", "verbal"),
    ("B", "verbal"),
    ("b", "verbal"),
    ("(B)", "verbal"),
    ("[C]", "behavioral"),
    ("A.", "pivot"),
    ("a)", "pivot"),
    ("A", "pivot"),
    ("D:", "ambient"),
    ("**B**", "verbal"),
    ("B\nverbal", "verbal"),
    ("B - verbal", "verbal"),
    ("B verbal", "verbal"),
    ("Ｂ）verbal", "verbal"),
    ("Option C", "behavioral"),
    ("option C.", "behavioral"),
    ("Answer: A", "pivot"),
    ("Answer: (D)", "ambient"),
    ("ANSWER: B", "verbal"),
    ("The answer is verbal", "verbal"),
    ("The answer is B.", "verbal"),
    ("The answer is A.", "pivot"),
    ("The correct answer is C) behavioral.", "behavioral"),
    ("I'd say D.", "ambient"),
    ("It is C, the speaker breaks off.", "behavioral"),
    ("The reaction is ambient because nobody notices.", "ambient"),
    ("verbal, not ambient", "verbal"),
    ("It isn't verbal. It's ambient.", "ambient"),
    ("This is pivot rather than verbal.", "pivot"),
    ("They make no verbal comment, so it is ambient.", "ambient"),
    ("Neither verbal nor pivot: ambient.", "ambient"),
    ("It could be verbal or ambient. Final answer: ambient", "ambient"),
    ("Pivot means turning to it, ambient means nothing.\nAnswer: B", "verbal"),
    ("Ambient seems likely, but my answer is verbal.", "verbal"),
    ("verbal verbal verbal", "verbal"),
    ("They talk on as if nothing had happened.", "ambient"),
    ("A speaker breaks off, stalls or starts again, but never mentions the sound.", "behavioral"),
    ("<think>Could be pivot or ambient.</think>\nverbal", "verbal"),
    ("Speaker B talks on: ambient", "ambient"),
    ("How do the speakers react? ambient", "ambient"),
    ("No, it is pivot.", "pivot"),
    ("Reaction: behavioral", "behavioral"),
    ("A behavioral reaction", "behavioral"),
    ("a verbal remark", "verbal"),
]

UNREADABLE = [
    "verbal or ambient",
    "verbal/ambient",
    "Either pivot or verbal.",
    "B and C",
    "B or D",
    "B) ambient",
    "A) verbal",
    "Option A or option B",
    "The answer is verbal or ambient.",
    "The speakers react in a verbal way at first and the dog is ambient later.",
    "pivot, verbal, behavioral, ambient",
    "not ambient",
    "It is not verbal.",
    "I don't think it's ambient.",
    "I cannot tell whether it is verbal.",
    "It is unclear if this is pivot",
    "I'm sorry, I can't help with that.",
    "none of the above",
    "all of them",
    "non-verbal",
    "nonverbal",
    "ambience",
    "ambiant",
    "2",
    "E",
    "A speaker laughs.",
    "The answer is A dog barks loudly.",
    "Speaker B says nothing.",
    "...",
    "{}",
    "[]",
    '{"reaction": null}',
    '{"verbal": false}',
    '{"answer": "B", "reaction": "ambient"}',
    '{"reaction": ["verbal", "ambient"]}',
    "<think>verbal",
    "The dog barks.",
    "Answer:",
    "Answer: verbal. Or rather ambient.",
]


@pytest.mark.parametrize(("text", "label"), READABLE)
def test_one_label_is_meant(text: str, label: str) -> None:
    assert parse_answer(text, "stop", ITEM) == ("ok", label)


@pytest.mark.parametrize("text", UNREADABLE)
def test_not_one_label_is_meant(text: str) -> None:
    assert parse_answer(text, "stop", ITEM) == ("unreadable", None)


@pytest.mark.parametrize("text", ["", "  ", "\n\t", "\u00a0"])
def test_nothing_is_said(text: str) -> None:
    assert parse_answer(text, "stop", ITEM) == ("empty", None)


@pytest.mark.parametrize(
    ("text", "status", "label"),
    [
        ("verbal because the speaker remarks on the", "ok", "verbal"),
        ("B) verbal: one short remark on", "ok", "verbal"),
        ("**ambient**\n\nThe speakers", "ok", "ambient"),
        ('{"reaction": "ambient", "reason": "they', "ok", "ambient"),
        ("The answer is pivot. They", "ok", "pivot"),
        ("verbal or", "truncated", None),
        ("The speakers react to the sound in a verbal", "truncated", None),
        ("The options are pivot,", "truncated", None),
        ("Let us look at what the speakers", "truncated", None),
        ("<think>The dog", "truncated", None),
        ("", "empty", None),
    ],
)
def test_a_text_that_was_cut(text: str, status: str, label: str | None) -> None:
    assert parse_answer(text, "length", ITEM) == (status, label)


def test_a_failed_request_is_an_error_whatever_its_text() -> None:
    assert parse_answer("verbal", "error", ITEM) == ("error", None)


def test_letters_follow_the_order_of_the_item() -> None:
    turned = ITEM.model_copy(update={"options": ("ambient", "pivot", "verbal", "behavioral")})
    assert parse_answer("A)", "stop", turned) == ("ok", "ambient")
    assert parse_answer("B) pivot", "stop", turned) == ("ok", "pivot")
    assert parse_answer("B) verbal", "stop", turned) == ("unreadable", None)


def test_definitions_name_no_label() -> None:
    assert not [(label, text) for label in REACTIONS for text in DEFINITIONS.values() if label in text]


@given(st.text(max_size=200), st.sampled_from(["stop", "length", "error"]))
def test_any_text_gets_a_status(text: str, finish_reason: str) -> None:
    status, label = parse_answer(text, finish_reason, ITEM)
    assert (status == "ok") == (label is not None)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    )
)
def test_any_json_gets_a_status(value: object) -> None:
    status, label = parse_answer(json.dumps(value), "stop", ITEM)
    assert (status == "ok") == (label is not None)


@given(st.sets(st.sampled_from(REACTIONS), min_size=2), st.sampled_from([" ", ", ", " or ", "/", " and ", "\n"]))
def test_two_labels_side_by_side_are_never_read(labels: set[str], joint: str) -> None:
    assert parse_answer(joint.join(sorted(labels)), "stop", ITEM) == ("unreadable", None)
