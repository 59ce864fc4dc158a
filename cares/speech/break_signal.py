"""What is heard in a stretch of a signal: its pauses, its level, and whether something said before is said again.

Frames last 25 ms every 10 ms. Nothing here knows words or labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from cares.core.pcm import SAMPLE_RATE

Float = NDArray[np.float64]

FRAME, STEP = SAMPLE_RATE // 40, SAMPLE_RATE // 100
SHORTEST_PAUSE_S = 0.15  # shorter silences are closures of stops
DEEPEST_DB = 25.0  # below the level of speech everything is silence
BANDS, COEFFICIENTS = 32, 13
LOWEST_HZ, HIGHEST_HZ = 150.0, 7_000.0


def levels(signal: Float) -> Float:
    """Level of each frame in dB, [1 + (T - FRAME) // STEP]; empty when the signal is shorter than a frame."""
    if len(signal) < FRAME:
        return np.zeros(0)
    sums = np.concatenate(([0.0], np.cumsum(np.square(signal))))
    starts = np.arange(0, len(signal) - FRAME + 1, STEP)
    return np.asarray(10 * np.log10(np.maximum((sums[starts + FRAME] - sums[starts]) / FRAME, 1e-12)), np.float64)


def speech_threshold(signal: Float, floor_db: float) -> float:
    """The level that parts speech from pauses: half-way between the floor and the speech of a stretch, in dB.

    Args:
        signal: a stretch [T] in which somebody speaks most of the time.
        floor_db: the level where nobody speaks; of a dry signal it is far below, and 25 dB below the speech count.
    """
    found = levels(signal)
    speech = float(np.quantile(found, 0.8)) if len(found) else 0.0
    return max((speech + floor_db) / 2, speech - DEEPEST_DB)


def pauses(signal: Float, threshold_db: float) -> list[float]:
    """Lengths in seconds of all silences of 150 ms or more inside a stretch [T], those at its ends included."""
    quiet = levels(signal) < threshold_db
    edges = np.flatnonzero(np.diff(np.concatenate(([0], quiet.astype(int), [0]))))
    lengths = (edges[1::2] - edges[::2]) * STEP / SAMPLE_RATE
    return [float(length) for length in lengths if length >= SHORTEST_PAUSE_S]


def cepstra(signal: Float) -> Float:
    """Mel-cepstral coefficients 1 to 12 of each frame, [F, 12], over the bands from 150 to 7,000 Hz."""
    if len(signal) < FRAME:
        return np.zeros((0, COEFFICIENTS - 1))
    frames = np.lib.stride_tricks.sliding_window_view(signal, FRAME)[::STEP]
    power = np.abs(np.fft.rfft(frames * np.hanning(FRAME), 2048)) ** 2
    return np.asarray(dct(np.log(power @ _filters().T + 1.0), norm="ortho")[:, 1:COEFFICIENTS], np.float64)


def said_again(query: Float, after: Float) -> float:
    """How near the best place of `after` comes to `query`: the mean distance of their cepstra [F, C] along the path.

    Subsequence alignment with steps (1, 1), (1, 2) and (2, 1), so that the tempo may differ by a factor of two
    (H. Sakoe and S. Chiba, IEEE Trans. ASSP 26 (1978) 43-49). Infinite when `after` is shorter than half the query.
    """
    if len(query) < 2 or len(after) < (len(query) + 1) // 2:
        return float("inf")
    cost = np.sqrt(((query[:, None] - after[None]) ** 2).sum(-1))
    total = np.full_like(cost, np.inf)
    total[0] = cost[0]
    for row in range(1, len(cost)):
        total[row, 1:] = total[row - 1, :-1]
        total[row, 2:] = np.minimum(total[row, 2:], total[row - 1, :-2])
        if row > 1:
            total[row, 1:] = np.minimum(total[row, 1:], total[row - 2, :-1] + cost[row - 1, 1:])
        total[row] += cost[row]
    return float(total[-1].min() / len(query))


def _filters() -> Float:
    """Triangles of equal width in mel (S. S. Stevens et al. 1937 in O'Shaughnessy's form), [BANDS, 1025]."""

    def mel(hertz: Float | float) -> Float:
        return np.asarray(2595 * np.log10(1 + np.asarray(hertz) / 700), np.float64)

    places = mel(np.arange(1025) * SAMPLE_RATE / 2048)
    edges = np.linspace(mel(LOWEST_HZ), mel(HIGHEST_HZ), BANDS + 2)
    rising = (places[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - places[None]) / (edges[2:] - edges[1:-1])[:, None]
    return np.asarray(np.clip(np.minimum(rising, falling), 0, None), np.float64)
