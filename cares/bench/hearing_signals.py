"""Four sounds that nobody takes for another, made from their formulas, and the faint noise that they stand in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE, Samples
from cares.core.rng import derived_seed

SIGNALS: Mapping[str, str] = {
    "siren": "a siren",
    "car_horn": "a car horn",
    "telephone": "a ringing telephone",
    "knocking": "knocking on a door",
}
SECONDS = 3.0
PEAK = 0.5
FLOOR_RMS = 10.0
Floats = NDArray[np.float64]


def signal(name: str) -> Samples:
    """One of SIGNALS: int16 [T] at 44.1 kHz, three seconds, peak at half of full scale."""
    t = np.arange(round(SECONDS * SAMPLE_RATE)) / SAMPLE_RATE
    made = {"siren": _siren, "car_horn": _car_horn, "telephone": _telephone, "knocking": _knocking}[name](t)
    edge = np.minimum(1.0, np.minimum(t, SECONDS - t) / 0.01)
    made = made * edge
    return np.asarray(np.rint(PEAK * 32767 * made / np.abs(made).max()), np.int16)


@cache
def floor_noise(seconds: int) -> Samples:
    """Faint white noise: int16 [T] at 44.1 kHz, about -70 dBFS, so that a file is not digital silence."""
    raw = np.random.Philox(key=derived_seed(0, "preflight_floor")).random_raw(seconds * SAMPLE_RATE)
    uniform = raw.astype(np.float64) / 2.0**64 - 0.5
    return np.asarray(np.rint(uniform * FLOOR_RMS * np.sqrt(12.0)), np.int16)


def _siren(t: Floats) -> Floats:
    """A tone that rises and falls between 600 and 1,400 Hz once a second, with two harmonics."""
    phase = 2 * np.pi * np.cumsum(1000 - 400 * np.cos(2 * np.pi * t)) / SAMPLE_RATE
    return np.asarray(np.sin(phase) + 0.4 * np.sin(2 * phase) + 0.2 * np.sin(3 * phase))


def _car_horn(t: Floats) -> Floats:
    """Two blasts of a chord of 400 and 500 Hz, each with ten harmonics."""
    blast = ((t % 1.5) < 1.0).astype(np.float64)
    tones = sum(np.sin(2 * np.pi * base * n * t) / n for base in (400.0, 500.0) for n in range(1, 11))
    return np.asarray(blast * tones)


def _telephone(t: Floats) -> Floats:
    """A bell of inharmonic partials that is struck twenty times a second for a second, with a pause."""
    since = t % 0.05
    on = ((t % 1.5) < 1.0).astype(np.float64)
    partials = sum(np.sin(2 * np.pi * f * t) / (n + 1) for n, f in enumerate((1370.0, 1980.0, 2770.0, 4110.0)))
    return np.asarray(on * np.exp(-since / 0.03) * partials)


def _knocking(t: Floats) -> Floats:
    """Three knocks, twice: bursts of noise through a resonance of 180 Hz, gone within a tenth of a second."""
    raw = np.random.Philox(key=derived_seed(0, "preflight_knocking")).random_raw(len(t))
    noise = raw.astype(np.float64) / 2.0**63 - 1.0
    made = np.zeros_like(t)
    for start in (0.1, 0.4, 0.7, 1.6, 1.9, 2.2):
        since = t - start
        struck = since >= 0
        body = np.sin(2 * np.pi * 180 * since) + 0.6 * np.sin(2 * np.pi * 310 * since) + 0.5 * noise
        made += np.where(struck, np.exp(-np.maximum(since, 0) / 0.03) * body, 0.0)
    return made
