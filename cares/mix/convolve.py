"""Exact convolution of integers by floating-point FFT, the same on numpy and torch, CPU and GPU, for every block size.

A convolution of integers is an integer. If the error of the float64 transform stays below 1/2, rounding gives exactly
that integer, whichever library, thread count or block size computed it. The block is chosen so that an a-priori bound
keeps the error below 1/4, and every result's distance to its integer is checked against the same figure.

Bound: C. Percival, "Rapid multiplication modulo the sum and difference of highly composite numbers", Mathematics of
Computation 72 (2003), theorem 5.1: a cyclic convolution of length 2 ** k errs by at most
|x|_2 |h|_2 ((1 + e) ** 3k (1 + e sqrt 5) ** (3k + 1) (1 + b) ** 3k - 1), with e = 2 ** -53 and roots of unity within b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cares.core.errors import CaresError
from cares.mix.backend import Backend, Whole

MAX_ERROR = 0.25
_SMALLEST, _LARGEST = 10, 17
_BATCH_SAMPLES = 1 << 20


@dataclass(frozen=True)
class Plan:
    """Transform length (a power of two), taps per part of the response, input samples per block, error bound."""

    size: int
    part: int
    step: int
    bound: float


def error_bound(size: int, block_norm: float, taps_norm: float) -> float:
    """Percival's bound for a transform of `size`, a block and a part of the taps with these Euclidean norms."""
    k, unit = math.log2(size), 2.0**-53
    factor = math.expm1(3 * k * math.log1p(unit) * 2 + (3 * k + 1) * math.log1p(unit * math.sqrt(5)))
    return block_norm * taps_norm * factor


def plan_blocks(samples: Any, taps: Whole, size: int | None = None) -> Plan:
    """The largest useful transform whose error bound is below MAX_ERROR; `size` asks for one length instead.

    Args:
        samples: int64 array [n] of a backend.
        taps: response [m].

    Raises:
        CaresError: no length meets the bound.
    """
    useful = min(_LARGEST, max(_SMALLEST, math.ceil(math.log2(4 * len(taps)))))
    exponents = range(useful, _SMALLEST - 1, -1) if size is None else [size.bit_length() - 1]
    squares = np.square(taps.astype(np.float64))
    for exponent in exponents:
        length = 1 << exponent
        part = min(len(taps), length // 2)
        step = length - part + 1
        bound = error_bound(length, _block_norm(samples, step), _part_norm(squares, part))
        if bound < MAX_ERROR:
            return Plan(length, part, step, bound)
    raise CaresError(f"exact convolution: no block meets the error bound (last: {length} samples, bound {bound:.2f})")


def _block_norm(samples: Any, step: int) -> float:
    """The largest Euclidean norm of a block, from exact integer sums."""
    whole = len(samples) // step * step
    energies = [int((samples[whole:] ** 2).sum())]
    if whole:
        energies.append(int((samples[:whole].reshape(-1, step) ** 2).sum(1).max()))
    return math.sqrt(max(energies))


def _part_norm(squares: NDArray[np.float64], part: int) -> float:
    return math.sqrt(max(float(squares[at : at + part].sum()) for at in range(0, len(squares), part)))


def convolve(samples: Any, taps: Whole, backend: Backend, size: int | None = None) -> Any:
    """Linear convolution of integers, exact.

    Args:
        samples: int64 array [n] of the backend, within 16 bits.
        taps: integers [m] with 20 fractional bits.
        size: transform length to force (a power of two), for tests; the result does not depend on it.

    Returns:
        int64 array [n + m - 1] of the backend.

    Raises:
        CaresError: the error bound or the measured distance to an integer is too large.
    """
    n, m = len(samples), len(taps)
    out = backend.zeros(n + m - 1)
    if n == 0 or not int(abs(samples).max()):
        return out
    plan = plan_blocks(samples, taps, size)
    count = -(-n // plan.step)
    padded = backend.zeros(count * plan.step)
    padded[:n] = samples
    rows = padded.reshape(count, plan.step)
    batch = max(1, _BATCH_SAMPLES // plan.size)
    for offset in range(0, m, plan.part):
        part = backend.put(taps[offset : offset + plan.part])
        for first in range(0, count, batch):
            chunk = rows[first : first + batch]
            blocks = backend.zeros(len(chunk) * plan.size).reshape(len(chunk), plan.size)
            blocks[:, : plan.step] = chunk
            whole, distance = backend.products(blocks, part, plan.size)
            if distance >= MAX_ERROR:
                raise CaresError(f"exact convolution on {backend.name}: {distance:.3f} from an integer")
            for row in range(len(chunk)):
                at = (first + row) * plan.step + offset
                end = min(at + plan.size, n + m - 1)
                out[at:end] += whole[row, : end - at]
    return out
