"""Thresholds of topics: ROC curves, areas with their intervals, and the pairs that they are found on."""

from itertools import pairwise

import numpy as np
from hashed_encoder import HashedEncoder
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from cares.dialogue.agreement import bootstrap
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.probes import load_topic_pairs
from cares.dialogue.topic_threshold import (
    Pairs,
    all_pairs,
    auc,
    auc_interval,
    phrase_pairs,
    roc_curve,
    transcript_pairs,
)

PARAMS = CalibrationParams(evaluator="classifier", inverse_regularisation=0.1, bootstrap_draws=200, confidence=0.95)
PAIRS = load_topic_pairs()

similarities = st.lists(st.integers(-1000, 1000).map(lambda n: n / 1000), min_size=1, max_size=30).map(np.array)


@given(similarities, similarities)
def test_a_roc_curve_rises_from_nothing_to_everything(matching, mismatching):
    curve = roc_curve(matching, mismatching)
    assert (curve[0].fpr, curve[0].tpr) == (0, 0)
    assert (curve[-1].fpr, curve[-1].tpr) == (1, 1)
    for one, other in pairwise(curve):
        assert one.threshold > other.threshold and one.fpr <= other.fpr and one.tpr <= other.tpr


def test_the_interval_of_the_area_is_that_of_a_plain_bootstrap():
    draw = np.random.default_rng(3)
    scores = np.round(draw.normal(size=(12, 12)) + 1.5 * np.eye(12), 1)
    found = auc_interval(all_pairs(scores), PARAMS, seed=1)
    plain = []
    for chosen in bootstrap(12, PARAMS, 1):
        same = [scores[i, i] for i in chosen]
        other = [scores[i, j] for i in chosen for j in chosen if i != j]
        if other:
            plain.append(roc_auc_score([1] * len(same) + [0] * len(other), same + other))
    low, high = np.quantile(plain, [0.025, 0.975])
    assert (found.low, found.high) == (round(low, 4), round(high, 4))
    assert found.low <= auc(all_pairs(scores)) <= found.high


def test_an_area_without_doubt_has_no_interval():
    units = np.arange(4)[:, None]
    pairs = Pairs(np.full(4, 0.9), np.full(4, 0.1), units, units)
    assert auc(pairs) == 1 and auc_interval(pairs, PARAMS, seed=1).low == 1


def test_topics_in_other_words_match_and_similar_ones_do_not():
    pairs = [pair for pair in PAIRS if pair.split != "test"]
    about = {pair.probe: HashedEncoder().encode([pair.one])[0] for pair in PAIRS}
    fit, test = transcript_pairs(PAIRS, about, HashedEncoder())
    probes = {pair.probe for pair in pairs}
    assert len(fit.matching) == len(probes) + sum(pair.same for pair in pairs)
    assert len(fit.mismatching) == sum(not pair.same for pair in pairs)
    assert fit.units == len(probes) and test.units == len({pair.probe for pair in PAIRS}) - len(probes)
    phrases, _ = phrase_pairs(PAIRS, HashedEncoder())
    assert len(phrases.matching) + len(phrases.mismatching) == len(pairs) and phrases.units == len(probes)
