"""True peak by fourfold oversampling after Recommendation ITU-R BS.1770-4, annex 2.

Signals are float64 arrays [T] with full scale at 1.0; levels are dBTP. The interpolator is a windowed sinc with 48 taps
a phase, where annex 2 asks for 12. Oversampling by four still reads low when the peak falls between the finer samples,
by at most 20 log10(cos(pi f / (4 fs))): 0.17 dB at a quarter of the sample rate, 0.69 dB at half of it (annex 2,
attachment 1). EBU Tech 3341 allows +0.2 and -0.4 dB on its test signals.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy.signal
from numpy.typing import NDArray

from cares.mix.k_weighting import Signal
from cares.mix.loudness import check_finite

PEAK_BLOCK = 1 << 10
_OVERSAMPLING = 4
_CONTEXT = 64
_CHUNK_BLOCKS = 128


def block_peaks(signal: Signal, floor: float) -> Signal:
    """Greatest magnitude of the fourfold oversampled signal in each block of PEAK_BLOCK samples, linear.

    One phase passes the samples themselves, so no figure is below the block's sample peak.

    Args:
        signal: [T].
        floor: blocks that cannot reach this magnitude, by the filter's absolute sum, get their sample peak instead.

    Raises:
        ValueError: a sample is not finite.
    """
    check_finite(signal)
    peaks = _sample_peaks(signal)
    around = np.concatenate(([0.0], peaks, [0.0]))
    reach = np.maximum(np.maximum(around[:-2], around[1:-1]), around[2:]) * _greatest_gain()
    blocks = np.flatnonzero(reach >= floor)
    for run in np.split(blocks, np.flatnonzero(np.diff(blocks) > 1) + 1):
        for first in range(0, len(run), _CHUNK_BLOCKS):
            part = run[first : first + _CHUNK_BLOCKS]
            if len(part):
                peaks[part] = _oversampled(signal, int(part[0]) * PEAK_BLOCK, (int(part[-1]) + 1) * PEAK_BLOCK)
    return peaks


def _sample_peaks(signal: Signal) -> Signal:
    """Greatest magnitude of the samples of each block."""
    whole = len(signal) // PEAK_BLOCK * PEAK_BLOCK
    peaks = np.zeros(-(-len(signal) // PEAK_BLOCK))
    for at in range(0, whole, _CHUNK_BLOCKS * PEAK_BLOCK):
        rows = signal[at : min(at + _CHUNK_BLOCKS * PEAK_BLOCK, whole)].reshape(-1, PEAK_BLOCK)
        peaks[at // PEAK_BLOCK :][: len(rows)] = np.maximum(rows.max(1), -rows.min(1))
    if whole < len(signal):
        peaks[-1] = np.abs(signal[whole:]).max()
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
    """True peak of the whole signal; -inf for digital silence; ValueError when a sample is not finite."""
    floor = float(np.abs(signal).max()) if len(signal) else 0.0
    return 20 * math.log10(float(block_peaks(signal, floor).max())) if floor else -math.inf


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
