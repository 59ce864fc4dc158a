"""Speech-like signals: syllables of a voiced source through formants, with hiss before some, in two kinds of voice.

They have what the mix and the audit react to (syllables at a natural rate, pauses, a speaker's own pitch and level,
words whose level falls over an utterance) and no meaning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE
from cares.core.rng import KeyedRandom, derived_seed
from cares.records.scene import Gender

SYLLABLES = 40
VOICES = 4
LONGEST_S = 0.5
_PITCH_HZ = {"F": (175.0, 240.0), "M": (90.0, 140.0)}
_TRACT = {"F": 1.15, "M": 1.0}
# first three formants of ten American English vowels, men: Peterson and Barney 1952, table II
_FORMANTS = (
    (270, 2290, 3010), (390, 1990, 2550), (530, 1840, 2480), (660, 1720, 2410), (730, 1090, 2440),
    (570, 840, 2410), (440, 1020, 2240), (300, 870, 2240), (640, 1190, 2390), (490, 1350, 1690),
)  # fmt: skip
_BANDWIDTHS = (80.0, 110.0, 160.0)
_HIGHEST_HZ = 5_000.0
Signal = NDArray[np.float32]


@dataclass(frozen=True)
class Voice:
    """One speaker: syllables of `LONGEST_S` seconds at an RMS of 1, of which a word takes the beginnings."""

    name: str
    syllables: tuple[Signal, ...]


def make_voices(seed: int) -> dict[Gender, tuple[Voice, ...]]:
    """`VOICES` voices of each gender, functions of the seed."""
    genders: tuple[Gender, ...] = ("F", "M")
    return {gender: tuple(_voice(seed, gender, number) for number in range(VOICES)) for gender in genders}


def _voice(seed: int, gender: Gender, number: int) -> Voice:
    name = f"{gender.lower()}{number}"
    random = KeyedRandom(seed, "corpus_voice", name)
    pitch, tract = random.uniform(*_PITCH_HZ[gender]), _TRACT[gender] * random.uniform(0.93, 1.07)
    noise = np.random.default_rng(derived_seed(seed, "corpus_hiss", name))
    return Voice(name, tuple(_syllable(random, noise, pitch, tract) for _ in range(SYLLABLES)))


def _syllable(random: KeyedRandom, noise: np.random.Generator, pitch: float, tract: float) -> Signal:
    n = round(LONGEST_S * SAMPLE_RATE)
    hertz = pitch * random.uniform(0.85, 1.2) * np.linspace(1.0, random.uniform(0.8, 1.1), n)
    phase = 2 * np.pi * np.cumsum(hertz) / SAMPLE_RATE
    formants = [tract * formant for formant in random.choice(_FORMANTS)]
    voiced = np.zeros(n)
    for harmonic in range(1, int(_HIGHEST_HZ / hertz.max()) + 1):
        voiced += _resonance(harmonic * float(hertz.mean()), formants) / harmonic * np.sin(harmonic * phase)
    voiced /= np.sqrt(np.square(voiced).mean())
    hiss_ms = random.choice((0, 0, 20, 50, 90))
    if not hiss_ms:
        return _risen(voiced, round(random.uniform(0.01, 0.04) * SAMPLE_RATE))
    length = hiss_ms * SAMPLE_RATE // 1000
    hiss = np.diff(noise.standard_normal(length + 1)) * 10 ** (random.uniform(-22, -10) / 20)
    return _risen(np.concatenate([hiss, _risen(voiced, SAMPLE_RATE // 100)])[:n], SAMPLE_RATE // 200)


def _resonance(hertz: float, formants: list[float]) -> float:
    return sum(
        1 / math.hypot(1, (hertz - formant) / width) for formant, width in zip(formants, _BANDWIDTHS, strict=True)
    )


def _risen(signal: NDArray[np.float64] | Signal, length: int) -> Signal:
    risen = np.asarray(signal, np.float32).copy()
    risen[:length] *= np.sin(np.linspace(0, np.pi / 2, length, dtype=np.float32))
    return risen
