"""Reverberation time of an impulse response or an echogram, by backward integration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE

_UPPER_DB, _LOWER_DB = -5.0, -25.0
_DECAY_60 = 6 * math.log(10)
_ROUNDS = 8


def in_steps(energy: NDArray[np.float64], step: int) -> NDArray[np.float64]:
    """Sums of `step` samples each, the last of what is left: [T] to [T / step], rounded up."""
    padded = np.zeros(-(-len(energy) // step) * step)
    padded[: len(energy)] = energy
    return np.asarray(padded.reshape(-1, step).sum(1), np.float64)


def decay_seconds(energy: NDArray[np.float64], start_sample: int, rate: float = SAMPLE_RATE) -> float:
    """T20 in seconds of squared samples [T] at `rate` hertz, integrated from `start_sample`.

    Infinite when they do not fall by 25 dB; 0 when nothing follows `start_sample` or the fall is a single step.

    Backward integration: M. R. Schroeder, "New method of measuring reverberation time", JASA 37 (1965); evaluation from
    -5 to -25 dB and the constant for the energy after the end: ISO 3382-1:2009, 5.3.3 and 6. The integral starts late
    because the direct sound of a near source, which T20 takes to be far away, would steepen the curve.
    """
    late = energy[start_sample:]
    if not late.any():
        return 0.0
    integral = np.cumsum(late[::-1])[::-1]
    end = late[-max(1, len(late) // 10) :].mean()
    seconds = _slope_seconds(integral, rate)
    for _ in range(_ROUNDS):
        if seconds == 0 or math.isinf(seconds):
            break
        # an exponential that goes on from the last tenth's middle: its integral after the end
        middle_to_end = 0.05 * len(late) / rate
        rest = end * math.exp(-_DECAY_60 * middle_to_end / seconds) * seconds * rate / _DECAY_60
        seconds = _slope_seconds(integral + rest, rate)
    return seconds


def _slope_seconds(integral: NDArray[np.float64], rate: float) -> float:
    levels: NDArray[Any] = 10 * np.log10(integral / integral[0] + 1e-30)
    first = int(np.argmax(levels <= _UPPER_DB))
    last = int(np.argmax(levels <= _LOWER_DB))
    if levels[-1] > _LOWER_DB:
        return math.inf
    if last - first < 2:
        return 0.0
    times = np.arange(first, last) / rate
    times -= times.mean()
    slope = float((times * levels[first:last]).sum() / (times * times).sum())
    return -60 / slope
