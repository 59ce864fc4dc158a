"""What the stage `calibrate` hands on: the trained evaluator, how good it is, and the threshold for topics."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record
from cares.dialogue.classifier import LinearModel
from cares.records.bank import Sha256
from cares.records.scene import Reaction

Rate = Annotated[float, Field(ge=0, le=1)]


class Accuracy(Record):
    """Agreement of an evaluator with the labels of a split of the probes.

    `low` and `high` bound the balanced accuracy (percentile bootstrap over probes); `kappa` is Cohen's; `confusion`
    counts by actual, then predicted label.
    """

    probes: Annotated[int, Field(ge=1)]
    sounds: Annotated[int, Field(ge=1)]
    balanced_accuracy: Rate
    low: Rate
    high: Rate
    confidence: Rate
    kappa: Annotated[float, Field(ge=-1, le=1)]
    recall: dict[Reaction, Rate]
    confusion: dict[Reaction, dict[Reaction, int]]


class TopicThreshold(Record):
    """Where a topic counts as recovered: the similarity of the largest Youden J = tpr - fpr on train and dev probes.

    `auc` is the area under the ROC curve there. What the threshold then does on the test probes is `test_tpr` (matching
    pairs that pass), `test_fpr` (mismatching ones that pass) and `test_auc`.
    """

    threshold: Annotated[float, Field(ge=-1, le=1)]
    youden_j: Annotated[float, Field(ge=-1, le=1)]
    tpr: Rate
    fpr: Rate
    auc: Rate
    test_tpr: Rate
    test_fpr: Rate
    test_auc: Rate
    pairs: Annotated[int, Field(ge=2)]
    test_pairs: Annotated[int, Field(ge=2)]


class Calibration(Record):
    """data/calibration.json.

    `accuracy` is that of the stored model, trained on train and dev, on the test probes; `dev_accuracy` that of a model
    trained on train alone, on the dev probes.
    """

    evaluator: Literal["classifier"]
    encoder: str
    encoder_digest: Sha256
    probes_sha256: Sha256
    model: LinearModel
    accuracy: Accuracy
    dev_accuracy: Accuracy
    topic: TopicThreshold
