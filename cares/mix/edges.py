"""Where speech is heard in a stretch of samples, and where it is quietest: integers only, so the answer is exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE, Samples

WINDOW = SAMPLE_RATE // 100
RANGE_POWER = 10**5  # 50 dB
SPLIT_REACH = 4 * WINDOW


def spoken_span(samples: Samples) -> tuple[int, int]:
    """Start and end of what is heard in an utterance [T].

    Windows of 10 ms within 50 dB of the loudest one count as heard, and nothing is kept around them: an utterance that
    is parted inside has no margin there, so a margin would tell a sound after a sentence from one within. (0, 0) when
    all samples are zero.
    """
    squares = samples.astype(np.int64) ** 2
    padded = np.zeros(-(-len(samples) // WINDOW) * WINDOW, np.int64)
    padded[: len(samples)] = squares
    energy = padded.reshape(-1, WINDOW).sum(1)
    loudest = int(energy.max()) if len(energy) else 0
    if loudest == 0:
        return 0, 0
    heard = np.flatnonzero(energy * RANGE_POWER >= loudest)
    return int(heard[0]) * WINDOW, min(len(samples), (int(heard[-1]) + 1) * WINDOW)


def quiet_point(samples: Samples, before: tuple[int, int], after: tuple[int, int]) -> tuple[int, int]:
    """Where to part two neighbouring words: at the middle of the quietest 10 ms between them.

    Args:
        samples: the speech file [T].
        before, after: start and end sample of the two words. The search reaches 40 ms into each, for aligners are no
            more exact than that, but never beyond its middle.

    Returns:
        A sample between the middles of both words, of equally quiet places the one nearest to half-way; and the energy
        of its 10 ms, a sum of squares.
    """
    low = max(before[1] - SPLIT_REACH, (before[0] + before[1]) // 2)
    high = min(max(after[0], before[1]) + SPLIT_REACH, max((after[0] + after[1]) // 2, low + 1))
    half_way = (low + high) // 2
    if high - low <= WINDOW:
        around = samples[max(0, half_way - WINDOW // 2) :][:WINDOW]
        return half_way, int((around.astype(np.int64) ** 2).sum())
    energy = _moving_energy(samples[low:high])
    centres = low + WINDOW // 2 + np.arange(len(energy))
    quietest = centres[energy == energy.min()]
    return int(quietest[np.abs(quietest - half_way).argmin()]), int(energy.min())


def _moving_energy(samples: Samples) -> NDArray[np.int64]:
    sums = np.concatenate(([0], np.cumsum(samples.astype(np.int64) ** 2)))
    return np.asarray(sums[WINDOW:] - sums[:-WINDOW], np.int64)
