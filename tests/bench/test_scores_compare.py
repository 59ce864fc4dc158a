"""Differences between systems on the same items."""

from __future__ import annotations

import numpy as np

from cares.bench.scores import headline, score_tasks
from cares.bench.scores_compare import compare
from cares.catalog.catalog import Catalog
from cares.records.item import Item
from cares.records.scene import REACTIONS
from tests.bench.answering import answer_by, reaction_item, summary_item, wrote


def reactions(count: int, templates: int) -> list[Item]:
    return [reaction_item(number, REACTIONS[number % 4], number % templates) for number in range(count)]


def noisy(items: list[Item], share: float, seed: int) -> dict[str, str]:
    draw = np.random.default_rng(seed)
    return {item.item_id: item.answer if draw.random() < share else REACTIONS[draw.integers(4)] for item in items}


def test_a_difference_is_that_of_the_two_figures(catalog: Catalog, items: list[Item]) -> None:
    draw = np.random.default_rng(0)
    chosen = [item for item in items if item.choices]
    systems = {
        name: answer_by(chosen, lambda item: item.choices[draw.integers(len(item.choices))], name) for name in "ab"
    }
    figures = {name: score_tasks(items, answers, catalog, 100, 1) for name, answers in systems.items()}
    found = compare(items, systems, catalog, 100, 1)
    assert [one.task for one in found] == list(figures["a"])
    for one in found:
        a, b = (figures[name][one.task][headline(one.task)]["value"] for name in "ab")
        assert abs(one.difference - (a - b)) < 2e-4
        assert one.figure == headline(one.task)


def test_pairing_finds_what_two_intervals_do_not(catalog: Catalog) -> None:
    items = reactions(400, 40)
    base = noisy(items, 0.5, 0)
    better = dict(base)
    for item in items[::17]:
        better[item.item_id] = item.answer
    systems = {
        "better": answer_by(items, lambda item: better[item.item_id]),
        "base": answer_by(items, lambda item: base[item.item_id]),
    }
    (one,) = compare(items, systems, catalog, 1000, 1)
    assert one.difference > 0
    assert one.ci95 is not None
    assert one.ci95[0] > 0
    assert one.p < 0.01
    low, high = (score_tasks(items, systems[name], catalog, 500, 1)["reactions-time"] for name in ("base", "better"))
    assert low["balanced_accuracy"]["ci95"][1] > high["balanced_accuracy"]["ci95"][0]


def test_p_is_corrected_for_the_number_of_comparisons(catalog: Catalog) -> None:
    items = reactions(200, 40)
    given = [noisy(items, 0.5, number) for number in range(4)]
    systems = {f"s{n}": answer_by(items, lambda item, of=of: of[item.item_id]) for n, of in enumerate(given)}
    found = compare(items, systems, catalog, 500, 1)
    assert len(found) == 6
    smallest = min(found, key=lambda one: one.p)
    assert abs(smallest.p_holm - min(1.0, 6 * smallest.p)) < 1e-4
    assert all(one.p_holm >= one.p - 5e-5 for one in found)


def test_equal_systems_do_not_differ(catalog: Catalog) -> None:
    items = reactions(40, 10)
    answers = answer_by(items, lambda item: item.answer)
    (one,) = compare(items, {"a": answers, "b": answers}, catalog, 200, 1)
    assert (one.difference, one.ci95, one.p, one.p_holm) == (0.0, (0.0, 0.0), 1.0, 1.0)
    assert one.to_json()["ci95"] == [0.0, 0.0]


def test_only_tasks_that_both_answered_are_compared(catalog: Catalog, items: list[Item]) -> None:
    scene = [item for item in items if item.task in ("scene", "sounds")]
    systems = {
        "a": answer_by(scene, lambda item: item.answer),
        "b": answer_by(scene[:12], lambda item: item.answer),
    }
    systems["b"] = answer_by([item for item in scene if item.task == "scene"], lambda item: item.answer)
    assert [one.task for one in compare(items, systems, catalog, 100, 1)] == ["scene"]
    assert compare(items, {"a": systems["a"]}, catalog, 100, 1) == []


def test_a_label_that_never_occurs_makes_no_difference_significant(catalog: Catalog) -> None:
    occurring = ("pivot", "verbal", "ambient")
    items = [reaction_item(number, occurring[number % 3], number % 12) for number in range(72)]
    right = {item.item_id: number % 2 == 0 for number, item in enumerate(items)}
    systems = {
        "even": answer_by(items, lambda item: item.answer if right[item.item_id] else None),
        "odd": answer_by(items, lambda item: None if right[item.item_id] else item.answer),
    }
    (one,) = compare(items, systems, catalog, 500, 1)
    assert one.difference == 0.0
    assert one.p == 1.0


def test_a_sparse_label_widens_the_interval_of_a_difference(catalog: Catalog) -> None:
    """A label of two templates is known from two only, however many hold the others."""
    items = [reaction_item(number, REACTIONS[number % 3], number % 20) for number in range(120)]
    items += [reaction_item(200 + number, REACTIONS[3], number // 4) for number in range(8)]
    base = noisy(items, 0.5, 0)
    systems = {
        "noisy": answer_by(items, lambda item: base[item.item_id]),
        "silent": answer_by(items, lambda item: None),
    }
    (one,) = compare(items, systems, catalog, 1000, 1)
    alone = score_tasks(items, systems["noisy"], catalog, 1000, 1)["reactions-time"]["balanced_accuracy"]
    assert one.ci95 == tuple(alone["ci95"])


def test_summaries_of_scenes_without_a_sound_are_not_compared(catalog: Catalog) -> None:
    items = [summary_item(template, []) for template in range(4)]
    systems = {name: [wrote(item, "They talk.", name) for item in items] for name in "ab"}
    assert compare(items, systems, catalog, 100, 1) == []
