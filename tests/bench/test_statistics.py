"""Intervals and tests against theory, simulation and independent implementations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cares.bench.statistics import (
    codes,
    effective_clusters,
    figure,
    holm,
    interval,
    mean_of_known,
    ratio,
    resampled,
    sign_flip,
    sums,
)


def test_codes_are_places_among_the_sorted_names() -> None:
    found = codes(["t2", "t0", "t2", "t1"])
    assert found.names == ("t0", "t1", "t2")
    assert found.place.tolist() == [2, 0, 2, 1]


def test_sums_by_cluster_and_column_leave_out_negative_columns() -> None:
    clusters = codes(["a", "a", "b", "b"])
    column, weight = np.array([0, 1, 1, -1]), np.array([2, 3, 5, 7])
    assert sums(clusters, column, 2).tolist() == [[1, 1], [0, 1]]
    assert sums(clusters, column, 2, weight).tolist() == [[2, 3], [0, 5]]


def test_a_resample_has_as_many_clusters_as_there_are() -> None:
    drawn = resampled(np.ones((7, 1)), 600, 1)
    assert drawn.shape == (600, 1)
    assert (drawn == 7).all()


def test_resamples_are_those_of_the_seed_and_the_number_of_clusters_alone() -> None:
    table = np.arange(12, dtype=np.float64).reshape(6, 2)
    first = resampled(table, 300, 5)
    assert (first == resampled(table, 300, 5)).all()
    assert (first[:, 1] == resampled(table[:, 1:], 300, 5)[:, 0]).all()
    assert (first[:100] == resampled(table, 100, 5)).all()
    assert not (first == resampled(table, 300, 6)).all()
    # golden: a change here changes every interval that was published
    assert resampled(np.eye(4), 4, 1).tolist() == GOLDEN


GOLDEN: list[list[float]] = [[2.0, 1.0, 0.0, 1.0], [2.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 3.0], [0.0, 2.0, 0.0, 2.0]]


def test_resampled_sums_have_the_variance_that_theory_says() -> None:
    table = np.array([[0.0], [1.0], [5.0], [2.0], [2.0]])
    drawn = resampled(table, 20_000, 1)[:, 0]
    assert abs(drawn.mean() - 10) < 0.1
    assert abs(drawn.var() / (5 * table.var()) - 1) < 0.04


def test_the_interval_of_a_mean_is_that_of_student() -> None:
    draw = np.random.default_rng(0)
    values = np.round(draw.normal(500, 100, 25))
    drawn = resampled(np.stack([values, np.ones(25)], axis=1), 20_000, 1)
    low, high = interval(float(values.mean()), ratio(drawn[:, 0], drawn[:, 1]), 25, share=False) or (0, 0)
    expected = stats.t.interval(0.95, 24, values.mean(), stats.sem(values))
    assert abs(low - expected[0]) < 3
    assert abs(high - expected[1]) < 3


def test_one_cluster_has_no_interval() -> None:
    assert interval(0.5, np.full(100, 0.5), 1) is None
    assert figure(0.5, np.full(100, 0.5), 1) == {"value": 0.5, "ci95": None}
    assert figure(float("nan"), np.full(100, np.nan), 9) == {"value": None, "ci95": None}


def test_all_clusters_right_leaves_room_for_the_next_one() -> None:
    low, high = interval(1.0, np.ones(100), 10) or (0, 0)
    assert math.isclose(low, stats.binomtest(10, 10).proportion_ci(0.95, "exact").low)
    assert high == 1.0
    low, high = interval(0.0, np.zeros(100), 10) or (1, 1)
    assert low == 0.0
    assert math.isclose(high, stats.binomtest(0, 10).proportion_ci(0.95, "exact").high)
    assert interval(0.0, np.zeros(100), 10, share=False) == (0.0, 0.0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=2, max_size=30))
def test_an_interval_holds_its_value_and_stays_within_0_and_1(rows: list[tuple[int, int]]) -> None:
    table = np.array([(min(hit, total), total) for hit, total in rows], np.float64)
    drawn = resampled(table, 200, 1)
    value = float(table[:, 0].sum() / table[:, 1].sum())
    low, high = interval(value, ratio(drawn[:, 0], drawn[:, 1]), len(rows)) or (0.0, 1.0)
    assert 0 <= low <= value + 0.05
    assert value - 0.05 <= high <= 1


def test_mean_of_known_leaves_out_what_is_not_known() -> None:
    values = np.array([[0.5, np.nan, 1.0], [np.nan, np.nan, np.nan]])
    found = mean_of_known(values)
    assert found[0] == 0.75
    assert math.isnan(found[1])


def test_effective_clusters_is_their_number_when_all_labels_vary_alike_in_it() -> None:
    draw = np.random.default_rng(1)
    alike = draw.normal(0, 1, (4000, 4))
    assert effective_clusters(alike, np.full(4, 8.0), 8) == 8
    one_label_alone = alike * np.array([1.0, 0.001, 0.001, 0.001])
    assert abs(effective_clusters(one_label_alone, np.array([3.0, 90, 90, 90]), 100) - 3) < 0.01
    assert effective_clusters(np.zeros((10, 2)), np.array([5.0, 9.0]), 9) == 9
    assert effective_clusters(np.full((10, 1), np.nan), np.zeros(1), 9) == 0


def test_sign_flip_is_exact_for_few_clusters() -> None:
    # six differences of one sign: 2 of 64 patterns are as extreme
    assert abs(sign_flip(np.ones(6), 20_000, 1) - 2 / 64) < 0.004
    assert sign_flip(np.zeros(6), 500, 1) == 1.0


def test_sign_flip_rejects_as_often_as_it_says_when_there_is_no_difference() -> None:
    draw = np.random.default_rng(2)
    rejected = sum(sign_flip(draw.normal(0, 1, 40), 200, run) <= 0.05 for run in range(400))
    assert 8 <= rejected <= 34


def test_holm_is_that_of_a_worked_example() -> None:
    # p 0.01, 0.04, 0.03, 0.005: sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, made monotone
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def coverage(templates: int, scenes: int, recalls: tuple[float, ...], spread: float, runs: int) -> float:
    """How often the interval of balanced accuracy holds the truth, with recalls that vary between templates."""
    draw = np.random.default_rng(11)
    truth, width = np.array(recalls), len(recalls)
    size = 1 / spread - 1
    held = 0
    for run in range(runs):
        label = draw.integers(0, width, (templates, scenes))
        recall = draw.beta(truth * size, (1 - truth) * size, (templates, width))
        right = draw.random((templates, scenes)) < np.take_along_axis(recall, label, 1)
        total = np.stack([(label == k).sum(1) for k in range(width)], 1).astype(np.float64)
        hits = np.stack([((label == k) & right).sum(1) for k in range(width)], 1).astype(np.float64)
        drawn = resampled(np.concatenate([total, hits], axis=1), 400, run)
        parts = ratio(drawn[:, width:], drawn[:, :width])
        clusters = effective_clusters(parts, (total > 0).sum(0).astype(np.float64), templates)
        value = float(mean_of_known(ratio(hits.sum(0), total.sum(0))))
        ends = interval(value, mean_of_known(parts), clusters)
        held += ends is not None and ends[0] <= truth.mean() <= ends[1]
    return held / runs


@pytest.mark.parametrize(("templates", "scenes"), [(12, 3), (100, 10)])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(templates: int, scenes: int) -> None:
    # 600 runs know a coverage of 0.95 to 0.018 (two standard errors), so 0.93 to 0.97 is taken that much wider
    assert 0.912 <= coverage(templates, scenes, (0.9, 0.3, 0.25, 0.7), 0.25, 600) <= 0.988
