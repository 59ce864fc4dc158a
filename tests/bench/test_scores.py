"""Scores against answers worked out by hand, theory, a published table and an independent implementation."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, precision_score, recall_score

from cares.bench.scores import HEADLINES, confusion_rows, headline, metrics, score_tasks
from cares.bench.scores_rows import TASK_KEYS, by_task
from cares.catalog.catalog import Catalog
from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.records.answer import Answer
from cares.records.item import Item
from cares.records.scene import REACTIONS
from tests.bench.answering import answer, answer_by, reaction_item

Rows = list[tuple[str, str | None, int]]


def build(rows: Rows) -> tuple[list[Item], list[Answer]]:
    """Items and answers from (right label, choice, template number)."""
    items = [reaction_item(number, label, template) for number, (label, _, template) in enumerate(rows)]
    return items, [answer(item, choice) for item, (_, choice, _) in zip(items, rows, strict=True)]


def score(rows: Rows, catalog: Catalog, resamples: int = 200) -> Json:
    return score_tasks(*build(rows), catalog, resamples, 1)["reactions-time"]


def values(figures: dict[str, Json]) -> dict[str, float | None]:
    return {label: figure["value"] for label, figure in figures.items()}


def test_a_known_confusion(catalog: Catalog) -> None:
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
    found = score(rows, catalog)
    assert values(found["recall"]) == {"pivot": 0.75, "verbal": 0.5, "behavioral": 0.0, "ambient": 0.75}
    assert values(found["precision"]) == {"pivot": 0.6, "verbal": 0.6667, "behavioral": None, "ambient": 0.5455}
    assert found["precision"]["behavioral"]["ci95"] is None
    assert found["balanced_accuracy"]["value"] == 0.5
    assert found["accuracy_all"]["value"] == round(11 / 20, 4)
    assert found["accuracy_readable"]["value"] == round(11 / 19, 4)
    assert (found["n"], found["unreadable"], found["templates"]) == (20, 1, 6)
    assert found["status"] == {"ok": 19, "empty": 1}
    assert found["chance"] == 0.25
    assert found["confusion"]["answers"] == [*REACTIONS, "unreadable"]
    assert found["confusion"]["counts"] == {
        "pivot": [3, 1, 0, 0, 0],
        "verbal": [0, 2, 0, 1, 1],
        "behavioral": [0, 0, 0, 4, 0],
        "ambient": [2, 0, 0, 6, 0],
    }


def test_a_constant_answer_has_a_quarter_and_full_collapse(catalog: Catalog) -> None:
    found = score([(label, "ambient", n) for n in range(5) for label in REACTIONS], catalog)
    assert found["balanced_accuracy"] == {"value": 0.25, "ci95": [0.25, 0.25]}
    assert found["collapse"] == {"top": "ambient", "top_share": 1.0, "entropy_bits": 0.0}


def test_one_template_gives_no_interval(catalog: Catalog) -> None:
    found = score([("pivot", "ambient", 0)], catalog)
    assert found["balanced_accuracy"] == {"value": 0.0, "ci95": None}


def test_a_rare_label_does_not_move_the_interval_of_a_constant_answer(catalog: Catalog) -> None:
    # a resample without pivots would have a third
    rows: Rows = [(label, "ambient", n) for n in range(11) for label in REACTIONS[1:]] + [("pivot", "ambient", 0)]
    assert score(rows, catalog, 1000)["balanced_accuracy"] == {"value": 0.25, "ci95": [0.25, 0.25]}


def test_a_perfect_system_has_one_and_room_for_the_next_template(catalog: Catalog) -> None:
    found = score([(label, label, n) for n in range(5) for label in REACTIONS], catalog)
    exact = round(float(stats.binomtest(5, 5).proportion_ci(0.95, "exact").low), 4)
    assert found["balanced_accuracy"] == {"value": 1.0, "ci95": [exact, 1.0]}
    assert found["collapse"]["entropy_bits"] == 2.0


def test_nothing_readable(catalog: Catalog) -> None:
    found = score([(label, None, n) for n in range(3) for label in REACTIONS], catalog)
    assert found["balanced_accuracy"]["value"] == 0.0
    assert found["balanced_accuracy"]["ci95"][1] > 0.5
    assert found["accuracy_readable"] == {"value": None, "ci95": None}
    assert found["unreadable"] == 12
    assert found["collapse"] == {"top": None, "top_share": None, "entropy_bits": None}
    assert found["order_effect"]["p"] is None


def test_a_label_that_does_not_occur_is_left_out_of_the_mean(catalog: Catalog) -> None:
    found = score([("verbal", "verbal", 0), ("verbal", "pivot", 1), ("ambient", "ambient", 2)], catalog)
    assert values(found["recall"]) == {"pivot": None, "verbal": 0.5, "behavioral": None, "ambient": 1.0}
    assert found["balanced_accuracy"]["value"] == 0.75


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(REACTIONS), st.sampled_from(REACTIONS), st.integers(0, 6)), min_size=1))
def test_figures_are_those_of_scikit_learn(catalog: Catalog, rows: Rows) -> None:
    right, given = [row[0] for row in rows], [str(row[1]) for row in rows]
    found = score(rows, catalog, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = balanced_accuracy_score(right, given)
    assert math.isclose(found["balanced_accuracy"]["value"], expected, abs_tol=5e-5)
    for name, of in (("recall", recall_score), ("precision", precision_score)):
        wanted = of(right, given, labels=list(REACTIONS), average=None, zero_division=np.nan)
        for label, value in zip(REACTIONS, wanted, strict=True):
            assert found[name][label]["value"] == (None if np.isnan(value) else round(float(value), 4))
    ends = found["balanced_accuracy"]["ci95"]
    assert ends is None or 0 <= ends[0] <= ends[1] <= 1


def test_a_published_table_gives_the_published_figures(catalog: Catalog) -> None:
    # Landis and Koch, "The measurement of observer agreement for categorical data", Biometrics 33 (1977), table 1: 149
    # patients of Winnipeg, rows by the one neurologist, columns by the other; the published kappa is 0.208
    table = [[38, 5, 0, 1], [33, 11, 3, 0], [10, 14, 5, 6], [3, 7, 3, 10]]
    rows: Rows = []
    for label, line in zip(REACTIONS, table, strict=True):
        for choice, count in zip(REACTIONS, line, strict=True):
            rows += [(label, choice, len(rows) + n) for n in range(count)]
    found = score(rows, catalog)
    counts = np.array(list(found["confusion"]["counts"].values()))[:, :4]
    assert counts.tolist() == table
    observed = found["accuracy_all"]["value"]
    expected = float((np.array(list(found["n_by_label"].values())) * counts.sum(0)).sum()) / 149**2
    assert round((observed - expected) / (1 - expected), 3) == 0.208
    assert list(values(found["recall"]).values()) == [0.8636, 0.234, 0.1429, 0.4348]
    assert list(values(found["precision"]).values()) == [0.4524, 0.2973, 0.4545, 0.5882]
    # every patient a cluster: the interval of a proportion, as the binomial law gives it
    exact = stats.binomtest(64, 149).proportion_ci(0.95, "wilson")
    assert np.allclose(found["accuracy_all"]["ci95"], [exact.low, exact.high], atol=0.012)


def test_a_system_with_a_given_confusion_matrix_gets_what_theory_says(catalog: Catalog) -> None:
    matrix = {
        "pivot": (0.7, 0.2, 0.05, 0.05),
        "verbal": (0.1, 0.6, 0.1, 0.2),
        "behavioral": (0.0, 0.1, 0.3, 0.6),
        "ambient": (0.0, 0.1, 0.1, 0.8),
    }
    draw = np.random.default_rng(4)
    rows: Rows = [
        (label, REACTIONS[draw.choice(4, p=matrix[label])], template) for template in range(500) for label in REACTIONS
    ]
    found = score(rows, catalog, 1000)
    truth = {label: matrix[label][number] for number, label in enumerate(REACTIONS)}
    for label, expected in truth.items():
        error = math.sqrt(expected * (1 - expected) / 500)
        assert abs(found["recall"][label]["value"] - expected) < 3 * error
        low, high = found["recall"][label]["ci95"]
        assert abs((high - low) / (2 * 1.96 * error) - 1) < 0.15
    error = math.sqrt(sum(p * (1 - p) / 500 for p in truth.values())) / 4
    assert abs(found["balanced_accuracy"]["value"] - 0.6) < 3 * error
    low, high = found["balanced_accuracy"]["ci95"]
    assert abs((high - low) / (2 * 1.96 * error) - 1) < 0.12


def test_the_interval_is_clustered_by_template(catalog: Catalog) -> None:
    draw = np.random.default_rng(0)
    together: Rows = []
    apart: Rows = []
    for template in range(60):
        right = bool(draw.random() < 0.5)
        for number, label in enumerate(REACTIONS * 3):
            choice = label if right else REACTIONS[(REACTIONS.index(label) + 1) % 4]
            together.append((label, choice, template))
            apart.append((label, choice, template * 12 + number))
    wide, narrow = (score(rows, catalog, 500)["balanced_accuracy"]["ci95"] for rows in (together, apart))
    assert (wide[1] - wide[0]) > 2 * (narrow[1] - narrow[0])


def test_a_system_that_goes_by_letters_is_found_out(catalog: Catalog) -> None:
    draw = np.random.default_rng(1)
    items = [reaction_item(n, REACTIONS[draw.integers(4)], n % 30) for n in range(120)]
    always_first = answer_by(items, lambda item: item.choices[0])
    found = score_tasks(items, always_first, catalog, 100, 1)["reactions-time"]["order_effect"]
    assert found["chosen_at"] == {"A": 1.0, "B": 0.0, "C": 0.0, "D": 0.0}
    assert found["accuracy_at"] == {"A": 1.0, "B": 0.0, "C": 0.0, "D": 0.0}
    assert found["p"] == 0.001


def test_a_system_that_goes_by_content_is_called_biased_as_often_as_chance_has_it(catalog: Catalog) -> None:
    draw = np.random.default_rng(2)
    called = 0
    for run in range(100):
        items = [reaction_item(1000 * run + n, REACTIONS[draw.integers(4)], n) for n in range(40)]
        choices = {item.item_id: REACTIONS[draw.choice(4, p=(0.1, 0.2, 0.0, 0.7))] for item in items}
        answers = answer_by(items, lambda item, choices=choices: choices[item.item_id])
        called += score_tasks(items, answers, catalog, 100, run)["reactions-time"]["order_effect"]["p"] <= 0.05
    assert called <= 12


def test_tasks_are_scored_apart_and_repetitions_left_out(catalog: Catalog, items: list[Item]) -> None:
    answers = answer_by(items, lambda item: item.answer or None)
    answers = [
        one if one.choice or not one.item_id.startswith("summary") else one.model_copy(update={"status": "ok"})
        for one in answers
    ]
    again = [one.model_copy(update={"repeat": 1, "choice": None, "status": "empty"}) for one in answers[:20]]
    found = score_tasks(items, answers + again, catalog, 100, 1)
    assert list(found) == list(TASK_KEYS)
    for task, figures in found.items():
        if not task.startswith("summary"):
            assert figures[headline(task)]["value"] == 1.0
    assert found["sounds"]["chance"] == 0.25
    assert "confusion" not in found["sounds"]
    assert {headline(task) for task in TASK_KEYS} == set(HEADLINES.values())


def test_a_task_that_was_not_asked_is_left_out(catalog: Catalog, items: list[Item]) -> None:
    answers = answer_by([item for item in items if item.task == "scene"], lambda item: item.answer)
    assert list(score_tasks(items, answers, catalog, 100, 1)) == ["scene"]


def test_answers_that_do_not_belong_to_the_items_are_an_error(items: list[Item]) -> None:
    scene = [item for item in items if item.task == "scene"]
    answers = answer_by(scene, lambda item: item.answer)
    with pytest.raises(InputError, match="an answer to every item of scene, or to none"):
        by_task(items, answers[1:])
    with pytest.raises(InputError, match="one answer an item"):
        by_task(items, [*answers, answers[0]])
    with pytest.raises(InputError, match="the id of an item"):
        by_task(items, [*answers, answers[0].model_copy(update={"item_id": "scene/none"})])
    with pytest.raises(InputError, match=r"line 1\.choice"):
        by_task(items, [answers[0].model_copy(update={"choice": "the moon"}), *answers[1:]])


def test_confusion_rows_are_of_tasks_with_the_same_choices() -> None:
    items, answers = build([("pivot", "verbal", 0), ("ambient", None, 1)])
    assert confusion_rows(items, answers) == [
        ("reactions-time", "pivot", "verbal"),
        ("reactions-time", "ambient", "unreadable"),
    ]


def test_figures_do_not_depend_on_the_order_of_answers(catalog: Catalog, items: list[Item]) -> None:
    draw = np.random.default_rng(3)
    chosen = [item for item in items if item.choices]
    answers = answer_by(chosen, lambda item: item.choices[draw.integers(len(item.choices))])
    shuffled = [answers[place] for place in draw.permutation(len(answers))]
    assert score_tasks(items, answers, catalog, 100, 1) == score_tasks(items, shuffled, catalog, 100, 1)


def test_metrics_say_whose_figures_they_are() -> None:
    assert metrics("oracle", "some-model", "ab", {"scene": {}}) == {
        "system": "oracle",
        "model": "some-model",
        "items_sha256": "ab",
        "tasks": {"scene": {}},
    }
