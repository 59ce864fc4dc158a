"""Signals before they are rounded: float64 [T] at 44.1 kHz, full scale 1.0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cares.core.pcm import Samples

Signal = NDArray[np.float64]
PEAK_DBFS = -3.0


def decibels(value: float) -> float:
    """An amplitude relative to full scale in dBFS; -inf for 0."""
    return 20 * float(np.log10(value)) if value > 0 else float("-inf")


def to_samples(signal: Signal) -> Samples:
    """The signal brought to a peak of -3 dBFS and rounded once to int16 [T]; ValueError when it has no peak."""
    peak = float(np.abs(signal).max(initial=0.0))
    if not 0 < peak < float("inf"):
        raise ValueError(f"a signal whose peak is {peak} has no level")
    return np.round(signal * (10 ** (PEAK_DBFS / 20) / peak * 32767)).astype(np.int16)
