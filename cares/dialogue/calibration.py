"""Train the classifier on the labelled probes, measure evaluators on the held-out ones, find thresholds for topics.

The test probes are used once, for the figures that are reported; nothing is chosen by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cares.catalog.catalog import Catalog
from cares.core.canonical import digest
from cares.core.executor import progress
from cares.dialogue.agreement import accuracy
from cares.dialogue.calibration_params import CalibrationParams
from cares.dialogue.calibration_record import Accuracy, Calibration, Measured
from cares.dialogue.classifier import LinearModel, train
from cares.dialogue.classifier_judge import FeatureReader
from cares.dialogue.cues import load_cues
from cares.dialogue.families import Families
from cares.dialogue.features import Encoder
from cares.dialogue.judging import EvaluatorKind, similarity
from cares.dialogue.llm_measure import LlmFindings
from cares.dialogue.marked import Heard
from cares.dialogue.probes import Probe, ProbeSplit, TopicPair
from cares.dialogue.topic_match import topic_vector, topic_vectors
from cares.dialogue.topic_threshold import RocPoint, all_pairs, topic_figures, transcript_pairs, youden_threshold
from cares.records.scene import REACTIONS, Reaction

Array = NDArray[np.float64]
Rows = Mapping[str, Sequence[tuple[Heard, dict[str, float]]]]
Labels = tuple[tuple[Reaction, Reaction | None], ...]


@dataclass(frozen=True)
class EncoderId:
    """Which sentence encoder is used: its id in the registry and the digest of its weights."""

    name: str
    digest: str


@dataclass(frozen=True)
class Found:
    """All that a calibration finds.

    Attributes:
        calibration: the record.
        roc: the ROC curve of the classifier's topic threshold.
        test_labels: (actual, predicted) labels of the test sounds, by evaluator.
    """

    calibration: Calibration
    roc: tuple[RocPoint, ...]
    test_labels: dict[EvaluatorKind, Labels]


@dataclass(frozen=True)
class _Table:
    """Features and labels of the sounds of some probes; `groups` says which probe each row belongs to."""

    rows: Array
    labels: tuple[Reaction, ...]
    groups: tuple[str, ...]


@dataclass
class _Scores:
    """Scores evaluators on test probes, and on the sample of them that a language model was asked about."""

    params: CalibrationParams
    seed: int
    measured: dict[EvaluatorKind, Measured] = field(default_factory=dict)
    labels: dict[EvaluatorKind, Labels] = field(default_factory=dict)

    def add(
        self,
        kind: EvaluatorKind,
        name: str,
        probes: Sequence[Probe],
        predicted: Mapping[str, Sequence[Reaction | None]],
    ) -> None:
        """Score labels predicted for each of `probes`."""
        if kind in self.params.measure:
            self.measured[kind] = Measured(name=name, accuracy=self.score(probes, predicted))
            self.labels[kind] = tuple(
                pair for probe in probes for pair in zip(probe.labels, predicted[probe.id], strict=True)
            )

    def score(self, probes: Sequence[Probe], predicted: Mapping[str, Sequence[Reaction | None]]) -> Accuracy:
        """The figures on `probes`."""
        return accuracy(
            [label for probe in probes for label in probe.labels],
            [label for probe in probes for label in predicted[probe.id]],
            [probe.id for probe in probes for _ in probe.labels],
            self.params,
            self.seed,
        )


def read_features(probes: Sequence[Probe], encoder: Encoder, catalog: Catalog) -> tuple[tuple[str, ...], Rows]:
    """The names of the features, and the features of each probe's sounds, by probe id."""
    reader = FeatureReader(encoder, catalog, load_cues())
    return reader.names(), {p.id: reader.rows(p.pieces) for p in progress(probes, desc="features", unit="probe")}


def train_on(
    probes: Sequence[Probe], names: Sequence[str], read: Rows, splits: Sequence[ProbeSplit], regularisation: float
) -> LinearModel:
    """The classifier trained on the probes of some splits; ValueError when they lack a label."""
    part = _table(probes, names, read, splits)
    return train(names, part.rows, part.labels, regularisation)


def train_classifier(probes: Sequence[Probe], encoder: Encoder, catalog: Catalog, regularisation: float) -> LinearModel:
    """The classifier that a calibration would store: trained on train and dev."""
    chosen = [probe for probe in probes if probe.split != "test"]
    names, read = read_features(chosen, encoder, catalog)
    return train_on(chosen, names, read, ("train", "dev"), regularisation)


def calibrate(
    probes: Sequence[Probe],
    pairs: Sequence[TopicPair],
    encoder: Encoder,
    encoder_id: EncoderId,
    catalog: Catalog,
    families: Families,
    params: CalibrationParams,
    seed: int,
    llm: LlmFindings | None = None,
) -> Found:
    """Train on the train probes and try on dev; train on both and report on test; find the topic threshold.

    Args:
        probes: the labelled probes.
        pairs: topic pairs that belong to some of them.
        encoder: of sentences, named by `encoder_id`.
        catalog: names of the sounds.
        families: of writer and evaluator.
        params: the section `calibration`.
        seed: the data set's seed.
        llm: what the language model said about test probes; needed when `params.measure` names `llm` or `both`.

    Raises:
        ValueError: a split lacks a label, or `llm` is missing.
    """
    for split in ("train", "dev", "test"):
        if absent := set(REACTIONS) - {label for probe in probes if probe.split == split for label in probe.labels}:
            raise ValueError(f"split {split} of the probes has no {', '.join(sorted(absent))}")
    if params.asks_llm and llm is None:
        raise ValueError("the language model was not asked")
    names, read = read_features(probes, encoder, catalog)
    development, tested = ([p for p in probes if p.split == split] for split in ("dev", "test"))
    trial = train_on(probes, names, read, ("train",), params.inverse_regularisation)
    model = train_on(probes, names, read, ("train", "dev"), params.inverse_regularisation)
    predicted = classified(probes, read, model)
    scores = _Scores(params, seed)
    scores.add("classifier", f"classifier/{encoder_id.name}", tested, predicted)
    if llm is not None:
        _score_llm(scores, llm, encoder_id.name, tested, predicted)
    about = {probe.id: _about(probe, predicted[probe.id], encoder) for probe in probes}
    topic, roc = youden_threshold(*transcript_pairs(pairs, about, encoder), params, seed)
    wanted = topic_vectors([probe.topic for probe in tested], encoder)
    table = np.array([[similarity(one, about[probe.id]) for one in wanted] for probe in tested])
    record = Calibration(
        evaluator=params.evaluator,
        families=families,
        encoder=encoder_id.name,
        encoder_digest=encoder_id.digest,
        probes_sha256=digest([probe.to_json() for probe in probes]),
        topic_pairs_sha256=digest([pair.to_json() for pair in pairs]),
        model=model,
        measured=scores.measured,
        dev_accuracy=scores.score(development, classified(development, read, trial)),
        topic=topic,
        topic_unrelated=topic_figures(all_pairs(table), topic.threshold, params, seed),
        judge=llm.settings if llm else None,
    )
    return Found(record, roc, scores.labels)


def classified(probes: Sequence[Probe], read: Rows, model: LinearModel) -> dict[str, list[Reaction]]:
    """The labels that a model gives to the sounds of each probe."""
    labels = {}
    for probe in probes:
        rows = np.array([[found[name] for name in model.features] for _, found in read[probe.id]])
        labels[probe.id] = model.classify(rows)
    return labels


def _about(probe: Probe, labels: Sequence[Reaction], encoder: Encoder) -> Array:
    pivots = {event for event, label in enumerate(labels) if label == "pivot"}
    return topic_vector(probe.pieces, pivots, encoder)


def _score_llm(
    scores: _Scores, llm: LlmFindings, encoder: str, tested: Sequence[Probe], ours: Mapping[str, Sequence[Reaction]]
) -> None:
    sample = [probe for probe in tested if probe.id in llm.labels]
    both: dict[str, list[Reaction | None]] = {
        probe.id: [
            one if one == other else None for one, other in zip(ours[probe.id], llm.labels[probe.id], strict=True)
        ]
        for probe in sample
    }
    scores.add("llm", f"llm/{llm.settings.model}", sample, llm.labels)
    scores.add("both", f"both/{encoder}+{llm.settings.model}", sample, both)
    if len(sample) < len(tested) and (whole := scores.measured.get("classifier")) is not None:
        found = scores.score(sample, ours)
        scores.measured["classifier"] = whole.model_copy(update={"on_sample": found})


def _table(probes: Sequence[Probe], names: Sequence[str], read: Rows, splits: Sequence[ProbeSplit]) -> _Table:
    chosen = [probe for probe in probes if probe.split in splits]
    return _Table(
        np.array([[found[name] for name in names] for probe in chosen for _, found in read[probe.id]]),
        tuple(label for probe in chosen for label in probe.labels),
        tuple(probe.id for probe in chosen for _ in probe.labels),
    )
