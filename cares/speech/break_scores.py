"""How well behavioral turns are told from ambient ones by measures of sound: area under the ROC curve, held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cares.core.canonical import Json
from cares.core.rng import derived_seed
from cares.speech.break_measures import GROUPS, MEASURES, Measured
from cares.speech.break_params import BreakParams

CHANCE_INSIDE = "the interval holds chance"
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


def auc_by_group(turns: Sequence[Measured], params: BreakParams, seed: int) -> Json:
    """For each group of measures its figures by template; for the first and the last also by voice and by register."""
    found: dict[str, Json] = {}
    for name, columns in GROUPS.items():
        scores = _scores(turns, columns, params, seed)
        found[name] = _figure(turns, scores, params, seed)
        if scores is not None and name in ("pauses_and_pitch", "all"):
            found[name]["by_register"] = _by_register(turns, scores)
            found[name]["other_voices"] = _figure(turns, _scores_by_voice(turns, columns, params), params, seed)["auc"]
    return found


def _scores(
    turns: Sequence[Measured], columns: Sequence[str], params: BreakParams, seed: int
) -> NDArray[np.float64] | None:
    """The score of every turn by models that have not seen its template, mean over the repeats; None: too few."""
    truth, groups = _truth(turns), np.array([turn.template_id for turn in turns])
    folds = min([params.folds, *(len(set(groups[truth == label])) for label in (0, 1))])
    if folds < 2:
        return None
    total = np.zeros(len(turns))
    for repeat in range(params.repeats):
        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=derived_seed(seed, "break_folds", repeat))
        total += _held_out(turns, columns, params, splitter.split(total, truth, groups))
    return np.asarray(total / params.repeats, np.float64)


def _scores_by_voice(
    turns: Sequence[Measured], columns: Sequence[str], params: BreakParams
) -> NDArray[np.float64] | None:
    """The score of every turn by models that have not heard its voice."""
    groups = np.array([turn.voice for turn in turns])
    folds = min(params.folds, len(set(groups)))
    if folds < 2:
        return None
    return _held_out(turns, columns, params, GroupKFold(folds).split(groups, _truth(turns), groups))


def _held_out(
    turns: Sequence[Measured], columns: Sequence[str], params: BreakParams, folds: Iterator[Fold]
) -> NDArray[np.float64]:
    truth = _truth(turns)
    values = np.array([turn.values for turn in turns])[:, [MEASURES.index(name) for name in columns]]
    scores = np.zeros(len(turns))
    for train, test in folds:
        if len(test) and len(set(truth[train])) == 2:
            # a fold's scores are comparable to another's as log-odds of models with balanced classes
            scores[test] = _model(params)().fit(values[train], truth[train]).decision_function(values[test])
    return scores


def _model(params: BreakParams) -> Callable[[], Any]:
    return lambda: make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
        LogisticRegression(C=params.regularisation, class_weight="balanced", max_iter=1000),
    )


def _truth(turns: Sequence[Measured]) -> NDArray[np.intp]:
    return np.array([turn.reaction == "behavioral" for turn in turns], np.intp)


def _figure(turns: Sequence[Measured], scores: NDArray[np.float64] | None, params: BreakParams, seed: int) -> Json:
    """{"auc", "ci95", "note"}: the area, and the percentiles of a bootstrap of whole templates."""
    if scores is None:
        return {"auc": None, "ci95": None, "note": "too few: both labels must occur in at least two templates"}
    truth = _truth(turns)
    templates = sorted({turn.template_id for turn in turns})
    template_of = np.array([templates.index(turn.template_id) for turn in turns])
    generator = np.random.default_rng(derived_seed(seed, "break_bootstrap", 0))
    drawn = generator.integers(0, len(templates), (params.bootstrap, len(templates)))
    counts = np.array([np.bincount(picked, minlength=len(templates)) for picked in drawn])[:, template_of]
    areas = _areas(scores, truth, counts)
    low, high = (round(float(edge), 4) for edge in np.nanquantile(areas, (0.025, 0.975)))
    auc = round(float(_areas(scores, truth, np.ones((1, len(turns)), np.int64))[0]), 4)
    return {"auc": auc, "ci95": [low, high], "note": CHANCE_INSIDE if low <= 0.5 <= high else ""}


def _areas(scores: NDArray[np.float64], truth: NDArray[np.intp], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The area for each row of `counts` [draws, turns], how often each turn is drawn; NaN where a label is not.

    It is the share of pairs of a behavioral and an ambient turn in which the first has the higher score, ties by half.
    """
    above = scores[truth == 1][:, None] - scores[truth == 0][None]
    pairs = (above > 0) + 0.5 * (above == 0)
    first, second = counts[:, truth == 1], counts[:, truth == 0]
    total = first.sum(1) * second.sum(1)
    won = ((first @ pairs) * second).sum(1)
    return np.where(total > 0, won / np.maximum(total, 1), np.nan)


def _by_register(turns: Sequence[Measured], scores: NDArray[np.float64]) -> Json:
    """The area of each register's turns against all ambient ones."""
    ambient = scores[_truth(turns) == 0]
    found = {}
    for register in sorted({turn.register_id for turn in turns if turn.reaction == "behavioral"}):
        own = scores[[turn.register_id == register for turn in turns]]
        truth = np.array([1] * len(own) + [0] * len(ambient), np.intp)
        area = _areas(np.concatenate([own, ambient]), truth, np.ones((1, len(truth)), np.int64))[0]
        found[register] = {"turns": len(own), "auc": round(float(area), 4)}
    return found
