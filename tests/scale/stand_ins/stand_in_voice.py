"""Stand-in for the voices: a short tone a word, which says in the lowest bits of its samples what it is."""

import zlib

import numpy as np
from stand_in_marks import MARK_AT, mark

from cares.core.pcm import SAMPLE_RATE
from cares.speech.engines import Speech, TimedWord

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
