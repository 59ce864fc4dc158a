"""Scores against answers worked out by hand and against an independent implementation."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from cares.bench.items import DEFINITIONS
from cares.bench.scores import collapse, confusion, interval, score
from cares.core.errors import InputError
from cares.records.answer import Answer
from cares.records.item import Item
from cares.records.scene import REACTIONS

Rows = list[tuple[str, str | None, int]]


def build(rows: Rows) -> tuple[list[Item], list[Answer]]:
    """Items and answers from (right label, choice, template number)."""
    items, answers = [], []
    for number, (label, choice, template) in enumerate(rows):
        options = REACTIONS[number % 4 :] + REACTIONS[: number % 4]
        items.append(
            Item(
                item_id=f"i{number}",
                task="reactions",
                scene_id=f"t{template:05d}-0",
                template_id=f"t{template:05d}",
                split="train",
                audio="a.wav",
                audio_sha256="0" * 64,
                event=0,
                reveal="time_and_name",
                time_ms=0,
                sound="dog_bark",
                sound_name="dog bark",
                question="?",
                options=options,
                definitions=tuple(DEFINITIONS[option] for option in options),
                answer=label,
            )
        )
        answers.append(
            Answer(
                item_id=f"i{number}",
                system="test",
                text=choice or "",
                finish_reason="stop",
                status="ok" if choice else "empty",
                choice=choice,
            )
        )
    return items, answers


def test_a_known_confusion() -> None:
    rows: Rows = [
        *[("pivot", "pivot", n) for n in range(3)],
        ("pivot", "verbal", 3),
        *[("verbal", "verbal", n) for n in range(2)],
        ("verbal", "ambient", 2),
        ("verbal", None, 3),
        *[("behavioral", "ambient", n) for n in range(4)],
        *[("ambient", "ambient", n) for n in range(6)],
        *[("ambient", "pivot", n) for n in range(2)],
    ]
    found = score(*build(rows), 200, 1)
    assert found["recall"] == {"pivot": 0.75, "verbal": 0.5, "behavioral": 0.0, "ambient": 0.75}
    assert found["balanced_accuracy"]["value"] == 0.5
    assert found["accuracy"] == round(11 / 20, 4)
    assert (found["n"], found["unreadable"], found["templates"]) == (20, 1, 6)
    assert found["unreadable_as"] == {"unreadable": 0, "empty": 1, "truncated": 0, "error": 0}


def test_a_constant_answer_has_a_quarter_and_full_collapse() -> None:
    rows: Rows = [(label, "ambient", n) for n in range(5) for label in REACTIONS]
    found = score(*build(rows), 200, 1)
    assert found["balanced_accuracy"] == {"value": 0.25, "ci95": {"low": 0.25, "high": 0.25}}
    assert found["collapse"] == {"index": 1.0, "most_given": "ambient", "share": 1.0}


def test_a_perfect_system_has_one_and_a_point_interval() -> None:
    found = score(*build([(label, label, n) for n in range(5) for label in REACTIONS]), 200, 1)
    assert found["balanced_accuracy"] == {"value": 1.0, "ci95": {"low": 1.0, "high": 1.0}}
    assert found["collapse"]["index"] == 0.0


def test_nothing_readable() -> None:
    found = score(*build([(label, None, n) for n in range(3) for label in REACTIONS]), 200, 1)
    assert found["balanced_accuracy"]["value"] == 0.0
    assert found["unreadable"] == 12
    assert found["collapse"] == {"index": None, "most_given": None, "share": None}
    assert set(found["order"]["chosen"].values()) == {None}


def test_collapse_of_two_labels_in_equal_parts_is_a_half() -> None:
    _, answers = build([("pivot", choice, 0) for choice in ("verbal", "ambient", None) * 2])
    assert collapse(answers) == {"index": 0.5, "most_given": "verbal", "share": 0.5}


def test_a_label_that_does_not_occur_is_left_out_of_the_mean() -> None:
    found = score(*build([("verbal", "verbal", 0), ("verbal", "pivot", 1), ("ambient", "ambient", 2)]), 200, 1)
    assert found["recall"] == {"pivot": None, "verbal": 0.5, "behavioral": None, "ambient": 1.0}
    assert found["balanced_accuracy"]["value"] == 0.75


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(REACTIONS), st.sampled_from(REACTIONS), st.integers(0, 6)), min_size=1))
def test_balanced_accuracy_is_that_of_scikit_learn(rows: Rows) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = balanced_accuracy_score([row[0] for row in rows], [row[1] for row in rows])
    found = score(*build(rows), 100, 1)["balanced_accuracy"]
    assert math.isclose(found["value"], expected, abs_tol=5.1e-5)
    assert 0 <= found["ci95"]["low"] <= found["ci95"]["high"] <= 1


def test_the_interval_is_clustered_by_template() -> None:
    draw = np.random.default_rng(0)
    together: Rows = []
    apart: Rows = []
    for template in range(60):
        right = bool(draw.random() < 0.5)
        for number, label in enumerate(REACTIONS * 3):
            choice = label if right else REACTIONS[(REACTIONS.index(label) + 1) % 4]
            together.append((label, choice, template))
            apart.append((label, choice, template * 12 + number))
    wide, narrow = (interval(*build(rows), 1000, 1) for rows in (together, apart))
    assert (wide[1] - wide[0]) > 2 * (narrow[1] - narrow[0])


def test_the_interval_agrees_with_a_plain_resampling_loop() -> None:
    draw = np.random.default_rng(3)
    rows: Rows = [
        (REACTIONS[draw.integers(4)], REACTIONS[draw.integers(4)], int(template))
        for template in draw.integers(0, 40, 400)
    ]
    by_template = [[row for row in rows if row[2] == template] for template in range(40)]
    values = []
    for _ in range(1000):
        sample = [row for template in draw.integers(0, 40, 40) for row in by_template[template]]
        values.append(np.mean([np.mean([r[1] == label for r in sample if r[0] == label]) for label in REACTIONS]))
    low, high = interval(*build(rows), 4000, 1)
    assert abs(low - np.quantile(values, 0.025)) < 0.012
    assert abs(high - np.quantile(values, 0.975)) < 0.012


def test_the_interval_covers_the_true_value_about_as_often_as_it_says() -> None:
    draw = np.random.default_rng(5)
    covered = 0
    for _ in range(100):
        rows: Rows = [
            (label, label if draw.random() < 0.6 else "pivot" if label != "pivot" else "verbal", template)
            for template in range(50)
            for label in REACTIONS
        ]
        low, high = interval(*build(rows), 300, 1)
        covered += low <= 0.6 <= high
    assert 86 <= covered <= 100


def test_order_of_options_shows_in_the_metrics() -> None:
    items, answers = build([(label, None, n) for n in range(4) for label in REACTIONS])
    always_first = [
        answer.model_copy(update={"choice": item.options[0], "status": "ok"})
        for item, answer in zip(items, answers, strict=True)
    ]
    order = score(items, always_first, 100, 1)["order"]
    assert order["chosen"] == {"A": 1.0, "B": 0.0, "C": 0.0, "D": 0.0}
    assert order["accuracy_when_right_at"]["A"] == 1.0


def test_rows_that_do_not_belong_together_are_an_error() -> None:
    items, answers = build([("pivot", "pivot", 0), ("verbal", "verbal", 1)])
    with pytest.raises(InputError, match=r"line 1\.item_id"):
        score(items, answers[::-1], 100, 1)
    with pytest.raises(InputError, match="one answer for each of 2 items"):
        confusion(items, answers[:1])


def test_confusion_rows() -> None:
    assert confusion(*build([("pivot", "verbal", 0), ("ambient", None, 1)])) == [
        ("pivot", "verbal"),
        ("ambient", "unreadable"),
    ]
