"""Octave bands: their filters, what air takes of each, and rendering of reflections that differ by band."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft, rfftfreq

from cares.core.pcm import SAMPLE_RATE

BANDS_HZ = (125, 250, 500, 1000, 2000, 4000, 8000, 16_000)
MID_BANDS = (2, 3)
TEMPERATURE_C, HUMIDITY_PERCENT, PRESSURE_KPA = 20.0, 50.0, 101.325
_EARLY = 1 << 12
_FINE = 8
_LEAD = 512
_AIR_TAPS = 64
_Q = math.sqrt(2.0)


def air_absorption_db_per_m(
    hz: float, celsius: float = TEMPERATURE_C, humidity: float = HUMIDITY_PERCENT, kpa: float = PRESSURE_KPA
) -> float:
    """Attenuation of a pure tone by air in decibels per metre: ISO 9613-1:1993, equations 3 to 5 and B.2, B.3."""
    kelvin, pressure = celsius + 273.15, kpa / 101.325
    relative = kelvin / 293.15
    saturation = 10 ** (-6.8346 * (273.16 / kelvin) ** 1.261 + 4.6151)
    water = humidity * saturation / pressure
    oxygen = pressure * (24 + 4.04e4 * water * (0.02 + water) / (0.391 + water))
    nitrogen = pressure * relative**-0.5 * (9 + 280 * water * math.exp(-4.170 * (relative ** (-1 / 3) - 1)))
    relaxed = 0.01275 * math.exp(-2239.1 / kelvin) / (oxygen + hz**2 / oxygen)
    relaxed += 0.1068 * math.exp(-3352.0 / kelvin) / (nitrogen + hz**2 / nitrogen)
    return float(8.686 * hz**2 * (1.84e-11 / pressure * math.sqrt(relative) + relative**-2.5 * relaxed))


# nepers of amplitude per metre in each band
AIR_PER_M = np.array([air_absorption_db_per_m(hz) / 8.686 for hz in BANDS_HZ])


def weights(hz: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of each band at frequencies [F]: [8, F], cross-fading over an octave, in sum 1 at every frequency."""
    octave = np.clip(np.log2(np.maximum(hz, 1.0) / BANDS_HZ[0]), 0.0, len(BANDS_HZ) - 1.0)
    distance = np.abs(octave - np.arange(len(BANDS_HZ))[:, None])
    return np.where(distance < 1, np.cos(np.pi / 2 * np.minimum(distance, 1.0)) ** 2, 0.0)


def render(delays: NDArray[np.float64], gains: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Reflections as one response.

    The first 93 ms are placed to an eighth of a sample; what comes later, where reflections are dense, to a sample.
    Bands are cross-faded without delay, so each reflection is symmetric about its time; what that puts before the
    direct sound (below -50 dB of a reflection) is cut off.

    Args:
        delays: samples after the direct sound [N], at least 0.
        gains: amplitude in each band [8, N].
        length: samples of the response.

    Returns:
        float64 [length].
    """
    early = delays < _EARLY - _LEAD
    out = np.zeros(length)
    head = _filtered(delays[early] + _LEAD, gains[:, early], 2 * _EARLY, _FINE)[_LEAD : _LEAD + min(length, _EARLY)]
    out[: len(head)] += head
    if not early.all():
        size = next_fast_len(length + 2 * _LEAD, real=True)
        kept = ~early & (delays < length)
        out += _filtered(delays[kept] + _LEAD, gains[:, kept], size, 1)[_LEAD : _LEAD + length]
    return out


def _filtered(places: NDArray[np.float64], gains: NDArray[np.float64], size: int, fine: int) -> NDArray[np.float64]:
    """Impulses on a grid of 1 / `fine` samples, each band through its filter, at 44.1 kHz: [size]."""
    hz = rfftfreq(size, 1 / SAMPLE_RATE)
    share = weights(hz)
    grid = np.rint(places * fine).astype(np.int64)
    spectrum = np.zeros(len(hz), np.complex128)
    for band, gain in enumerate(gains):
        spectrum += share[band] * rfft(np.bincount(grid, gain, size * fine)[: size * fine])[: len(hz)]
    return np.asarray(irfft(spectrum, size), np.float64)


def direct_taps(distance_m: float) -> NDArray[np.float64]:
    """The direct sound [64] after `distance_m` of air, the first metre of which is in the take: minimum phase.

    Minimum phase by folding the cepstrum: A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing", 12.
    """
    size = 4096
    hz = rfftfreq(size, 1 / SAMPLE_RATE)
    magnitude = np.exp(-(AIR_PER_M * max(0.0, distance_m - 1.0)) @ weights(hz))
    cepstrum = irfft(np.log(magnitude), size)
    cepstrum[1 : size // 2] *= 2
    cepstrum[size // 2 + 1 :] = 0
    taps: NDArray[np.float64] = irfft(np.exp(rfft(cepstrum)), size)[:_AIR_TAPS]
    return np.asarray(taps / taps.sum() * float(magnitude[0]), np.float64)


def band_energies(response: NDArray[np.float64], count: int = len(BANDS_HZ)) -> list[NDArray[np.float64]]:
    """Squares of a response [T] in each of the first `count` octaves (third-order Butterworth without delay)."""
    size = next_fast_len(len(response) + SAMPLE_RATE // 4, real=True)
    hz = rfftfreq(size, 1 / SAMPLE_RATE)
    spectrum = rfft(response, size)
    found = []
    for centre in BANDS_HZ[:count]:
        ratio = np.maximum(hz, 1e-3) / centre
        gain = 1 / np.sqrt(1 + (_Q * (ratio - 1 / ratio)) ** 6)
        found.append(np.square(irfft(spectrum * gain, size)[: len(response)]))
    return found
