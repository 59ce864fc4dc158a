"""Operations on one utterance: resampling, trimming of silence, and the cut of a broken-off sentence.

Samples are int16 arrays [T] at 44,100 Hz unless said. Levels are taken from the root mean square over frames of 10 ms
every 5 ms.
"""

from __future__ import annotations

import math

import numpy as np
import soxr
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE, Samples

FRAME = 441
HOP = 220
# Engines give peaks up to about 1.05; the mix sets its own levels, so half the scale is kept free once and for all.
HEADROOM = 0.5


def to_samples(speech: NDArray[np.float32], rate: int) -> Samples:
    """Float speech [T] at `rate` Hz as int16 at 44,100 Hz, 6 dB lower; resampled by soxr at its highest quality.

    Peaks beyond +6 dBFS are clipped: look at `peak_beyond_scale` first.
    """
    resampled = soxr.resample(speech.astype(np.float64), rate, SAMPLE_RATE, quality="VHQ")
    scaled = np.rint(resampled * (HEADROOM * 32768.0))
    samples: Samples = np.clip(scaled, -32768, 32767).astype(np.int16)
    return samples


def peak_beyond_scale(speech: NDArray[np.float32]) -> bool:
    """Whether float speech [T] has a peak that `to_samples` would clip (with 1 dB for the resampler's overshoot)."""
    return bool(np.max(np.abs(speech), initial=0.0) * HEADROOM > 10 ** (-1 / 20))


def frame_levels(samples: Samples) -> NDArray[np.float64]:
    """Root mean square of each frame, in units of a sample: float64 [F], F = 1 + max(0, T - 441) // 220."""
    padded = np.pad(samples.astype(np.float64), (0, max(0, FRAME - len(samples))))
    windows = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::HOP]
    levels: NDArray[np.float64] = np.sqrt(np.mean(windows**2, axis=1))
    return levels


def speech_span(samples: Samples, threshold_db: float, lead_ms: int, tail_ms: int) -> tuple[int, int]:
    """(start, end) of the speech with its margins, in samples.

    A frame is speech when its level is at most `threshold_db` below the loudest frame. The span begins `lead_ms` before
    the first such frame and ends `tail_ms` after the last one, within the samples. Silence throughout gives (0, 0).
    """
    levels = frame_levels(samples)
    loudest = float(levels.max(initial=0.0))
    if loudest == 0.0:
        return 0, 0
    active = np.flatnonzero(levels >= loudest * 10 ** (-threshold_db / 20))
    start = int(active[0]) * HOP - SAMPLE_RATE * lead_ms // 1000
    end = int(active[-1]) * HOP + FRAME + SAMPLE_RATE * tail_ms // 1000
    return max(0, start), min(len(samples), end)


def quietest_point(samples: Samples, low: int, high: int) -> int:
    """The sample in [low, high] at the middle of the quietest 10 ms; the earliest of equals.

    Args:
        samples: int16 [T].
        low: first candidate; clipped to the samples.
        high: last candidate; clipped to the samples.
    """
    low, high = max(0, min(low, len(samples))), max(0, min(high, len(samples)))
    if high <= low:
        return low
    half = FRAME // 2
    padded = np.pad(samples.astype(np.int64) ** 2, (half + 1, half + 1))
    sums = np.concatenate([[0], np.cumsum(padded)])
    middles = np.arange(low, high + 1)
    energy = sums[middles + 2 * half + 1] - sums[middles]
    return low + int(np.argmin(energy))


def cut_after(samples: Samples, word_end: int, next_start: int, search_ms: int, fade_ms: int) -> Samples:
    """The beginning of an utterance up to the boundary after a word, faded out over its last `fade_ms`.

    The cut lies where the sound is quietest from `search_ms` before the earlier to `search_ms` after the later of the
    word's end and the next word's start. The fade is the falling half of a raised cosine that ends at 0.
    """
    reach = SAMPLE_RATE * search_ms // 1000
    low, high = sorted((word_end, next_start))
    end = quietest_point(samples, low - reach, high + reach)
    heard = samples[:end].astype(np.float64)
    length = min(end, SAMPLE_RATE * fade_ms // 1000)
    if length:
        ramp = [0.5 + 0.5 * math.cos(math.pi * (n + 1) / length) for n in range(length)]
        heard[-length:] *= np.array(ramp)
    faded: Samples = np.rint(heard).astype(np.int16)
    return faded
