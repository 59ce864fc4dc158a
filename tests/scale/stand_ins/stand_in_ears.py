"""Stand-ins for what listens: they read the marks of `stand_in_marks` from the lowest bits of dry speech.

In a mix there are no marks left. What is "heard" there is as many words as are said in that time, none of them right.
"""

import zlib
from pathlib import Path

import numpy as np
from stand_in_marks import marks

from cares.asr.types import AlignedWord, RecognisedWord
from cares.core.pcm import SAMPLE_RATE, read_samples

MIXED_WORD = SAMPLE_RATE // 8
MIXED_WORDS = ("perhaps", "seven", "people", "were", "waiting", "outside", "that", "evening")


class Recogniser:
    """As `cares.asr.recogniser.Recogniser`."""

    def __init__(self, model_id="whisper-base", store=None, threads=1):
        self.model_id = model_id

    def words(self, sound):
        """Words with their places."""
        samples = read_samples(sound) if isinstance(sound, Path) else sound
        places = [(word.text, word.start, word.end) for word in marks(samples)] or [
            (MIXED_WORDS[at // MIXED_WORD % len(MIXED_WORDS)], at, at + MIXED_WORD // 2)
            for at in range(0, len(samples) - MIXED_WORD, MIXED_WORD)
        ]
        return tuple(
            RecognisedWord(text=text, start_sample=start, end_sample=end, confidence=0.9) for text, start, end in places
        )

    def text(self, sound):
        """The words without their places."""
        return " ".join(word.text for word in self.words(sound))

    def align(self, sound, known_text):
        """See `Aligner`."""
        return Aligner(self.model_id).align(sound, known_text)


class Aligner:
    """As `cares.asr.aligner.Aligner`: a word is where its mark is; where marks and words differ in number, anywhere."""

    def __init__(self, model_id="whisper-base", backend="whisper-timestamped", store=None, threads=1, load=None):
        self.model_id, self.backend = model_id, backend

    def align(self, sound, known_text):
        """The place of each word."""
        samples = read_samples(sound) if isinstance(sound, Path) else sound
        words, found = known_text.split(), marks(samples)
        timed = len(found) == len(words)
        spans = [(m.start, m.end) for m in found] if timed else _evenly(len(samples), len(words))
        return tuple(
            AlignedWord(text=word, start_sample=start, end_sample=end, probability=0.9, timed=timed)
            for word, (start, end) in zip(words, spans, strict=True)
        )


class SpeakerEncoder:
    """As `cares.speech.voiceprint.SpeakerEncoder`: a direction for each voice."""

    def __init__(self, model_id, store=None):
        self.model_id = model_id

    def voiceprint(self, samples):
        """float32 [256] of length 1."""
        found = marks(samples)
        voice = found[0].voice if found else zlib.crc32(samples.tobytes())
        direction = np.random.default_rng(voice).standard_normal(256)
        return (direction / np.linalg.norm(direction)).astype(np.float32)


def _evenly(length, count):
    return [(length * place // count, length * (place + 1) // count) for place in range(count)]
