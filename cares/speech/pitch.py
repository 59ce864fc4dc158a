"""The fundamental frequency of a voice, by autocorrelation.

After P. Boersma, "Accurate short-term analysis of the fundamental frequency and the harmonics-to-noise ratio of a
sampled sound", Proc. Institute of Phonetic Sciences 17 (1993) 97-110: a Hann window of three periods of the lowest
pitch; the autocorrelation of the windowed frame divided by that of the window; the highest peak, a little
favouring high candidates against octave errors. There is no search for a path: a frame that lies an octave off the
median of its neighbours is dropped. Praat itself is under the GPL, which this project's licence does not suit.
"""

from __future__ import annotations

import numpy as np
import soxr
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE

RATE = 11_025
HOP = RATE // 100  # 10 ms, within a thousandth
LOWEST_HZ, HIGHEST_HZ = 75.0, 450.0
VOICED = 0.5  # of 1, a perfectly periodic frame
QUIET = 10 ** (-30 / 20)  # of the loudest frame
OCTAVE_COST = 0.02
NEIGHBOURS = 3  # frames on each side
OFF_SEMITONES = 8.0

Float = NDArray[np.float64]
_WINDOW = round(3 * RATE / LOWEST_HZ)


def pitch(signal: Float) -> tuple[Float, Float]:
    """Times and pitch of the frames of a signal.

    Args:
        signal: [T] at 44.1 kHz, any scale.

    Returns:
        The middles of the frames in seconds and their fundamental frequency in hertz, NaN where there is none:
        both [F]. Empty when the signal is shorter than a window (40 ms).
    """
    low = np.asarray(soxr.resample(signal.astype(np.float64), SAMPLE_RATE, RATE), np.float64)
    if len(low) < _WINDOW:
        return np.zeros(0), np.zeros(0)
    frames = np.lib.stride_tricks.sliding_window_view(low, _WINDOW)[::HOP]
    times = (np.arange(len(frames)) * HOP + _WINDOW / 2) / RATE
    window = np.asarray(np.hanning(_WINDOW), np.float64)
    centred = (frames - frames.mean(1, keepdims=True)) * window
    size = 1 << (2 * _WINDOW - 1).bit_length()
    correlation = _autocorrelation(centred, size) / _autocorrelation(window[None], size)
    found = np.array([_best(row) for row in correlation])
    levels = np.sqrt(np.mean(centred**2, 1))
    voiced = (found[:, 1] >= VOICED) & (levels > QUIET * levels.max(initial=0.0))
    return times, _without_jumps(np.where(voiced, found[:, 0], np.nan))


def semitones(hertz: Float) -> Float:
    """Pitch in semitones above 100 Hz."""
    return np.asarray(12 * np.log2(hertz / 100), np.float64)


def _autocorrelation(rows: Float, size: int) -> Float:
    power = np.abs(np.fft.rfft(rows, size)) ** 2
    lags = np.fft.irfft(power, size)[:, : _WINDOW // 2 + 2]
    return np.asarray(lags / np.maximum(lags[:, :1], 1e-12), np.float64)


def _best(row: Float) -> tuple[float, float]:
    """Frequency and strength of the best peak of one frame's autocorrelation; (0, 0) where there is none."""
    first, last = int(RATE / HIGHEST_HZ), min(len(row) - 2, round(RATE / LOWEST_HZ))
    inner = row[first : last + 1]
    peaks = first + np.flatnonzero((inner >= row[first - 1 : last]) & (inner > row[first + 1 : last + 2]))
    if not len(peaks):
        return 0.0, 0.0
    before, at, after = row[peaks - 1], row[peaks], row[peaks + 1]
    bend = before - 2 * at + after
    shift = np.where(bend < 0, 0.5 * (before - after) / np.where(bend < 0, bend, 1.0), 0.0)
    heights = np.minimum(at - 0.25 * (before - after) * shift, 1.0)
    frequencies = RATE / (peaks + shift)
    best = int(np.argmax(heights + OCTAVE_COST * np.log2(frequencies / LOWEST_HZ)))
    return float(frequencies[best]), float(heights[best])


def _without_jumps(frequencies: Float) -> Float:
    kept = frequencies.copy()
    for place in np.flatnonzero(np.isfinite(frequencies)):
        around = frequencies[max(0, place - NEIGHBOURS) : place + NEIGHBOURS + 1]
        around = around[np.isfinite(around)]
        if len(around) < 3 or abs(12 * np.log2(frequencies[place] / np.median(around))) > OFF_SEMITONES:
            kept[place] = np.nan
    return kept
