"""What can be wrong with what an engine gives, before it is kept; what it says is judged by `cares.speech.checks`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cares.speech.signal import peak_beyond_scale

SILENCE_PEAK = 10 ** (-50 / 20)


def fault_of_signal(speech: NDArray[np.float32]) -> str:
    """Name of what is wrong with an engine's float speech [T], or "": not_finite, silent, beyond_scale."""
    if not np.isfinite(speech).all():
        return "not_finite"
    if float(np.max(np.abs(speech), initial=0.0)) < SILENCE_PEAK:
        return "silent"
    return "beyond_scale" if peak_beyond_scale(speech) else ""


def flat_top_samples(speech: NDArray[np.float32]) -> int:
    """How many samples of float speech [T] lie in flat tops: three or more in a row at the peak's own height.

    A wave that was clipped stays at its limit; one that was not touches its peak once.
    """
    height = np.abs(speech)
    peak = float(height.max(initial=0.0))
    if peak == 0.0:
        return 0
    at_peak = np.concatenate([[False], height >= peak * (1 - 1e-4), [False]])
    edges = np.flatnonzero(at_peak[1:] != at_peak[:-1]).reshape(-1, 2)
    return sum(int(end - start) for start, end in edges if end - start >= 3)
