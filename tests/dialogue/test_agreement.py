"""Figures of agreement against hand counts and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from cares.dialogue.agreement import accuracy, kappa
from cares.dialogue.calibration_params import CalibrationParams
from cares.records.scene import REACTIONS

PARAMS = CalibrationParams(evaluator="classifier", inverse_regularisation=0.1, bootstrap_draws=200, confidence=0.95)
ACTUAL = ["pivot", "pivot", "verbal", "verbal", "behavioral", "ambient", "ambient", "ambient"]


def test_accuracy_against_a_hand_count():
    predicted = ["pivot", "verbal", "verbal", "verbal", "behavioral", "ambient", "ambient", "pivot"]
    right = accuracy(ACTUAL, predicted, list("aabbccdd"), PARAMS, seed=1)
    assert right.balanced_accuracy == pytest.approx((1 / 2 + 1 + 1 + 2 / 3) / 4, abs=1e-4)
    assert right.recall == {"pivot": 0.5, "verbal": 1.0, "behavioral": 1.0, "ambient": 0.6667}
    assert right.confusion["pivot"] == {"pivot": 1, "verbal": 1, "behavioral": 0, "ambient": 0, "none": 0}
    chance = (2 * 2 + 2 * 3 + 1 * 1 + 3 * 2) / 64
    assert right.kappa == pytest.approx((6 / 8 - chance) / (1 - chance), abs=1e-4)
    assert right.probes == 4 and right.sounds == 8
    assert right.low <= right.balanced_accuracy <= right.high
    assert right.kappa_interval.low <= right.kappa <= right.kappa_interval.high
    assert right.recall_interval["verbal"].low == right.recall_interval["verbal"].high == 1


def test_a_sound_without_a_label_counts_as_wrong_and_is_counted():
    predicted = ["pivot", None, "verbal", "verbal", None, "ambient", "ambient", "pivot"]
    right = accuracy(ACTUAL, predicted, list("aabbccdd"), PARAMS, seed=1)
    assert right.unlabelled == 2
    assert right.recall["behavioral"] == 0 and right.recall["pivot"] == 0.5
    assert right.right_of_labelled == pytest.approx(5 / 6, abs=1e-4)
    assert right.confusion["behavioral"]["none"] == 1
    nothing = accuracy(ACTUAL, [None] * 8, list("aabbccdd"), PARAMS, seed=1)
    assert (nothing.balanced_accuracy, nothing.right_of_labelled, nothing.unlabelled) == (0, None, 8)


labels = st.sampled_from(REACTIONS)


@given(st.lists(st.tuples(labels, labels | st.none()), min_size=2, max_size=40))
def test_kappa_is_that_of_scikit_learn(pairs):
    actual, predicted = [one for one, _ in pairs], [other or "none" for _, other in pairs]
    names = [*REACTIONS, "none"]
    counts = np.zeros((4, 5))
    for one, other in zip(actual, predicted, strict=True):
        counts[names.index(one), names.index(other)] += 1
    theirs = cohen_kappa_score(actual, predicted, labels=names) if len({*actual, *predicted}) > 1 else 1.0
    assert kappa(counts) == pytest.approx(theirs, abs=1e-9)


def test_the_interval_widens_when_rows_belong_together():
    actual = [label for label in REACTIONS for _ in range(20)]
    predicted = [label if place % 4 else "pivot" for place, label in enumerate(actual)]
    # the wrong rows all in a few groups, or each row a group of its own
    alone = accuracy(actual, predicted, [f"g{i}" for i in range(80)], PARAMS, seed=1)
    clustered = accuracy(actual, predicted, [f"g{i % 4}" for i in range(80)], PARAMS, seed=1)
    assert clustered.balanced_accuracy == alone.balanced_accuracy
    assert clustered.high - clustered.low > alone.high - alone.low


def test_a_perfect_evaluator_has_no_interval():
    right = accuracy(list(REACTIONS) * 3, list(REACTIONS) * 3, [f"g{i % 3}" for i in range(12)], PARAMS, seed=1)
    assert (right.balanced_accuracy, right.low, right.high, right.kappa) == (1, 1, 1, 1)
