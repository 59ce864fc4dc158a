"""The K-weighting filter of Recommendation ITU-R BS.1770-4, for any sample rate.

The standard's two biquads (annex 1, tables 1 and 2, given for 48 kHz) are carried over to other rates through their
analogue form, as in libebur128 and B. De Man, "Evaluation of implementations of the EBU R128 loudness measurement", AES
e-Brief 2018.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
import scipy.signal
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE

Signal = NDArray[np.float64]


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


def weighted_chunks(signal: Signal, chunk: int, sample_rate: int = SAMPLE_RATE) -> Iterator[Signal]:
    """The K-weighted signal [..., T] in pieces of `chunk` samples; their concatenation is what one filter run gives."""
    sections = k_weighting(sample_rate)
    state = np.zeros((len(sections), *signal.shape[:-1], 2))
    for start in range(0, signal.shape[-1], chunk):
        piece, state = scipy.signal.sosfilt(sections, signal[..., start : start + chunk], zi=state)
        yield np.asarray(piece, np.float64)
