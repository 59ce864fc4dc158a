"""The evaluator `classifier`: a linear model on named features of the words and of a sentence encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cares.catalog.catalog import Catalog
from cares.dialogue.classifier import LinearModel
from cares.dialogue.cues import Cues, load_cues
from cares.dialogue.features import Encoder, SoundNames, features
from cares.dialogue.judging import SCORE_DECIMALS, similarity
from cares.dialogue.marked import Heard, Pieces, Said, around
from cares.dialogue.topic_match import topic_vector, topic_vectors
from cares.records.dialogue import Verdict


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
    """See `cares.dialogue.judging.Evaluator`; the verdicts on a transcript depend on no other transcript.

    Args:
        model: the trained model.
        encoder: the encoder that it was trained with.
        catalog: names of the sounds; a sound that is not in it goes by the words of its id.
        name: how records call it.
        topic_threshold: least similarity at which a topic counts as recovered.
    """

    def __init__(
        self, model: LinearModel, encoder: Encoder, catalog: Catalog, name: str, topic_threshold: float
    ) -> None:
        self.name, self.topic_threshold = name, topic_threshold
        self._model, self._encoder = model, encoder
        self._reader = FeatureReader(encoder, catalog, load_cues())

    def judge_many(self, transcripts: Sequence[Pieces]) -> list[list[Verdict]]:
        """See `Evaluator`; `scores` are probabilities to 4 decimals."""
        return [judge(self._model, self._reader, transcript) for transcript in transcripts]

    def topic_similarities(self, topics: Sequence[str], transcripts: Sequence[Pieces]) -> list[float]:
        """See `Evaluator`; ValueError unless there is a topic for each transcript."""
        wanted = topic_vectors(topics, self._encoder)
        pairs = zip(wanted, transcripts, strict=True)
        return [similarity(topic, self.about(transcript)) for topic, transcript in pairs]

    def about(self, transcript: Pieces) -> NDArray[np.float64]:
        """Unit vector of what a transcript is about, leaving out what this evaluator judges to be pivots."""
        verdicts = judge(self._model, self._reader, transcript)
        pivots = {verdict.event for verdict in verdicts if verdict.label == "pivot"}
        return topic_vector(transcript, pivots, self._encoder)

    def close(self) -> None:
        """See `Evaluator`; there is nothing to free."""


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
