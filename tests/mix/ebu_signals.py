"""Test signals made from their published descriptions, float64 [C, T] at any sample rate.

EBU Tech 3341 (2023), table 1 (minimum requirements test signals); EBU Tech 3342 (2023), table 1; Report ITU-R BS.2217.
Levels are peak levels of a sine in dBFS, the same in both channels of a stereo pair.
"""

from __future__ import annotations

import numpy as np
import scipy.signal
from numpy.typing import NDArray

Signal = NDArray[np.float64]
Segments = tuple[tuple[float, float], ...]

# case: (level in dBFS, seconds) of a stereo sine of 1 kHz; integrated loudness
INTEGRATED: dict[int, tuple[Segments, float]] = {
    1: (((-23, 20),), -23.0),
    2: (((-33, 20),), -33.0),
    3: (((-36, 10), (-23, 60), (-36, 10)), -23.0),
    4: (((-72, 10), (-36, 10), (-23, 60), (-36, 10), (-72, 10)), -23.0),
    5: (((-26, 20), (-20, 20.1), (-26, 20)), -23.0),
}
# left, right, centre, and the two surround channels of case 6
SURROUND_LEVELS = (-28.0, -28.0, -24.0, -30.0, -30.0)
SURROUND_WEIGHTS = (1.0, 1.0, 1.0, 1.41, 1.41)
# case: sine at fs / divisor, amplitude, phase in degrees; true peak
TRUE_PEAK: dict[int, tuple[int, float, float, float]] = {
    15: (4, 0.50, 0.0, -6.0),
    16: (4, 0.50, 45.0, -6.0),
    17: (6, 0.50, 60.0, -6.0),
    18: (8, 0.50, 67.5, -6.0),
    19: (4, 1.41, 45.0, 3.0),
}
RANGE: dict[int, tuple[Segments, float]] = {
    1: (((-20, 20), (-30, 20)), 10.0),
    2: (((-20, 20), (-15, 20)), 5.0),
    3: (((-40, 20), (-20, 20)), 20.0),
    4: (((-50, 20), (-35, 20), (-20, 20), (-35, 20), (-50, 20)), 15.0),
}


def tones(segments: Segments, rate: int, channels: int = 2, frequency: float = 1000.0) -> Signal:
    """One continuous sine whose level changes from segment to segment; -inf is silence."""
    lengths = [round(seconds * rate) for _, seconds in segments]
    gains = np.repeat([10 ** (level / 20) for level, _ in segments], lengths)
    sine = np.sin(2 * np.pi * frequency * np.arange(len(gains)) / rate)
    return np.tile(gains * sine, (channels, 1))


def faded_tone(divisor: int, amplitude: float, degrees: float, rate: int) -> Signal:
    """Cases 15 to 19: one channel [T] with soft ends, so that the onset makes no peak of its own."""
    n = rate
    ramp = np.minimum(1, np.minimum(np.arange(n), np.arange(n)[::-1]) / (rate / 20))
    return amplitude * np.sin(2 * np.pi * np.arange(n) / divisor + np.deg2rad(degrees)) * ramp


def burst_between_samples(offset: int, rate: int) -> Signal:
    """Cases 20 to 23: fs / 6 at 0.50 with one period at 1.00, made at four times the rate and decimated from `offset`.

    The decimation is by an anti-aliasing filter with linear phase, so that the peak stays where it was.
    """
    fine = rate * 4
    time = np.arange(fine)
    sine = np.sin(2 * np.pi * time / 24)
    middle = fine // 2 // 24 * 24
    envelope = np.full(fine, 0.5)
    envelope[middle : middle + 24] = 1.0
    envelope *= np.minimum(1, np.minimum(time, time[::-1]) / (fine / 20))
    taps = scipy.signal.firwin(401, 0.5 / 4 * 2 * 0.95)
    smooth = np.convolve(envelope * sine, taps, "same")
    return np.asarray(smooth[offset::4])


def k_gain_db(frequency: float) -> float:
    """Gain of the K-weighting at a frequency from the standard's own tables for 48 kHz (BS.1770-4, tables 1 and 2)."""
    shelf = [1.53512485958697, -2.69169618940638, 1.19839281085285], [1.0, -1.69065929318241, 0.73248077421585]
    high_pass = [1.0, -2.0, 1.0], [1.0, -1.99004745483398, 0.99007225036621]
    gain = 1.0
    for numerator, denominator in (shelf, high_pass):
        gain *= abs(scipy.signal.freqz(numerator, denominator, worN=[frequency], fs=48_000)[1][0])
    return float(20 * np.log10(gain))
