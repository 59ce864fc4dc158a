"""Loudness after Recommendation ITU-R BS.1770-4 (10/2015), EBU Tech 3341 (windows) and EBU Tech 3342 (range).

Signals are float64 arrays with full scale at 1.0, [T] for one channel or [C, T]; levels are LUFS.

pyloudnorm is the project's reference meter. This one exists because it (1) runs in bounded memory and 2.5 times as
fast, (2) has the momentary and short-term windows and one rule for sounds shorter than a block, and (3) does what the
standard says about the end: a block that is not complete is not counted (annex 1, equation 3), where pyloudnorm rounds
the number of blocks and may count one that reaches up to 50 ms beyond the end. On whole multiples of 100 ms both agree
within 1e-6 LU; on other lengths they differ by that one block, see docs/mixing.md and tests/mix.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE
from cares.mix.k_weighting import Signal, weighted_chunks

FULL_SCALE = 32_768.0
BLOCK = SAMPLE_RATE * 2 // 5  # 400 ms, annex 1
HOP = BLOCK // 4  # 75 % overlap
ABSOLUTE_GATE = -70.0
RELATIVE_GATE = -10.0
RANGE_GATE = -20.0  # EBU Tech 3342, clause 2.2
ACTIVE_RANGE_DB = 60.0
_OFFSET = -0.691
_STEPS_A_SECOND = 100
_CHUNK_HOPS = 32
_GAIN_ROUNDS = 8


class SilentError(ValueError):
    """A sound has no level: nothing in it passes the absolute gate, or it is silence."""


def integrated_lufs(
    signal: Signal, sample_rate: int = SAMPLE_RATE, channel_weights: Sequence[float] | None = None
) -> float:
    """Gated integrated loudness (annex 1, equations 2 to 7) of a signal of at least 400 ms.

    Args:
        signal: [T] or [C, T]; sample_rate: a multiple of 10 Hz.
        channel_weights: one a channel (annex 1, table 3: 1.0, and 1.41 for surround channels); default: 1.0 each.

    Raises:
        SilentError: no block passes the absolute gate.
        ValueError: the signal is shorter than one block, or not finite.
    """
    powers = _windows(signal, sample_rate // 10, 4, sample_rate, channel_weights)
    if not len(powers):
        block = sample_rate * 2 // 5
        raise ValueError(f"{signal.shape[-1]} samples are less than one block of {block}; use level_lufs")
    return _gated(powers)


def momentary_lufs(
    signal: Signal, sample_rate: int = SAMPLE_RATE, channel_weights: Sequence[float] | None = None
) -> Signal:
    """Loudness of every window of 400 ms at steps of 10 ms, ungated (EBU Tech 3341, clause 2.1): [N], -inf for zeros.

    N is 0 when the signal is shorter than a window. Steps of 10 ms find the greatest value within 0.06 LU, where the
    10 Hz that the clause asks for at least could miss it by 0.6.
    """
    return _levels(_windows(signal, sample_rate // _STEPS_A_SECOND, 40, sample_rate, channel_weights))


def short_term_lufs(
    signal: Signal, sample_rate: int = SAMPLE_RATE, channel_weights: Sequence[float] | None = None
) -> Signal:
    """As `momentary_lufs` with windows of 3 s (EBU Tech 3341, clause 2.1)."""
    return _levels(_windows(signal, sample_rate // _STEPS_A_SECOND, 300, sample_rate, channel_weights))


def loudness_range(
    signal: Signal, sample_rate: int = SAMPLE_RATE, channel_weights: Sequence[float] | None = None
) -> float:
    """Loudness range in LU (EBU Tech 3342, clause 2.2).

    The distance between the 10th and the 95th percentile of the short-term levels at 10 Hz, gated at -70 LUFS and at
    20 LU below their mean power. Percentiles are the nearest ranks, as in the document's example.

    Raises:
        SilentError: no window passes the absolute gate.
        ValueError: the signal is shorter than 3 s, or not finite.
    """
    powers = _windows(signal, sample_rate // 10, 30, sample_rate, channel_weights)
    if not len(powers):
        raise ValueError(f"{signal.shape[-1]} samples are less than one window of {3 * sample_rate}")
    powers = powers[powers >= _power(ABSOLUTE_GATE)]
    if not len(powers):
        raise SilentError(f"no window is louder than {ABSOLUTE_GATE} LUFS")
    powers = np.sort(powers[powers >= float(powers.mean()) * 10 ** (RANGE_GATE / 10)])
    # half a rank goes up, where Python's round would go to the even one
    low, high = (float(powers[math.floor((len(powers) - 1) * share + 0.5)]) for share in (0.10, 0.95))
    return _lufs(high) - _lufs(low)


@dataclass(frozen=True)
class Measured:
    """What the level of a sound is made of, so that it can be told for any gain without filtering again.

    powers: K-weighted power of its blocks; None for a sound that is shorter than a block.
    ungated: mean K-weighted power over the active samples of such a sound.
    """

    powers: Signal | None
    ungated: float

    def lufs(self, gain_db: float = 0.0) -> float:
        """Level after a gain; SilentError when it is below the absolute gate."""
        factor = 10 ** (gain_db / 10)
        if self.powers is not None:
            return _gated(self.powers * factor if gain_db else self.powers)
        level = _lufs(self.ungated * factor)
        if level < ABSOLUTE_GATE:
            raise SilentError(f"the level of {level:.1f} LUFS is below {ABSOLUTE_GATE}")
        return level

    def gain_cdb(self, target_cdb: int) -> int:
        """The gain, in hundredths of a decibel, after which the level is `target_cdb`.

        The absolute gate stands still while a gain moves the blocks, so the level of the sound as it is does not tell
        its level after the gain: blocks that come above the gate lower the relative gate, which lets in others. So the
        level is measured again after each gain; of the gains tried the one that comes nearest is taken.

        Raises:
            SilentError: the sound as it is has no level.
        """
        gain = target_cdb - round(self.lufs() * 100)
        tried: dict[int, int] = {}
        while gain not in tried and len(tried) < _GAIN_ROUNDS:
            tried[gain] = target_cdb - round(self.lufs(gain / 100) * 100)
            gain += tried[gain]
        return min(tried, key=lambda one: abs(tried[one]))


def measure(signal: Signal, squares: Signal | None = None) -> Measured:
    """Measure any sound [T] by the project's one rule.

    Active samples run from the first to the last within 60 dB of the peak. With 400 ms of them or more the level is
    the gated integrated loudness of the whole signal; with less it is the K-weighted level over the active samples,
    ungated.

    Args:
        squares: where to put the squares [T] of the K-weighted signal, for a caller that needs them too.

    Raises:
        SilentError: all samples are zero.
        ValueError: a sample is not finite.
    """
    check_finite(signal)
    start, end = active_span(signal)
    if squares is not None:
        _fill_squares(signal, squares)
    if end - start < BLOCK:
        return Measured(None, _mean_power(signal, start, end))
    if squares is None:
        return Measured(_windows(signal, HOP, 4, SAMPLE_RATE, None), 0.0)
    steps = len(squares) // HOP
    return Measured(_sliding(squares[: steps * HOP].reshape(steps, HOP).sum(1), HOP, 4), 0.0)


def level_lufs(signal: Signal) -> float:
    """Level of any sound [T] by the project's one rule, see `measure`.

    Raises:
        SilentError: the sound is silent, or weaker than -70 LUFS.
        ValueError: a sample is not finite.
    """
    return measure(signal).lufs()


def active_span(signal: Signal) -> tuple[int, int]:
    """First and one past the last sample within 60 dB of the peak; SilentError when all are zero."""
    peak = max(float(signal.max()), -float(signal.min())) if len(signal) else 0.0
    if peak == 0:
        raise SilentError("the sound is silent")
    floor = peak * 10 ** (-ACTIVE_RANGE_DB / 20)
    return _first_active(signal, floor), len(signal) - _first_active(signal[::-1], floor)


def _first_active(signal: Signal, floor: float) -> int:
    """Place of the first sample of at least this magnitude, which there is."""
    for start in range(0, len(signal), BLOCK):
        active = np.flatnonzero(np.abs(signal[start : start + BLOCK]) >= floor)
        if len(active):
            return start + int(active[0])
    raise AssertionError("the peak itself is active")


def _mean_power(signal: Signal, start: int, end: int) -> float:
    """Mean K-weighted power over samples start <= t < end of a signal [T]."""
    (filtered,) = weighted_chunks(signal[:end], max(1, end))
    return float(np.square(filtered[start:]).mean())


def to_float(samples: NDArray[np.int16]) -> Signal:
    """16-bit samples as a signal with full scale at 1.0."""
    return np.asarray(samples / FULL_SCALE, np.float64)


def check_finite(signal: Signal) -> None:
    """ValueError with the place of the first sample that is NaN or infinite."""
    # the sum of a finite signal is finite; a look at every sample is needed only when it is not
    if not math.isfinite(float(signal.sum())) and not np.isfinite(signal).all():
        raise ValueError(f"sample {int(np.argwhere(~np.isfinite(signal))[0][-1])} is not finite")


def _gated(powers: Signal) -> float:
    """Loudness of blocks with these powers after both gates (annex 1, equations 5 to 7)."""
    powers = powers[powers > _power(ABSOLUTE_GATE)]
    if not len(powers):
        raise SilentError(f"no block is louder than {ABSOLUTE_GATE} LUFS")
    powers = powers[powers > float(powers.mean()) * 10 ** (RELATIVE_GATE / 10)]
    return _lufs(float(powers.mean()))


def _fill_squares(signal: Signal, squares: Signal) -> None:
    at = 0
    for piece in weighted_chunks(signal, _CHUNK_HOPS * HOP):
        np.square(piece, out=squares[at : at + len(piece)])
        at += len(piece)


def _windows(
    signal: Signal, step: int, count: int, sample_rate: int, channel_weights: Sequence[float] | None
) -> Signal:
    """Mean K-weighted power [N] of all complete windows of `count` steps, at every step."""
    check_finite(signal)
    steps = signal.shape[-1] // step
    channels = signal.reshape(-1, signal.shape[-1])[:, : steps * step]
    weights = np.ones(len(channels)) if channel_weights is None else np.asarray(channel_weights, np.float64)
    if len(weights) != len(channels):
        raise ValueError(f"{len(weights)} weights for {len(channels)} channels")
    energies = np.zeros(steps)
    at = 0
    for piece in weighted_chunks(channels, _CHUNK_HOPS * step, sample_rate):
        sums = np.square(piece, out=piece).reshape(len(channels), -1, step).sum(2)
        energies[at : at + sums.shape[1]] = weights @ sums
        at += sums.shape[1]
    return _sliding(energies, step, count)


def _sliding(energies: Signal, step: int, count: int) -> Signal:
    """Mean power of all windows of `count` steps, from the energy of each step."""
    total = np.zeros(max(0, len(energies) - count + 1))
    for first in range(count):
        total += energies[first : first + len(total)]
    return np.asarray(total / (step * count), np.float64)


def _levels(powers: Signal) -> Signal:
    with np.errstate(divide="ignore"):
        return np.asarray(_OFFSET + 10 * np.log10(powers), np.float64)


def _power(lufs: float) -> float:
    return float(10 ** ((lufs - _OFFSET) / 10))


def _lufs(power: float) -> float:
    return _OFFSET + 10 * math.log10(power) if power > 0 else -math.inf
