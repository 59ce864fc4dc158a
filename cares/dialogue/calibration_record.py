"""What the stage `calibrate` hands on: the trained evaluator, how good each is, and the thresholds for topics."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record
from cares.dialogue.classifier import LinearModel
from cares.dialogue.families import Families
from cares.dialogue.judging import EvaluatorKind
from cares.records.bank import Sha256
from cares.records.scene import Reaction

Rate = Annotated[float, Field(ge=0, le=1)]
Predicted = Reaction | Literal["none"]


class Interval(Record):
    """Bounds of a percentile bootstrap over probes."""

    low: Annotated[float, Field(ge=-1, le=1)]
    high: Annotated[float, Field(ge=-1, le=1)]


class Accuracy(Record):
    """Agreement of an evaluator with the labels of a set of probes.

    `low` and `high` bound the balanced accuracy at `confidence`; `kappa` is Cohen's; `confusion` counts by actual, then
    predicted label. "none" is a sound without a label (evaluators disagree, or an answer cannot be read): it counts as
    wrong. `right_of_labelled` is the share of right labels among those that were given.
    """

    probes: Annotated[int, Field(ge=1)]
    sounds: Annotated[int, Field(ge=1)]
    balanced_accuracy: Rate
    low: Rate
    high: Rate
    confidence: Rate
    kappa: Annotated[float, Field(ge=-1, le=1)]
    kappa_interval: Interval
    recall: dict[Reaction, Rate]
    recall_interval: dict[Reaction, Interval]
    unlabelled: Annotated[int, Field(ge=0)]
    right_of_labelled: Rate | None
    confusion: dict[Reaction, dict[Predicted, int]]


class Measured(Record):
    """An evaluator as it was measured.

    `accuracy` is on all test probes, or on the sample that the language model was asked about; where there is such a
    sample, `on_sample` is the figure on it, so that evaluators can be compared on the same sounds.
    """

    name: str
    accuracy: Accuracy
    on_sample: Accuracy | None = None


class TopicThreshold(Record):
    """Where a topic counts as recovered: the similarity of the largest Youden J = tpr - fpr on train and dev pairs.

    `auc` is the area under the ROC curve there. What the threshold then does on the test pairs is `test_tpr` (matching
    pairs that pass), `test_fpr` (mismatching ones that pass) and `test_auc` with its interval.
    """

    threshold: Annotated[float, Field(ge=-1, le=1)]
    youden_j: Annotated[float, Field(ge=-1, le=1)]
    tpr: Rate
    fpr: Rate
    auc: Rate
    test_tpr: Rate
    test_fpr: Rate
    test_auc: Rate
    test_auc_interval: Interval
    pairs: Annotated[int, Field(ge=2)]
    test_pairs: Annotated[int, Field(ge=2)]


class TopicFigures(Record):
    """Topics of test probes at a threshold: `tpr` of a probe's own topic pass, `fpr` of those of all other probes."""

    probes: Annotated[int, Field(ge=2)]
    tpr: Rate
    fpr: Rate
    auc: Rate
    auc_interval: Interval


class JudgeSettings(Record):
    """The language model of the evaluators `llm` and `both`, with the threshold for two topic phrases.

    `promised` says whether it ran in this process, so that the same answers come again; a server promises nothing.
    `recovered` is how the topics do that it recovered from test probes.
    """

    model: str
    promised: bool
    topic: TopicThreshold
    recovered: TopicFigures | None


class Calibration(Record):
    """data/calibration.json.

    `model` is the classifier trained on train and dev probes; its accuracy and that of other evaluators on the test
    probes is in `measured`. `dev_accuracy` is that of a classifier trained on train alone, on the dev probes. `topic`
    is the classifier's threshold, for a topic phrase and a transcript, found on topics that are the same in other words
    and on similar but different ones; `topic_unrelated` is how it does with the topics of all other probes.
    """

    evaluator: EvaluatorKind
    families: Families
    encoder: str
    encoder_digest: Sha256
    probes_sha256: Sha256
    topic_pairs_sha256: Sha256
    model: LinearModel
    measured: dict[EvaluatorKind, Measured]
    dev_accuracy: Accuracy
    topic: TopicThreshold
    topic_unrelated: TopicFigures
    judge: JudgeSettings | None

    @property
    def name(self) -> str:
        """How records call the evaluator that accepts dialogues."""
        return self.measured[self.evaluator].name + self.families.remark

    @property
    def accuracy(self) -> Accuracy:
        """How well the evaluator that accepts dialogues recovers labels."""
        return self.measured[self.evaluator].accuracy
