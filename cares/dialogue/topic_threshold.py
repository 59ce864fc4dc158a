"""Where a topic counts as recovered: the threshold of the largest Youden J, with its ROC curve.

(Youden, "Index for rating diagnostic tests", 1950.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from cares.dialogue.agreement import bootstrap, figure, interval
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.calibration_record import Interval, TopicFigures, TopicThreshold
from cares.dialogue.features import Encoder
from cares.dialogue.judging import similarity
from cares.dialogue.probes import TopicPair
from cares.dialogue.topic_match import topic_vectors

Array = NDArray[np.float64]
GRID = 0.005  # thresholds are multiples of this, so that a change in the last bits of a cosine moves none


@dataclass(frozen=True)
class RocPoint:
    """What a threshold lets pass: the share of matching pairs (tpr) and of mismatching ones (fpr)."""

    threshold: float
    fpr: float
    tpr: float


@dataclass(frozen=True)
class Pairs:
    """Similarities of pairs that belong together and of pairs that do not.

    Attributes:
        matching, mismatching: similarities, [pairs].
        matching_units, mismatching_units: the units (probes or topics) that each pair is made of, by index, [pairs, k]:
            a bootstrap draws units, and a pair counts as often as all of its units together.
    """

    matching: Array
    mismatching: Array
    matching_units: NDArray[np.int64]
    mismatching_units: NDArray[np.int64]

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(max(self.matching_units.max(), self.mismatching_units.max())) + 1


def youden_threshold(
    fit: Pairs, test: Pairs, params: CalibrationParams, seed: int, given: float | None = None
) -> tuple[TopicThreshold, tuple[RocPoint, ...]]:
    """The threshold that parts the pairs of `fit` best, what it does to those of `test`, and the ROC curve of `fit`.

    Of equal J the lowest threshold counts. A `given` threshold is measured in its place.
    """
    curve = roc_curve(fit.matching, fit.mismatching)
    best = max(reversed(curve), key=lambda point: point.tpr - point.fpr)
    if given is not None:
        best = RocPoint(given, figure(np.mean(fit.mismatching >= given)), figure(np.mean(fit.matching >= given)))
    return (
        TopicThreshold(
            threshold=best.threshold,
            youden_j=figure(best.tpr - best.fpr),
            tpr=best.tpr,
            fpr=best.fpr,
            auc=auc(fit),
            test_tpr=figure(np.mean(test.matching >= best.threshold)),
            test_fpr=figure(np.mean(test.mismatching >= best.threshold)),
            test_auc=auc(test),
            test_auc_interval=auc_interval(test, params, seed),
            pairs=len(fit.matching) + len(fit.mismatching),
            test_pairs=len(test.matching) + len(test.mismatching),
        ),
        curve,
    )


def roc_curve(matching: Array, mismatching: Array) -> tuple[RocPoint, ...]:
    """The ROC curve on the grid of thresholds, from the highest (nothing passes) to the lowest (all passes)."""
    top = _step(max(matching.max(), mismatching.max())) + 1
    bottom = _step(min(matching.min(), mismatching.min()))
    points = []
    for step in range(top, bottom - 1, -1):
        threshold = round(step * GRID, 3)
        points.append(
            RocPoint(threshold, figure(np.mean(mismatching >= threshold)), figure(np.mean(matching >= threshold)))
        )
    return tuple(points)


def _step(score: float) -> int:
    """The last step of the grid not above a score; 0.285 is on the 57th, though 0.285 / 0.005 falls short of 57."""
    return int(np.floor(round(score / GRID, 6)))


def auc(pairs: Pairs) -> float:
    """Area under the ROC curve: how often a matching pair is the more similar one of two."""
    truth = np.r_[np.ones(len(pairs.matching)), np.zeros(len(pairs.mismatching))]
    return figure(roc_auc_score(truth, np.r_[pairs.matching, pairs.mismatching]))


def auc_interval(pairs: Pairs, params: CalibrationParams, seed: int) -> Interval:
    """Percentile bootstrap of the area under the ROC curve; a draw's pairs are weighted, ties count half."""
    order = np.argsort(pairs.mismatching, kind="stable")
    ranked, units = pairs.mismatching[order], pairs.mismatching_units[order]
    below = np.searchsorted(ranked, pairs.matching, "left")
    up_to = np.searchsorted(ranked, pairs.matching, "right")
    values = []
    for draw in bootstrap(pairs.units, params, seed):
        drawn = np.bincount(draw, minlength=pairs.units).astype(np.float64)
        weights = drawn[pairs.matching_units].prod(axis=1)
        passed = np.r_[0.0, np.cumsum(drawn[units].prod(axis=1))]
        if weights.sum() and passed[-1]:
            won = (passed[below] + passed[up_to]) / 2
            values.append(float(weights @ won / (weights.sum() * passed[-1])))
    return interval(values, params)


def all_pairs(table: Array) -> Pairs:
    """Pairs of every row with every column; the diagonal of the table [n, n] holds those that belong together."""
    same = np.eye(len(table), dtype=bool)
    return Pairs(table[same], table[~same], np.argwhere(same)[:, :1], np.argwhere(~same))


def transcript_pairs(pairs: Sequence[TopicPair], about: Mapping[str, Array], encoder: Encoder) -> tuple[Pairs, Pairs]:
    """Topics with the transcript of their probe: of train and dev, then of test.

    Matching are a probe's own topic and the same in other words; mismatching is a similar but different topic. A probe
    is one unit.

    Args:
        pairs: the topic pairs.
        about: unit vector of what the transcript is about, by probe id.
        encoder: of the topic phrases.
    """
    sides = []
    for side in _sides(pairs):
        own = {pair.probe: pair.one for pair in side}
        units = {probe: place for place, probe in enumerate(own)}
        asked = [
            *((probe, topic, True) for probe, topic in own.items()),
            *((pair.probe, pair.other, pair.same) for pair in side),
        ]
        vectors = topic_vectors([topic for _, topic, _ in asked], encoder)
        scores = [similarity(vector, about[probe]) for vector, (probe, _, _) in zip(vectors, asked, strict=True)]
        sides.append(_pairs(scores, [same for _, _, same in asked], [units[probe] for probe, _, _ in asked]))
    return sides[0], sides[1]


def phrase_pairs(pairs: Sequence[TopicPair], encoder: Encoder) -> tuple[Pairs, Pairs]:
    """Pairs of topic phrases, of train and dev, then of test; the pairs of one probe are one unit."""
    sides = []
    for side in _sides(pairs):
        units: dict[str, int] = {}
        scores = [similarity(*encoder.encode([pair.one, pair.other])) for pair in side]
        of_pair = [units.setdefault(pair.probe, len(units)) for pair in side]
        sides.append(_pairs(scores, [pair.same for pair in side], of_pair))
    return sides[0], sides[1]


def topic_figures(pairs: Pairs, threshold: float, params: CalibrationParams, seed: int) -> TopicFigures:
    """What a threshold that was found elsewhere does to pairs, and how far they can be told apart at all."""
    return TopicFigures(
        probes=pairs.units,
        tpr=figure(np.mean(pairs.matching >= threshold)),
        fpr=figure(np.mean(pairs.mismatching >= threshold)),
        auc=auc(pairs),
        auc_interval=auc_interval(pairs, params, seed),
    )


def _sides(pairs: Sequence[TopicPair]) -> tuple[list[TopicPair], list[TopicPair]]:
    return [pair for pair in pairs if pair.split != "test"], [pair for pair in pairs if pair.split == "test"]


def _pairs(scores: Sequence[float], same: Sequence[bool], units: Sequence[int]) -> Pairs:
    table, match, of_unit = np.array(scores), np.array(same, dtype=bool), np.array(units)[:, None]
    return Pairs(table[match], table[~match], of_unit[match], of_unit[~match])
