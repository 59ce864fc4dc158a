"""Train an evaluator on the labelled probes, measure it, and find the threshold for topics.

The test probes are used once, for the figures that are reported; nothing is chosen by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from cares.catalog.catalog import Catalog
from cares.core.canonical import digest
from cares.core.executor import progress
from cares.core.rng import KeyedRandom
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.calibration_record import Accuracy, Calibration, TopicThreshold
from cares.dialogue.classifier import LinearModel, train
from cares.dialogue.cues import load_cues
from cares.dialogue.evaluator import FeatureReader, similarity
from cares.dialogue.features import Encoder
from cares.dialogue.marked import Heard
from cares.dialogue.probes import Probe, ProbeSplit
from cares.dialogue.topic_match import topic_vector, topic_vectors
from cares.records.scene import REACTIONS, Reaction

Array = NDArray[np.float64]
GRID = 0.005  # thresholds are multiples of this, so that a change in the last bits of a cosine moves none
FIGURES = 4


@dataclass(frozen=True)
class RocPoint:
    """What a threshold lets pass: the share of matching pairs (tpr) and of mismatching ones (fpr)."""

    threshold: float
    fpr: float
    tpr: float


@dataclass(frozen=True)
class Found:
    """All that a calibration finds: the record, the ROC curve, and (actual, predicted) labels of the test sounds."""

    calibration: Calibration
    roc: tuple[RocPoint, ...]
    test_labels: tuple[tuple[Reaction, Reaction], ...]


@dataclass(frozen=True)
class _Table:
    """Features and labels of the sounds of some probes; `groups` says which probe each row belongs to."""

    rows: Array
    labels: tuple[Reaction, ...]
    groups: tuple[str, ...]


def calibrate(
    probes: Sequence[Probe],
    encoder: Encoder,
    encoder_id: str,
    encoder_digest: str,
    catalog: Catalog,
    params: CalibrationParams,
    seed: int,
) -> Found:
    """Train on the train probes and try on dev; train on both and report on test; find the topic threshold.

    Raises:
        ValueError: a split lacks a label.
    """
    reader = FeatureReader(encoder, catalog, load_cues())
    read = {probe.id: reader.rows(probe.pieces) for probe in progress(probes, desc="calibrate", unit="probe")}
    names = reader.names()

    def table(*splits: ProbeSplit) -> _Table:
        chosen = [probe for probe in probes if probe.split in splits]
        return _Table(
            np.array([[found[name] for name in names] for probe in chosen for _, found in read[probe.id]]),
            tuple(label for probe in chosen for label in probe.labels),
            tuple(probe.id for probe in chosen for _ in probe.labels),
        )

    parts = table("train"), table("dev"), table("train", "dev"), table("test")
    training, development, both, test = parts
    for part in parts:
        if absent := set(REACTIONS) - set(part.labels):
            raise ValueError(f"a split of the probes has no {', '.join(sorted(absent))}")
    trial = train(names, training.rows, training.labels, params.inverse_regularisation)
    model = train(names, both.rows, both.labels, params.inverse_regularisation)
    topic, roc = topic_threshold(probes, read_pivots(probes, read, model), encoder)
    predicted = model.classify(test.rows)
    found = Calibration(
        evaluator=params.evaluator,
        encoder=encoder_id,
        encoder_digest=encoder_digest,
        probes_sha256=digest([probe.to_json() for probe in probes]),
        model=model,
        accuracy=accuracy(test.labels, predicted, test.groups, params, seed),
        dev_accuracy=accuracy(development.labels, trial.classify(development.rows), development.groups, params, seed),
        topic=topic,
    )
    return Found(found, roc, tuple(zip(test.labels, predicted, strict=True)))


def read_pivots(
    probes: Sequence[Probe], read: Mapping[str, Sequence[tuple[Heard, dict[str, float]]]], model: LinearModel
) -> dict[str, set[int]]:
    """For each probe the sounds that the model takes for pivots, as they will be left out of the topic later."""
    pivots = {}
    for probe in probes:
        rows = np.array([[found[name] for name in model.features] for _, found in read[probe.id]])
        pivots[probe.id] = {event for event, label in enumerate(model.classify(rows)) if label == "pivot"}
    return pivots


def accuracy(
    actual: Sequence[Reaction],
    predicted: Sequence[Reaction],
    groups: Sequence[str],
    params: CalibrationParams,
    seed: int,
) -> Accuracy:
    """Balanced accuracy with its interval, Cohen's kappa, recall of each label and the confusion matrix.

    The interval is a percentile bootstrap that draws whole groups (probes), since sounds of one probe are not
    independent (Field and Welsh, "Bootstrapping clustered data", 2007). A label that a draw lacks is left out of that
    draw's mean.
    """
    confusion: dict[Reaction, dict[Reaction, int]] = {a: dict.fromkeys(REACTIONS, 0) for a in REACTIONS}
    for one, other in zip(actual, predicted, strict=True):
        confusion[one][other] += 1
    ids = sorted(set(groups))
    right, total = np.zeros((len(ids), len(REACTIONS))), np.zeros((len(ids), len(REACTIONS)))
    for one, other, group in zip(actual, predicted, groups, strict=True):
        total[ids.index(group), REACTIONS.index(one)] += 1
        right[ids.index(group), REACTIONS.index(one)] += one == other
    draws = []
    for number in range(params.bootstrap_draws):
        draw = KeyedRandom(seed, "calibration_bootstrap", number)
        chosen = [draw.below(len(ids)) for _ in ids]
        draws.append(_balanced(right[chosen].sum(axis=0), total[chosen].sum(axis=0)))
    edge = (1 - params.confidence) / 2
    low, high = np.quantile(draws, [edge, 1 - edge])
    return Accuracy(
        probes=len(ids),
        sounds=len(actual),
        balanced_accuracy=_figure(_balanced(right.sum(axis=0), total.sum(axis=0))),
        low=_figure(low),
        high=_figure(high),
        confidence=params.confidence,
        kappa=_figure(cohen_kappa_score(list(actual), list(predicted), labels=list(REACTIONS))),
        recall={
            label: _figure(confusion[label][label] / max(1, sum(confusion[label].values()))) for label in REACTIONS
        },
        confusion=confusion,
    )


def topic_threshold(
    probes: Sequence[Probe], pivots: dict[str, set[int]], encoder: Encoder
) -> tuple[TopicThreshold, tuple[RocPoint, ...]]:
    """The threshold of the largest Youden J (Youden, "Index for rating diagnostic tests", 1950), and the ROC curve.

    Every transcript is paired with its own topic and with every other topic of the same side (train and dev, or test),
    topics of the same location among them. Of equal J the lowest threshold counts.
    """
    own, other = _pairs([probe for probe in probes if probe.split != "test"], pivots, encoder)
    test_own, test_other = _pairs([probe for probe in probes if probe.split == "test"], pivots, encoder)
    curve = roc_curve(own, other)
    best = max(reversed(curve), key=lambda point: point.tpr - point.fpr)
    return (
        TopicThreshold(
            threshold=best.threshold,
            youden_j=_figure(best.tpr - best.fpr),
            tpr=best.tpr,
            fpr=best.fpr,
            auc=_auc(own, other),
            test_tpr=_figure(np.mean(test_own >= best.threshold)),
            test_fpr=_figure(np.mean(test_other >= best.threshold)),
            test_auc=_auc(test_own, test_other),
            pairs=len(own) + len(other),
            test_pairs=len(test_own) + len(test_other),
        ),
        curve,
    )


def roc_curve(matching: Array, mismatching: Array) -> tuple[RocPoint, ...]:
    """The ROC curve on the grid of thresholds, from the highest (nothing passes) to the lowest (all passes)."""
    top = int(np.floor(max(matching.max(), mismatching.max()) / GRID)) + 1
    bottom = int(np.floor(min(matching.min(), mismatching.min()) / GRID))
    points = []
    for step in range(top, bottom - 1, -1):
        threshold = round(step * GRID, 3)
        points.append(
            RocPoint(threshold, _figure(np.mean(mismatching >= threshold)), _figure(np.mean(matching >= threshold)))
        )
    return tuple(points)


def _pairs(probes: Sequence[Probe], pivots: dict[str, set[int]], encoder: Encoder) -> tuple[Array, Array]:
    topics = topic_vectors([probe.topic for probe in probes], encoder)
    about = [topic_vector(probe.pieces, pivots[probe.id], encoder) for probe in probes]
    table = np.array([[similarity(topic, vector) for topic in topics] for vector in about])
    same = np.eye(len(probes), dtype=bool)
    return table[same], table[~same]


def _auc(matching: Array, mismatching: Array) -> float:
    truth = np.r_[np.ones(len(matching)), np.zeros(len(mismatching))]
    return _figure(roc_auc_score(truth, np.r_[matching, mismatching]))


def _balanced(right: Array, total: Array) -> float:
    return float(np.mean(right[total > 0] / total[total > 0]))


def _figure(value: float | np.floating[Any]) -> float:
    return round(float(value), FIGURES)
