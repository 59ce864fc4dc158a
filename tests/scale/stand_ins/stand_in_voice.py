"""Stand-in for the voices: a short tone a word. In the lowest bit of its samples every word says what it is.

All samples are even but for the bits of a word's mark: `MAGIC`, a number for the voice, how long the word sounds, how
many bytes it has, and these. So what hears it (`stand_in_ears`) needs to know no text, in whatever process it is and
wherever an utterance was trimmed or cut.
"""

import zlib

import numpy as np

from cares.core.pcm import SAMPLE_RATE
from cares.speech.engines import Speech, TimedWord

MAGIC = np.unpackbits(np.frombuffer(b"\xb7\x4d\x92\xe3", np.uint8))
MARK_AT = 120  # samples from the beginning of a word
LETTERS_PER_S = 46.0
AMPLITUDE = 8000.0
LEAD, TAIL = SAMPLE_RATE * 30 // 1000, SAMPLE_RATE * 60 // 1000
PAUSE = 220  # samples at the end of every word
FULL_SCALE = 16384.0  # what is given as 1.0 becomes half of 16 bits (`cares.speech.signal.HEADROOM`)


def load_engine(name, model, folder, url="", request=None):
    """As `cares.speech.engines.load_engine`."""
    return InstantEngine()


class InstantEngine:
    """As `cares.speech.engines.Engine`."""

    def speak(self, text, voice, speed, seed):
        """A tone a word, and where each lies."""
        parts, words, at = [np.zeros(LEAD, np.int64)], [], LEAD
        for word in text.split():
            tone = spoken(word, voice, speed)
            words.append(TimedWord(at, at + len(tone) - PAUSE))
            parts.append(tone)
            at += len(tone)
        samples = np.concatenate([*parts, np.zeros(TAIL, np.int64)]) / FULL_SCALE
        return Speech(samples.astype(np.float32), SAMPLE_RATE, tuple(words))


def spoken(word, voice, speed):
    """int64 samples [T] of one word, its mark in the lowest bits."""
    letters = max(2, sum(character.isalnum() for character in word))
    sounding = int(SAMPLE_RATE * letters / (LETTERS_PER_S * speed)) - PAUSE
    number = zlib.crc32(voice.encode()) & 0xFFFF
    pitch = 400 + number % 300 + zlib.crc32(word.encode()) % 90
    times = np.arange(sounding)
    hump = np.sin(np.pi * (times + 0.5) / sounding) ** 0.5
    tone = 2 * np.rint(AMPLITUDE / 2 * hump * np.sin(2 * np.pi * pitch * times / SAMPLE_RATE)).astype(np.int64)
    bits = mark(word, number, sounding)
    tone[MARK_AT : MARK_AT + len(bits)] += bits
    return np.concatenate([tone, np.zeros(PAUSE, np.int64)])


def mark(word, voice, sounding):
    """The bits of a word's mark."""
    data = word.encode()[:60]
    head = np.array([voice >> 8, voice & 255, sounding >> 8, sounding & 255, len(data)], np.uint8)
    return np.concatenate([MAGIC, np.unpackbits(head), np.unpackbits(np.frombuffer(data, np.uint8))])
