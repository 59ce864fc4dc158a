"""A calibration as a whole, with a stand-in for the encoder; the stage with the real one."""

import json
from pathlib import Path

import numpy as np
import pytest
from hashed_encoder import HashedEncoder

from cares.catalog.load import load_catalog
from cares.core.errors import CaresError, InputError
from cares.dialogue.calibration import EncoderId, calibrate, train_classifier
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.calibration_record import Calibration, JudgeSettings
from cares.dialogue.calibration_summary import calibration_metrics, confusion_csv, roc_csv, summary_lines
from cares.dialogue.classifier_judge import ClassifierEvaluator
from cares.dialogue.evaluator import load_evaluator
from cares.dialogue.families import Families
from cares.dialogue.llm_measure import LlmFindings, sample
from cares.dialogue.probes import load_probes, load_topic_pairs
from cares.records.scene import REACTIONS

PARAMS = CalibrationParams(evaluator="classifier", inverse_regularisation=0.1, bootstrap_draws=200, confidence=0.95)
FAMILIES = Families(writer="qwen2.5", evaluator=("hashed",), same=False)
ENCODER = EncoderId("hashed", "0" * 64)
PROBES = load_probes()
PAIRS = load_topic_pairs()
TESTED = [probe for probe in PROBES if probe.split == "test"]


def calibrated(probes=PROBES, params=PARAMS, families=FAMILIES, llm=None):
    return calibrate(probes, PAIRS, HashedEncoder(), ENCODER, load_catalog(), families, params, 1, llm)


@pytest.fixture(scope="module")
def found():
    return calibrated()


def evaluator_of(calibration):
    threshold = calibration.topic.threshold
    return ClassifierEvaluator(calibration.model, HashedEncoder(), load_catalog(), calibration.name, threshold)


def test_a_calibration_is_repeatable_and_ignores_the_order_of_the_probes(found):
    assert calibrated().calibration == found.calibration
    other = calibrated(PROBES[::-1]).calibration
    assert other.model == found.calibration.model
    assert other.accuracy == found.calibration.accuracy
    assert other.topic.threshold == found.calibration.topic.threshold


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


def test_the_classifier_trained_alone_is_the_one_that_a_calibration_stores(found):
    alone = train_classifier(PROBES, HashedEncoder(), load_catalog(), PARAMS.inverse_regularisation)
    assert alone == found.calibration.model


def test_the_record_survives_its_json_and_the_evaluator_agrees_with_it(found):
    record = Calibration.parse(json.loads(json.dumps(found.calibration.to_json())), "calibration.json")
    assert record == found.calibration
    verdicts = evaluator_of(record).judge_many([probe.pieces for probe in TESTED])
    pairs = tuple(
        (label, verdict.label)
        for probe, judged in zip(TESTED, verdicts, strict=True)
        for label, verdict in zip(probe.labels, judged, strict=True)
    )
    assert pairs == found.test_labels["classifier"]
    assert all(abs(sum(verdict.scores.values()) - 1) < 1e-3 for judged in verdicts for verdict in judged)


def test_topic_similarities_pass_the_threshold_as_often_as_reported(found):
    evaluator = evaluator_of(found.calibration)
    similar = evaluator.topic_similarities([probe.topic for probe in TESTED], [probe.pieces for probe in TESTED])
    share = np.mean([value >= evaluator.topic_threshold for value in similar])
    assert round(float(share), 4) == found.calibration.topic_unrelated.tpr
    with pytest.raises(ValueError):
        evaluator.topic_similarities(["one topic"], [])


def judged(labels):
    topic = calibrated().calibration.topic
    settings = JudgeSettings(model="small", promised=True, topic=topic, recovered=None)
    return LlmFindings(labels, settings)


def test_every_evaluator_is_scored_and_both_is_where_they_agree():
    params = PARAMS.model_copy(update={"measure": ("classifier", "llm", "both"), "evaluator": "both"})
    chosen = sample(TESTED, 5, seed=1)
    said = {probe.id: [*probe.labels[:-1], None] if probe is chosen[0] else list(probe.labels) for probe in chosen}
    families = Families(writer="qwen2.5", evaluator=("hashed", "qwen2.5"), same=True)
    found = calibrated(params=params, families=families, llm=judged(said))
    measured = found.calibration.measured
    assert measured["llm"].accuracy.unlabelled == 1
    assert measured["llm"].accuracy.sounds == measured["both"].accuracy.sounds == sum(map(len, said.values()))
    assert measured["classifier"].accuracy.sounds == sum(len(probe.labels) for probe in TESTED)
    assert measured["classifier"].on_sample.sounds == measured["llm"].accuracy.sounds
    assert measured["both"].accuracy.right_of_labelled == 1, "the language model was told the labels"
    assert measured["both"].accuracy.balanced_accuracy <= measured["classifier"].on_sample.balanced_accuracy
    assert found.calibration.name == "both/hashed+small (same family as the writer: qwen2.5)"
    figures = calibration_metrics(found.calibration)
    assert figures["same_family"] is True and "same family" in figures["evaluator"]
    assert set(figures["evaluators"]) == {"classifier", "llm", "both"}
    assert any("family" in line for line in summary_lines(found.calibration))
    with pytest.raises(ValueError, match="not asked"):
        calibrated(params=params)


def test_a_sample_holds_every_label_and_grows_with_the_probes():
    chosen = sample(TESTED, 5, seed=1)
    for label in REACTIONS:
        assert sum(one == label for probe in chosen for one in probe.labels) >= 5
    assert [probe for probe in TESTED if probe in chosen] == chosen
    assert sample(TESTED, None, seed=1) == TESTED
    assert sample(TESTED, 5, seed=1) == sample(TESTED[::-1], 5, seed=1)[::-1]


def test_figures_are_plain_and_plots_have_their_columns(found):
    figures = calibration_metrics(found.calibration)
    assert all(isinstance(value, float | int | str) for key, value in figures.items() if key != "evaluators")
    assert figures["balanced_accuracy"] == found.calibration.accuracy.balanced_accuracy
    assert figures["evaluators"]["classifier"]["kappa"] == found.calibration.accuracy.kappa
    assert figures["same_family"] is False
    roc = roc_csv(found.roc).splitlines()
    assert roc[0] == "threshold,fpr,tpr" and len(roc) == len(found.roc) + 1
    rows = confusion_csv([*found.test_labels["classifier"], ("pivot", None)]).splitlines()
    assert rows[0] == "actual,predicted" and rows[-1] == "pivot,none"
    assert len(rows) == found.calibration.accuracy.sounds + 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("inverse_regularisation", 0),
        ("bootstrap_draws", 10),
        ("confidence", 1.0),
        ("evaluator", "oracle"),
        ("measure", []),
        ("llm_sounds_per_label", 0),
        ("bootstrap_drawz", 100),
    ],
)
def test_wrong_parameters_are_named(field, value):
    with pytest.raises(InputError, match=field):
        CalibrationParams.parse(PARAMS.to_json() | {field: value}, "params.yaml", "calibration")


def test_who_accepts_dialogues_must_be_measured():
    with pytest.raises(InputError, match="measure must name"):
        CalibrationParams.parse(PARAMS.to_json() | {"evaluator": "both"}, "params.yaml", "calibration")


def test_a_calibration_that_is_no_longer_true_is_refused(found, tmp_path, monkeypatch):
    path = tmp_path / "calibration.json"
    with pytest.raises(InputError, match="no such file"):
        load_evaluator(path)
    path.write_text(json.dumps(found.calibration.to_json() | {"topic": {}}))
    with pytest.raises(CaresError, match=r"topic.*dvc repro calibrate"):
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
    encoder_id = EncoderId(name, model_digest(name))
    encoder = SentenceEncoder(name)
    record = calibrate(PROBES, PAIRS, encoder, encoder_id, load_catalog(), FAMILIES, PARAMS, seed=1).calibration
    assert record.accuracy.balanced_accuracy >= 0.85
    assert record.accuracy.low >= 0.75
    assert record.topic.auc >= 0.7 and record.topic_unrelated.auc >= 0.85
    path = Path(tmp_path) / "calibration.json"
    path.write_text(json.dumps(record.to_json()))
    evaluator = load_evaluator(path)
    pieces = [probe.pieces for probe in PROBES[:8]]
    assert evaluator.judge_many(pieces) == evaluator.judge_many(pieces[::-1])[::-1]
    assert evaluator.name == "classifier/all-minilm-l6-v2"
