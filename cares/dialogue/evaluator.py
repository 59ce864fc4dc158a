"""Evaluators: they read a transcript with its sounds marked and recover every sound's label, and the topic.

All of them have one interface and are measured on the same probes; how accurate the one in use is stands in
data/calibration.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cares.catalog.catalog import Catalog
from cares.catalog.load import load_catalog
from cares.core.canonical import read_json
from cares.core.errors import InputError
from cares.dialogue.calibration_record import Accuracy, Calibration
from cares.dialogue.classifier import LinearModel
from cares.dialogue.cues import Cues, load_cues
from cares.dialogue.encoder import SentenceEncoder
from cares.dialogue.features import Encoder, SoundNames, features
from cares.dialogue.marked import Heard, Pieces, Said, around
from cares.dialogue.topic_match import topic_vector, topic_vectors
from cares.models.ensure import model_digest
from cares.records.dialogue import Verdict

SCORE_DECIMALS = 4


class Evaluator(Protocol):
    """What every evaluator offers, whatever it is made of."""

    @property
    def name(self) -> str:
        """Its kind and the model behind it, such as "classifier/all-minilm-l6-v2"."""
        ...

    @property
    def accuracy(self) -> Accuracy:
        """How well it recovers the labels of the test probes."""
        ...

    @property
    def topic_threshold(self) -> float:
        """Least similarity at which a topic counts as recovered."""
        ...

    def judge_many(self, transcripts: Sequence[Pieces]) -> list[list[Verdict]]:
        """For each transcript a verdict on each of its sounds, in their order."""
        ...

    def topic_similarities(self, topics: Sequence[str], transcripts: Sequence[Pieces]) -> list[float]:
        """Similarity, -1 to 1, of each topic to what the transcript beside it is about."""
        ...


class FeatureReader:
    """Turns transcripts into rows of features; shared by training and judging, so that both see the same numbers."""

    def __init__(self, encoder: Encoder, catalog: Catalog, cues: Cues) -> None:
        self._encoder, self._names, self._cues = encoder, SoundNames(catalog), cues

    def names(self) -> tuple[str, ...]:
        """The names of the features, in their order."""
        return tuple(self.rows((Said(speaker="A", text="Yes."), Heard(sound="cough", event=0)))[0][1])

    def rows(self, pieces: Pieces) -> list[tuple[Heard, dict[str, float]]]:
        """Each sound of a transcript with its features by name."""
        found = []
        for place, piece in enumerate(pieces):
            if isinstance(piece, Heard):
                found.append((piece, features(around(pieces, place), self._names, self._cues, self._encoder)))
        return found


class ClassifierEvaluator:
    """A linear model on features of words and of a sentence encoder.

    Args:
        calibration: what the stage `calibrate` found.
        encoder: the encoder that it was found with.
        catalog: names of the sounds; a sound that is not in it goes by the words of its id.
    """

    def __init__(self, calibration: Calibration, encoder: Encoder, catalog: Catalog) -> None:
        self._calibration = calibration
        self._encoder = encoder
        self._reader = FeatureReader(encoder, catalog, load_cues())

    @property
    def name(self) -> str:
        """See `Evaluator`."""
        return f"{self._calibration.evaluator}/{self._calibration.encoder}"

    @property
    def accuracy(self) -> Accuracy:
        """See `Evaluator`."""
        return self._calibration.accuracy

    @property
    def topic_threshold(self) -> float:
        """See `Evaluator`."""
        return self._calibration.topic.threshold

    def judge(self, transcript: Pieces) -> list[Verdict]:
        """A verdict on each sound of one transcript, in their order; `scores` are probabilities to 4 decimals."""
        return judge(self._calibration.model, self._reader, transcript)

    def judge_many(self, transcripts: Sequence[Pieces]) -> list[list[Verdict]]:
        """See `Evaluator`; the verdicts on a transcript do not depend on the others."""
        return [self.judge(transcript) for transcript in transcripts]

    def topic_similarities(self, topics: Sequence[str], transcripts: Sequence[Pieces]) -> list[float]:
        """See `Evaluator`; ValueError unless there is a topic for each transcript."""
        wanted = topic_vectors(topics, self._encoder)
        pairs = zip(wanted, transcripts, strict=True)
        return [similarity(topic, self.about(transcript)) for topic, transcript in pairs]

    def about(self, transcript: Pieces) -> NDArray[np.float64]:
        """Unit vector of what a transcript is about, leaving out what this evaluator judges to be pivots."""
        pivots = {verdict.event for verdict in self.judge(transcript) if verdict.label == "pivot"}
        return topic_vector(transcript, pivots, self._encoder)


def judge(model: LinearModel, reader: FeatureReader, transcript: Pieces) -> list[Verdict]:
    """What a model says about each sound of a transcript."""
    rows = reader.rows(transcript)
    if not rows:
        return []
    table = np.array([[found[name] for name in model.features] for _, found in rows])
    verdicts = []
    for (heard, _), label, scores in zip(rows, model.classify(table), model.probabilities(table), strict=True):
        shown: dict[str, float] = {
            name: round(float(score), SCORE_DECIMALS) for name, score in zip(model.labels, scores, strict=True)
        }
        verdicts.append(Verdict(event=heard.event, sound=heard.sound, label=label, scores=shown))
    return verdicts


def similarity(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Cosine of two unit vectors, to 4 decimals."""
    return round(float(one @ other), SCORE_DECIMALS)


def load_evaluator(path: Path) -> ClassifierEvaluator:
    """The evaluator that data/calibration.json describes.

    Raises:
        InputError: the file is missing or not as it should be, or the encoder's weights or the features are no longer
            those that it was calibrated with.
    """
    calibration = Calibration.parse(read_json(path), path)
    hint = "Run the stage again: dvc repro calibrate."
    if (found := model_digest(calibration.encoder)) != calibration.encoder_digest:
        raise InputError(path, "encoder_digest", calibration.encoder_digest, f"{found}, that of the weights", hint)
    encoder, catalog = SentenceEncoder(calibration.encoder), load_catalog()
    if (names := FeatureReader(encoder, catalog, load_cues()).names()) != calibration.model.features:
        raise InputError(path, "model.features", calibration.model.features, f"the features {', '.join(names)}", hint)
    return ClassifierEvaluator(calibration, encoder, catalog)
