"""Loudness and true peak after Recommendation ITU-R BS.1770-4, at 44,100 Hz, one channel.

Signals are float64 arrays [T] with full scale at 1.0. Levels are LUFS or dBTP.

The filters are the standard's two biquads (annex 1, tables 1 and 2, given for 48 kHz), carried over to 44.1 kHz through
their analogue form as in libebur128 and B. De Man, "Evaluation of implementations of the EBU R128 loudness
measurement", AES e-Brief 2018.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy.signal
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE

Signal = NDArray[np.float64]
FULL_SCALE = 32_768.0
BLOCK = SAMPLE_RATE * 2 // 5  # 400 ms, annex 1, clause 2.7
HOP = BLOCK // 4  # 75 % overlap
ABSOLUTE_GATE = -70.0
RELATIVE_GATE = -10.0
ACTIVE_RANGE_DB = 60.0
PEAK_BLOCK = 1 << 10
_OFFSET = -0.691
_OVERSAMPLING = 4
_CONTEXT = 64
_CHUNK_BLOCKS = 128


class SilentError(ValueError):
    """A sound has no level: nothing in it passes the absolute gate, or it is silence."""


@cache
def k_weighting(sample_rate: int) -> NDArray[np.float64]:
    """Second-order sections [2, 6] of the K-weighting filter: the high shelf, then the high pass."""
    gain, quality = 3.999843853973347, 0.7071752369554196
    k = math.tan(math.pi * 1681.974450955533 / sample_rate)
    high = 10.0 ** (gain / 20)
    band = high**0.4996667741545416
    norm = 1 + k / quality + k * k
    shelf = [
        (high + band * k / quality + k * k) / norm,
        2 * (k * k - high) / norm,
        (high - band * k / quality + k * k) / norm,
        1.0,
        2 * (k * k - 1) / norm,
        (1 - k / quality + k * k) / norm,
    ]
    quality = 0.5003270373238773
    k = math.tan(math.pi * 38.13547087602444 / sample_rate)
    norm = 1 + k / quality + k * k
    high_pass = [1.0, -2.0, 1.0, 1.0, 2 * (k * k - 1) / norm, (1 - k / quality + k * k) / norm]
    return np.array([shelf, high_pass])


def weighted(signal: Signal) -> Signal:
    """The K-weighted signal [T]."""
    return np.asarray(scipy.signal.sosfilt(k_weighting(SAMPLE_RATE), signal), np.float64)


def integrated_lufs(signal: Signal) -> float:
    """Gated integrated loudness (annex 1, clauses 2.5-2.8) of a signal of at least 400 ms.

    Raises:
        SilentError: no block passes the absolute gate.
        ValueError: the signal is shorter than one block, or not finite.
    """
    _check_finite(signal)
    if len(signal) < BLOCK:
        raise ValueError(f"{len(signal)} samples are less than one block of {BLOCK}; use level_lufs")
    hops = len(signal) // HOP
    quarters = np.square(weighted(signal[: hops * HOP])).reshape(hops, HOP).sum(1)
    powers = (quarters[:-3] + quarters[1:-2] + quarters[2:-1] + quarters[3:]) / BLOCK
    powers = powers[powers > _power(ABSOLUTE_GATE)]
    if not len(powers):
        raise SilentError(f"no block is louder than {ABSOLUTE_GATE} LUFS")
    powers = powers[powers > float(powers.mean()) * 10 ** (RELATIVE_GATE / 10)]
    return _lufs(float(powers.mean()))


def level_lufs(signal: Signal) -> float:
    """Level of any sound by the project's one rule.

    Active samples run from the first to the last within 60 dB of the peak. With 400 ms of them or more the level is
    the gated integrated loudness of the whole signal; with less it is the K-weighted level over the active samples,
    ungated.

    Raises:
        SilentError: the sound is silent, or weaker than -70 LUFS.
        ValueError: a sample is not finite.
    """
    _check_finite(signal)
    start, end = active_span(signal)
    if end - start >= BLOCK:
        return integrated_lufs(signal)
    level = ungated_lufs(signal, start, end)
    if level < ABSOLUTE_GATE:
        raise SilentError(f"the level of {level:.1f} LUFS is below {ABSOLUTE_GATE}")
    return level


def active_span(signal: Signal) -> tuple[int, int]:
    """First and one past the last sample within 60 dB of the peak; SilentError when all are zero."""
    magnitude = np.abs(signal)
    peak = float(magnitude.max()) if len(signal) else 0.0
    if peak == 0:
        raise SilentError("the sound is silent")
    active = np.flatnonzero(magnitude >= peak * 10 ** (-ACTIVE_RANGE_DB / 20))
    return int(active[0]), int(active[-1]) + 1


def ungated_lufs(signal: Signal, start: int, end: int) -> float:
    """K-weighted level over samples start <= t < end of a signal, without gates; -inf for digital silence."""
    return _lufs(float(np.square(weighted(signal[:end])[start:]).mean()))


def block_peaks(signal: Signal, floor: float) -> Signal:
    """Greatest magnitude of the fourfold oversampled signal (annex 2) in each block of PEAK_BLOCK samples, linear.

    The interpolation filter has 48 taps a phase (annex 2 asks for 12). One phase passes the samples themselves, so no
    figure is below the block's sample peak.

    Args:
        floor: blocks that cannot reach this magnitude, by the filter's absolute sum, get their sample peak instead.
    """
    _check_finite(signal)
    padded = np.zeros(-(-len(signal) // PEAK_BLOCK) * PEAK_BLOCK)
    padded[: len(signal)] = np.abs(signal)
    peaks: Signal = padded.reshape(-1, PEAK_BLOCK).max(1)
    around = np.concatenate(([0.0], peaks, [0.0]))
    reach = np.maximum(np.maximum(around[:-2], around[1:-1]), around[2:]) * _greatest_gain()
    blocks = np.flatnonzero(reach >= floor)
    for run in np.split(blocks, np.flatnonzero(np.diff(blocks) > 1) + 1):
        for first in range(0, len(run), _CHUNK_BLOCKS):
            part = run[first : first + _CHUNK_BLOCKS]
            if len(part):
                peaks[part] = _oversampled(signal, int(part[0]) * PEAK_BLOCK, (int(part[-1]) + 1) * PEAK_BLOCK)
    return peaks


def _oversampled(signal: Signal, start: int, end: int) -> Signal:
    """Peaks of the blocks in [start, end) of a signal."""
    end = min(end, len(signal))
    low, high = max(0, start - _CONTEXT), min(len(signal), end + _CONTEXT)
    kernel = _interpolator()
    delay = (len(kernel) - 1) // 2
    fine = np.abs(scipy.signal.upfirdn(kernel, signal[low:high], _OVERSAMPLING))
    fine = fine[delay + (start - low) * _OVERSAMPLING :][: (end - start) * _OVERSAMPLING]
    return np.asarray(np.maximum.reduceat(fine, np.arange(0, len(fine), PEAK_BLOCK * _OVERSAMPLING)), np.float64)


def true_peak_dbtp(signal: Signal) -> float:
    """True peak of the whole signal; -inf for digital silence."""
    floor = float(np.abs(signal).max()) if len(signal) else 0.0
    return 20 * math.log10(float(block_peaks(signal, floor).max())) if floor else -math.inf


def to_float(samples: NDArray[np.int16]) -> Signal:
    """16-bit samples as a signal with full scale at 1.0."""
    return samples.astype(np.float64) / FULL_SCALE


@cache
def _interpolator() -> NDArray[np.float64]:
    """A windowed sinc over 24 samples to each side; its phase 0 passes the samples unchanged."""
    half = 24 * _OVERSAMPLING
    position = np.arange(-half, half + 1) / _OVERSAMPLING
    kernel = np.sinc(position) * np.kaiser(2 * half + 1, 6.0)
    return np.asarray(kernel, np.float64)


@cache
def _greatest_gain() -> float:
    """Largest sum of absolute taps over the phases of the interpolator."""
    kernel = np.abs(_interpolator())
    return max(float(kernel[phase::_OVERSAMPLING].sum()) for phase in range(_OVERSAMPLING))


def _check_finite(signal: Signal) -> None:
    if not np.isfinite(signal).all():
        raise ValueError(f"sample {int(np.flatnonzero(~np.isfinite(signal))[0])} is not finite")


def _power(lufs: float) -> float:
    return float(10 ** ((lufs - _OFFSET) / 10))


def _lufs(power: float) -> float:
    return _OFFSET + 10 * math.log10(power) if power > 0 else -math.inf
