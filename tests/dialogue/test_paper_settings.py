"""What the profile `paper` needs: a given topic threshold, and an encoder that pools as it was trained."""

import json

import numpy as np
import pytest

from cares.core.errors import InputError
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.encoder import _first_token
from cares.dialogue.topic_threshold import Pairs, youden_threshold

PARAMS = CalibrationParams(evaluator="classifier", inverse_regularisation=0.1, bootstrap_draws=100, confidence=0.95)
UNITS = np.arange(4).reshape(4, 1)
PAIRS = Pairs(np.array([0.9, 0.85, 0.8, 0.7]), np.array([0.6, 0.5, 0.83, 0.2]), UNITS, UNITS)


def test_a_given_threshold_is_measured_and_not_derived():
    derived, _ = youden_threshold(PAIRS, PAIRS, PARAMS, 1)
    given, curve = youden_threshold(PAIRS, PAIRS, PARAMS, 1, 0.82)
    assert derived.threshold == 0.605 and given.threshold == 0.82
    assert (given.tpr, given.fpr, given.youden_j) == (0.5, 0.25, 0.25)
    assert (given.test_tpr, given.test_fpr) == (0.5, 0.25) and given.auc == derived.auc and curve


def pooling(tmp_path, **modes):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"word_embedding_dimension": 8, "include_prompt": True} | modes))
    return path


def test_an_encoder_pools_as_its_own_configuration_says(tmp_path):
    assert _first_token(pooling(tmp_path, pooling_mode_cls_token=True, pooling_mode_mean_tokens=False))
    assert not _first_token(pooling(tmp_path, pooling_mode_cls_token=False, pooling_mode_mean_tokens=True))


@pytest.mark.parametrize(
    "modes", [{}, {"pooling_mode_max_tokens": True}, {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}]
)
def test_another_way_of_pooling_is_an_error(tmp_path, modes):
    with pytest.raises(InputError, match="pooling_mode"):
        _first_token(pooling(tmp_path, **modes))
