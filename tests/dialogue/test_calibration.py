"""Figures of a calibration against hand counts and known curves; the whole stage with the real encoder."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hashed_encoder import HashedEncoder
from hypothesis import given
from hypothesis import strategies as st

from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.dialogue.calibration import accuracy, calibrate, roc_curve
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.calibration_record import Calibration
from cares.dialogue.calibration_summary import calibration_metrics, confusion_csv, roc_csv
from cares.dialogue.evaluator import ClassifierEvaluator, load_evaluator
from cares.dialogue.probes import load_probes
from cares.records.scene import REACTIONS

PARAMS = CalibrationParams(evaluator="classifier", inverse_regularisation=0.1, bootstrap_draws=200, confidence=0.95)
PROBES = load_probes()


def calibrated(probes=PROBES):
    return calibrate(probes, HashedEncoder(), "hashed", "0" * 64, load_catalog(), PARAMS, seed=1)


@pytest.fixture(scope="module")
def found():
    return calibrated()


def test_a_calibration_is_repeatable_and_ignores_the_order_of_the_probes(found):
    assert calibrated().calibration == found.calibration
    other = calibrated(PROBES[::-1]).calibration
    assert other.model == found.calibration.model
    assert other.accuracy == found.calibration.accuracy
    assert other.topic == found.calibration.topic


def test_the_test_probes_change_nothing_but_the_reported_figures(found):
    flipped = {"pivot": "verbal", "verbal": "pivot", "behavioral": "ambient", "ambient": "behavioral"}
    changed = [
        probe.model_copy(update={"labels": tuple(flipped[label] for label in probe.labels)})
        if probe.split == "test"
        else probe
        for probe in PROBES
    ]
    other = calibrated(changed).calibration
    assert other.model == found.calibration.model
    assert other.topic.threshold == found.calibration.topic.threshold
    assert other.accuracy.balanced_accuracy < 0.3 < found.calibration.accuracy.balanced_accuracy


def test_a_split_without_a_label_is_an_error():
    with pytest.raises(ValueError, match="no pivot"):
        calibrated([probe for probe in PROBES if probe.split != "dev" or "pivot" not in probe.labels])


def test_the_record_survives_its_json_and_the_evaluator_agrees_with_it(found):
    record = Calibration.parse(json.loads(json.dumps(found.calibration.to_json())), "calibration.json")
    assert record == found.calibration
    evaluator = ClassifierEvaluator(record, HashedEncoder(), load_catalog())
    tested = [probe for probe in PROBES if probe.split == "test"]
    verdicts = evaluator.judge_many([probe.pieces for probe in tested])
    pairs = tuple(
        (label, verdict.label)
        for probe, judged in zip(tested, verdicts, strict=True)
        for label, verdict in zip(probe.labels, judged, strict=True)
    )
    assert pairs == found.test_labels
    assert all(abs(sum(verdict.scores.values()) - 1) < 1e-3 for judged in verdicts for verdict in judged)


def test_topic_similarities_pass_the_threshold_as_often_as_reported(found):
    evaluator = ClassifierEvaluator(found.calibration, HashedEncoder(), load_catalog())
    tested = [probe for probe in PROBES if probe.split == "test"]
    similar = evaluator.topic_similarities([probe.topic for probe in tested], [probe.pieces for probe in tested])
    share = np.mean([value >= evaluator.topic_threshold for value in similar])
    assert round(float(share), 4) == found.calibration.topic.test_tpr
    with pytest.raises(ValueError):
        evaluator.topic_similarities(["one topic"], [])


def test_accuracy_against_a_hand_count():
    actual = ["pivot", "pivot", "verbal", "verbal", "behavioral", "ambient", "ambient", "ambient"]
    predicted = ["pivot", "verbal", "verbal", "verbal", "behavioral", "ambient", "ambient", "pivot"]
    right = accuracy(actual, predicted, list("aabbccdd"), PARAMS, seed=1)
    assert right.balanced_accuracy == pytest.approx((1 / 2 + 1 + 1 + 2 / 3) / 4, abs=1e-4)
    assert right.recall == {"pivot": 0.5, "verbal": 1.0, "behavioral": 1.0, "ambient": 0.6667}
    assert right.confusion["pivot"] == {"pivot": 1, "verbal": 1, "behavioral": 0, "ambient": 0}
    chance = (2 * 2 + 2 * 3 + 1 * 1 + 3 * 2) / 64
    assert right.kappa == pytest.approx((6 / 8 - chance) / (1 - chance), abs=1e-4)
    assert right.probes == 4 and right.sounds == 8
    assert right.low <= right.balanced_accuracy <= right.high


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


similarities = st.lists(st.integers(-1000, 1000).map(lambda n: n / 1000), min_size=1, max_size=30).map(np.array)


@given(similarities, similarities)
def test_a_roc_curve_rises_from_nothing_to_everything(matching, mismatching):
    curve = roc_curve(matching, mismatching)
    assert (curve[0].fpr, curve[0].tpr) == (0, 0)
    assert (curve[-1].fpr, curve[-1].tpr) == (1, 1)
    for one, other in pairwise(curve):
        assert one.threshold > other.threshold and one.fpr <= other.fpr and one.tpr <= other.tpr


def test_figures_are_flat_and_plots_have_their_columns(found):
    figures = calibration_metrics(found.calibration)
    assert all(isinstance(value, float | int | str) for value in figures.values())
    assert figures["balanced_accuracy"] == found.calibration.accuracy.balanced_accuracy
    roc = roc_csv(found.roc).splitlines()
    assert roc[0] == "threshold,fpr,tpr" and len(roc) == len(found.roc) + 1
    rows = confusion_csv(found.test_labels).splitlines()
    assert rows[0] == "actual,predicted" and len(rows) == found.calibration.accuracy.sounds + 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("inverse_regularisation", 0),
        ("bootstrap_draws", 10),
        ("confidence", 1.0),
        ("evaluator", "oracle"),
        ("bootstrap_drawz", 100),
    ],
)
def test_wrong_parameters_are_named(field, value):
    with pytest.raises(InputError, match=field):
        CalibrationParams.parse(PARAMS.to_json() | {field: value}, "params.yaml", "calibration")


def test_a_calibration_that_is_no_longer_true_is_refused(found, tmp_path, monkeypatch):
    path = tmp_path / "calibration.json"
    with pytest.raises(InputError, match="no such file"):
        load_evaluator(path)
    path.write_text(json.dumps(found.calibration.to_json() | {"topic": {}}))
    with pytest.raises(InputError, match="topic"):
        load_evaluator(path)
    path.write_text(json.dumps(found.calibration.to_json()))
    monkeypatch.setattr("cares.dialogue.evaluator.model_digest", lambda model_id: "1" * 64)
    with pytest.raises(InputError, match=r"encoder_digest.*dvc repro calibrate"):
        load_evaluator(path)
    monkeypatch.setattr("cares.dialogue.evaluator.model_digest", lambda model_id: "0" * 64)
    monkeypatch.setattr("cares.dialogue.evaluator.SentenceEncoder", lambda model_id: HashedEncoder())
    names = found.calibration.to_json()
    names["model"]["features"][0] = "a_feature_of_yore"
    path.write_text(json.dumps(names))
    with pytest.raises(InputError, match=r"model\.features"):
        load_evaluator(path)


@pytest.mark.models
def test_with_the_real_encoder_the_stage_recovers_labels(tmp_path):
    from cares.dialogue.encoder import SentenceEncoder
    from cares.models.ensure import model_digest

    name = "all-minilm-l6-v2"
    record = calibrate(
        PROBES, SentenceEncoder(name), name, model_digest(name), load_catalog(), PARAMS, seed=1
    ).calibration
    assert record.accuracy.balanced_accuracy >= 0.85
    assert record.accuracy.low >= 0.75
    assert record.topic.auc >= 0.85 and record.topic.test_auc >= 0.8
    path = Path(tmp_path) / "calibration.json"
    path.write_text(json.dumps(record.to_json()))
    evaluator = load_evaluator(path)
    pieces = [probe.pieces for probe in PROBES[:8]]
    assert evaluator.judge_many(pieces) == evaluator.judge_many(pieces[::-1])[::-1]
    assert evaluator.name == "classifier/all-minilm-l6-v2"
