"""How far an evaluator agrees with the labels: balanced accuracy, recall and Cohen's kappa with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cares.core.rng import KeyedRandom
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.calibration_record import Accuracy, Interval, Predicted
from cares.records.scene import REACTIONS, Reaction

Array = NDArray[np.float64]
PREDICTED: tuple[Predicted, ...] = (*REACTIONS, "none")
FIGURES = 4


def accuracy(
    actual: Sequence[Reaction],
    predicted: Sequence[Reaction | None],
    groups: Sequence[str],
    params: CalibrationParams,
    seed: int,
) -> Accuracy:
    """Agreement of predicted with actual labels; None, no label, counts as wrong.

    The intervals are percentile bootstraps that draw whole groups (probes), since sounds of one probe are not
    independent (Field and Welsh, "Bootstrapping clustered data", 2007). A label that a draw lacks is left out of that
    draw's mean.

    Args:
        actual: the labels, [sounds].
        predicted: what the evaluator says, [sounds].
        groups: which probe each sound belongs to, [sounds].
        params: draws and confidence of the bootstrap.
        seed: the data set's seed.
    """
    ids = {name: place for place, name in enumerate(sorted(set(groups)))}
    counts = np.zeros((len(ids), len(REACTIONS), len(PREDICTED)))
    for one, other, group in zip(actual, predicted, groups, strict=True):
        counts[ids[group], REACTIONS.index(one), PREDICTED.index(other or "none")] += 1
    total = counts.sum(axis=0)
    draws = [counts[chosen].sum(axis=0) for chosen in bootstrap(len(ids), params, seed)]
    balanced = interval([_balanced(draw) for draw in draws], params)
    labelled = total[:, : len(REACTIONS)]
    recalls = {
        label: interval([float(draw[row, row] / draw[row].sum()) for draw in draws if draw[row].any()], params)
        for row, label in enumerate(REACTIONS)
    }
    return Accuracy(
        probes=len(ids),
        sounds=len(actual),
        balanced_accuracy=figure(_balanced(total)),
        low=balanced.low,
        high=balanced.high,
        confidence=params.confidence,
        kappa=figure(kappa(total)),
        kappa_interval=interval([kappa(draw) for draw in draws], params),
        recall={label: figure(total[row, row] / max(1, total[row].sum())) for row, label in enumerate(REACTIONS)},
        recall_interval=recalls,
        unlabelled=int(total[:, -1].sum()),
        right_of_labelled=figure(np.trace(labelled) / labelled.sum()) if labelled.any() else None,
        confusion={
            label: {other: int(total[row, column]) for column, other in enumerate(PREDICTED)}
            for row, label in enumerate(REACTIONS)
        },
    )


def kappa(confusion: Array) -> float:
    """Cohen's kappa of counts [actual, predicted] (Cohen, "A coefficient of agreement for nominal scales", 1960).

    1 when everything agrees, though chance would do as well.
    """
    share = confusion / confusion.sum()
    seen = float(np.trace(share))
    columns = share.sum(axis=0)[: len(share)]
    chance = float(share.sum(axis=1) @ columns)
    return 1.0 if chance == 1 else (seen - chance) / (1 - chance)


def bootstrap(count: int, params: CalibrationParams, seed: int) -> list[list[int]]:
    """Draws of `count` groups with replacement, by index; the same for every figure of one size."""
    draws = []
    for number in range(params.bootstrap_draws):
        draw = KeyedRandom(seed, "calibration_bootstrap", number)
        draws.append([draw.below(count) for _ in range(count)])
    return draws


def interval(values: Sequence[float], params: CalibrationParams) -> Interval:
    """The percentile interval of bootstrapped values; [-1, 1] when there is none."""
    if not values:
        return Interval(low=-1, high=1)
    edge = (1 - params.confidence) / 2
    low, high = np.quantile(values, [edge, 1 - edge])
    return Interval(low=figure(low), high=figure(high))


def figure(value: float | np.floating[Any]) -> float:
    """A figure as it is written down: 4 decimals."""
    return round(float(value), FIGURES)


def _balanced(confusion: Array) -> float:
    sizes = confusion.sum(axis=1)
    rows = np.flatnonzero(sizes)
    return float(np.mean(confusion[rows, rows] / sizes[rows]))
