"""Stand-ins for the sentence encoder and the evaluator: the one counts words, the other reads what the writer left."""

import hashlib

import numpy as np
from stand_in_writer import CUES

from cares.dialogue.cues import words_of
from cares.dialogue.marked import Heard, Said
from cares.records.dialogue import Verdict

SIZE = 64


class SentenceEncoder:
    """As `cares.dialogue.encoder.SentenceEncoder`: texts that share words are near to each other."""

    def __init__(self, model_id):
        self.model_id = model_id

    def encode(self, texts):
        """Unit vectors [len(texts), 64]; an empty text is zero."""
        rows = np.zeros((len(texts), SIZE))
        for row, text in zip(rows, texts, strict=True):
            for word in words_of(text):
                row[hashlib.sha256(word.encode()).digest()[0] % SIZE] += 1
            row /= max(float(np.linalg.norm(row)), 1e-9)
        return rows


class ClassifierEvaluator:
    """As the class of that name in `cares.dialogue.classifier_judge`: reads what the writer's stand-in leaves."""

    def __init__(self, model, encoder, catalog, name, topic_threshold):
        self.name, self.topic_threshold = name, topic_threshold

    def judge_many(self, transcripts):
        """A verdict on every sound."""
        return [
            [self._verdict(place, piece, pieces) for place, piece in enumerate(pieces) if isinstance(piece, Heard)]
            for pieces in transcripts
        ]

    def topic_similarities(self, topics, transcripts):
        """Every topic is recovered."""
        return [1.0 for _ in topics]

    def close(self):
        """Nothing is open."""

    def _verdict(self, place, heard, pieces):
        # what is said next to the sound, on either side, holds the word
        beside = [piece.text for piece in pieces[max(0, place - 1) : place + 2] if isinstance(piece, Said)]
        found = {label for label, cue in CUES.items() for text in beside if cue in text}
        later = [piece.text for piece in pieces[place + 1 : place + 4] if isinstance(piece, Said)]
        found = found or {label for label, cue in CUES.items() for text in later if cue in text}
        label = found.pop() if len(found) == 1 else None
        scores = {name: 0.97 if name == label else 0.01 for name in CUES}
        return Verdict(event=heard.event, sound=heard.sound, label=label, scores=scores)
