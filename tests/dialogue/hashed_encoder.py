"""A stand-in for the sentence encoder: hashed bags of words, so that tests need no weights."""

import hashlib

import numpy as np

from cares.dialogue.cues import words_of


class HashedEncoder:
    """Texts that share words are near to each other; nothing else is."""

    def encode(self, texts):
        rows = np.zeros((len(texts), 64))
        for row, text in zip(rows, texts, strict=True):
            for word in words_of(text):
                row[hashlib.sha256(word.encode()).digest()[0] % 64] += 1
            length = np.linalg.norm(row)
            row /= length if length else 1
        return rows
