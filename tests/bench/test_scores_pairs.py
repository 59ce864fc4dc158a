"""Grounding by pairs, and word error rates by blocks."""

from __future__ import annotations

import numpy as np
import pytest

from cares.asr.wer import WordErrors
from cares.bench.scores import score_tasks
from cares.bench.scores_pairs import pair_figures
from cares.bench.scores_rows import by_task
from cares.bench.scores_wer import word_error_figure
from cares.catalog.catalog import Catalog
from cares.core.errors import InputError
from cares.records.item import Item
from cares.records.scene import REACTIONS
from tests.bench.answering import answer_by, grounding_pair


def pairs(count: int) -> list[Item]:
    return [half for number in range(count) for half in grounding_pair(number, REACTIONS[number % 4], number % 20)]


def test_always_yes_has_half_of_the_items_and_no_pair(catalog: Catalog) -> None:
    items = pairs(40)
    found = score_tasks(items, answer_by(items, lambda item: "yes"), catalog, 200, 1)["grounding"]
    assert found["balanced_accuracy"] == {"value": 0.5, "ci95": [0.5, 0.5]}
    assert found["pair_accuracy"]["value"] == 0.0
    assert found["sensitivity"]["value"] == 1.0
    assert found["specificity"]["value"] == 0.0
    assert found["pairs_by"] == {"both": 0, "only_original": 40, "only_muted": 0, "none": 0}
    assert found["pairs"] == 40
    assert found["n"] == 80


def test_known_halves(catalog: Catalog) -> None:
    items = pairs(40)
    # hears pivots and verbal ones, and never makes a sound up; one answer of a heard one cannot be read
    lost = items[0].item_id

    def rule(item: Item) -> str | None:
        if item.item_id == lost:
            return None
        heard = item.level == "original" and item.references[0].label in ("pivot", "verbal")
        return "yes" if heard else "no"

    found = score_tasks(items, answer_by(items, rule), catalog, 500, 1)["grounding"]
    assert found["sensitivity"]["value"] == round(19 / 40, 4)
    assert found["specificity"]["value"] == 1.0
    assert found["pair_accuracy"]["value"] == round(19 / 40, 4)
    assert found["pairs_by"] == {"both": 19, "only_original": 0, "only_muted": 21, "none": 0}
    by_label = {label: figure["value"] for label, figure in found["sensitivity_by_label"].items()}
    assert by_label == {"pivot": 0.9, "verbal": 1.0, "behavioral": 0.0, "ambient": 0.0}
    assert found["unreadable"] == 1
    low, high = found["pair_accuracy"]["ci95"]
    assert low < 19 / 40 < high


def test_pairs_that_share_an_order_do_not_look_like_an_effect_of_order(catalog: Catalog) -> None:
    draw = np.random.default_rng(5)
    called = 0
    for run in range(60):
        items = [half for n in range(30) for half in grounding_pair(1000 * run + n, REACTIONS[n % 4], n)]
        # whatever the half, the same answer for a pair: the letters come in twos
        says = {item.pair: draw.random() < 0.5 for item in items}
        answers = answer_by(items, lambda item, says=says: "yes" if says[item.pair] else "no")
        called += score_tasks(items, answers, catalog, 100, run)["grounding"]["order_effect"]["p"] <= 0.05
    assert called <= 3


def test_a_pair_needs_both_halves() -> None:
    items = pairs(3)
    rows = by_task(items[:-1], answer_by(items[:-1], lambda item: item.answer))["grounding"]
    with pytest.raises(InputError, match="both halves, original and muted"):
        pair_figures(rows, 100, 1)
    twice = [*items, items[0].model_copy(update={"item_id": "grounding-original/again"})]
    rows = by_task(twice, answer_by(twice, lambda item: item.answer))["grounding"]
    with pytest.raises(InputError, match="one original half a pair"):
        pair_figures(rows, 100, 1)


def errors(wrong: int, words: int) -> WordErrors:
    return WordErrors(n_reference=words, substitutions=wrong, deletions=0, insertions=0)


def test_word_error_rate_is_that_of_all_scenes_as_one_corpus() -> None:
    found = word_error_figure([errors(1, 10), errors(30, 100), errors(0, 90)], ["t0", "t1", "t2"], 500, 1)
    assert found["value"] == round(31 / 200, 4)
    low, high = found["ci95"]
    assert 0 <= low < 31 / 200 < high <= 0.3


def test_scenes_of_a_template_are_one_block() -> None:
    draw = np.random.default_rng(0)
    rates = draw.integers(0, 40, 30)
    counts = [errors(int(rate), 100) for rate in rates for _ in range(8)]
    together = word_error_figure(counts, [f"t{n // 8}" for n in range(240)], 500, 1)["ci95"]
    apart = word_error_figure(counts, [f"t{n}" for n in range(240)], 500, 1)["ci95"]
    assert together[1] - together[0] > 2 * (apart[1] - apart[0])


def test_word_errors_need_a_template_each() -> None:
    with pytest.raises(InputError, match="a template for each of 1 scenes"):
        word_error_figure([errors(1, 10)], [], 100, 1)
