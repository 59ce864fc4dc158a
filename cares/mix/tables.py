"""Integer tables of the mix: gains, fades and the one way of rounding.

Every entry comes from decimal arithmetic with 50 digits or from integers, never from the platform's mathematical
library, so a table is the same on every machine. Arrays may be numpy's or torch's, of dtype int64.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

GAIN_BITS = 24
FADE_BITS = 15
GAIN_RANGE_CDB = (-12_000, 6_000)

_DECIMAL = Context(prec=50)
_QUARTER = 4_096
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


@cache
def gain_multiplier(gain_cdb: int) -> int:
    """The integer factor of a gain: round(10 ** (gain_cdb / 2000) * 2 ** GAIN_BITS).

    Args:
        gain_cdb: hundredths of a decibel, within GAIN_RANGE_CDB.

    Raises:
        ValueError: the gain lies outside the range.
    """
    low, high = GAIN_RANGE_CDB
    if not low <= gain_cdb <= high:
        raise ValueError(f"gain of {gain_cdb} cdB lies outside {low} to {high}")
    factor = _DECIMAL.power(Decimal(10), _DECIMAL.divide(Decimal(gain_cdb), Decimal(2000)))
    return int(_DECIMAL.multiply(factor, Decimal(1 << GAIN_BITS)).to_integral_value(ROUND_HALF_EVEN))


def round_shift(values: Any, bits: int) -> Any:
    """Divide int64 values by 2 ** bits, rounding half to even; `values` must leave 2 ** (bits - 1) of headroom.

    Half is rounded up if the quotient's last bit is one: add that bit and just less than a half, and cut.
    """
    if bits == 0:
        return values
    rounded = values >> bits
    rounded &= 1
    rounded += (1 << (bits - 1)) - 1
    rounded += values
    rounded >>= bits
    return rounded


@cache
def fade_table(n_samples: int) -> NDArray[np.int64]:
    """A rising quarter sine [n_samples], FADE_BITS fractional bits, at the middle of each sample.

    Forwards and backwards it makes a cross-fade of equal power: the squares of both add up to one within rounding.
    """
    if n_samples < 0:
        raise ValueError(f"a fade of {n_samples} samples")
    position = (2 * np.arange(n_samples, dtype=np.int64) + 1) * _QUARTER
    left, rest = np.divmod(position, 2 * max(1, n_samples))
    sine = _quarter_sine()
    step = sine[left + 1] - sine[left]
    finer = 1 << 8
    value = sine[left] * finer + (step * rest * finer) // (2 * max(1, n_samples))
    table: NDArray[np.int64] = round_shift(value, 8 + 8)
    table.setflags(write=False)
    return table


@cache
def _quarter_sine() -> NDArray[np.int64]:
    """sin(pi/2 * i / 4096) for i = 0 .. 4097 with FADE_BITS + 8 fractional bits (one entry beyond the end)."""
    values = []
    for index in range(_QUARTER + 1):
        angle = _DECIMAL.divide(_DECIMAL.multiply(_PI, Decimal(index)), Decimal(2 * _QUARTER))
        square = _DECIMAL.multiply(angle, angle)
        term = total = angle
        for odd in range(3, 27, 2):
            term = _DECIMAL.divide(_DECIMAL.multiply(term, -square), Decimal(odd * (odd - 1)))
            total = _DECIMAL.add(total, term)
        values.append(int(_DECIMAL.multiply(total, Decimal(1 << (FADE_BITS + 8))).to_integral_value(ROUND_HALF_EVEN)))
    return np.array([*values, values[-1]], np.int64)


def duck_table(n_samples: int, depth_cdb: int, ramp_samples: int) -> NDArray[np.int64]:
    """Multipliers [n_samples] of a duck, GAIN_BITS fractional bits: a straight ramp down to -depth_cdb, and back up."""
    bottom, top = gain_multiplier(-depth_cdb), 1 << GAIN_BITS
    ramp = min(ramp_samples, n_samples // 2)
    table = np.full(n_samples, bottom, np.int64)
    if ramp:
        slope = top - ((top - bottom) * np.arange(1, ramp + 1, dtype=np.int64)) // (ramp + 1)
        table[:ramp] = slope
        table[n_samples - ramp :] = slope[::-1]
    return table
