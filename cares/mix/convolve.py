"""Exact convolution of integers by floating-point FFT, the same on numpy and torch, CPU and GPU, for every block size.

A convolution of integers is an integer. If the error of the float64 transform stays below 1/2, rounding gives exactly
that integer, whichever library, number of threads or block size computed it. Three things see to it: the block length
is chosen so that the bound below is less than MAX_ERROR = 1/4; every result's distance to its integer is compared with
MAX_ERROR; and the integers must have the sums that follow from those of their factors, an exact check (`_run`). Each of
them raises an error.

The bound. Let z = x * h be a cyclic convolution of length N = 2 ** k, computed as F^-1(F x . F h), with u = 2 ** -53,
and |.|_p the p-norms. Write F as k levels of butterflies: every output is then a sum over the inputs in which each
input comes along exactly one path of k additions and at most k multiplications by roots of unity.

1. A complex addition errs by a factor (1 + t), |t| <= u; a multiplication of two complex numbers by |t| <= u sqrt 5
   (R. Brent, C. Percival, P. Zimmermann, "Error bounds on complex floating-point multiplication", Mathematics of
   Computation 76 (2007), theorem 2); a table's root of unity by |t| <= b. Hence each path errs by a factor 1 + s with
   |s| <= e := ((1 + u) (1 + u sqrt 5) (1 + b)) ** k - 1.
2. Forward. A level is sqrt 2 times a unitary map (butterfly) after a unitary diagonal (roots), so it keeps the 2-norm
   up to its scale, and its own rounding errs in the 2-norm by a factor of at most (1 + u) (1 + u sqrt 5) (1 + b). Over
   k levels: |X' - X|_2 <= e |X|_2, where |X|_2 = sqrt N |x|_2 (Parseval); the same for h.
3. Product. By Cauchy and Schwarz |X'H' - XH|_1 <= ((1 + e) ** 2 - 1) |X|_2 |H|_2, and rounding the products errs by
   u sqrt 5: |Z' - XH|_1 <= ((1 + e) ** 2 (1 + u sqrt 5) - 1) N |x|_2 |h|_2.
4. Inverse. By the paths of 1., each output errs by at most e |Z'|_1 / N; the division by N = 2 ** k is exact.
5. Together |z' - z|_inf <= |x|_2 |h|_2 ((1 + e) ** 3 (1 + u sqrt 5) - 1).
   With e put in this is theorem 5.1 of C. Percival, "Rapid multiplication modulo the sum and difference of highly
   composite numbers", Mathematics of Computation 72 (2003).
6. A response longer than N / 2 is cut into P parts, and the products of P blocks of the signal with them are added
   before the inverse: P - 1 additions more, and the norms of the P products add up. With the greatest norm of a block
   for each |x|_2: |z' - z|_inf <= max |x|_2 sum |h_p|_2 ((1 + e) ** 3 (1 + u sqrt 5) (1 + u) ** (P - 1) - 1).
   Where that is too much, fewer parts are added before the inverse and the rest as integers after it.

What it assumes of a library: butterflies of radix 2 or of a power of two (whose paths have fewer operations), float64
throughout, roots within b = u, as pocketfft's are. Real input through a complex transform of half the length takes one
level less and one separating pass more, which counts as a level; `error_bound` adds LEVELS_MORE levels for it and for
roots that are off by more than b in cuFFT or MKL. The measured error is at least 100 times smaller than the bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cares.core.errors import CaresError
from cares.mix.backend import Backend, Whole

MAX_ERROR = 0.25
LEVELS_MORE = 2
_UNIT = 2.0**-53
_SMALLEST = 10
# the cheapest transforms that cut a response into four parts at most, by measurement on a CPU's cache
_USUAL = ((1 << 12, 14), (1 << 16, 15), (1 << 17, 16))
_LARGEST = 17


@dataclass(frozen=True)
class Plan:
    """How one convolution is cut: transform length (a power of two), taps per part of the response, how many parts, how
    many of them are added before the inverse transform, input samples per block, error bound."""

    size: int
    part: int
    parts: int
    group: int
    step: int
    bound: float


@dataclass(frozen=True)
class Job:
    """One convolution: int64 or int16 samples [n] of the backend within 16 bits, and taps [m], 20 fractional bits."""

    samples: Any
    taps: Whole


@dataclass(frozen=True)
class _Segment:
    """A stretch of a job's result: the sum, over some p, of block `index - p` of the samples and part p of the taps."""

    job: int
    index: int
    parts: range


@dataclass(frozen=True)
class _Part:
    """A part of a response: its spectrum [size // 2 + 1], length, and sums over its even and odd places."""

    values: Any
    n_taps: int
    even: int
    odd: int


@dataclass
class Spectra:
    """Transforms of responses that were used before: the utterances of a voice share one response."""

    found: dict[tuple[int, int, int], tuple[Whole, _Part]] = field(default_factory=dict)

    def of(self, taps: Whole, part: int, plan: Plan, backend: Backend) -> _Part:
        """One part of a response."""
        key = (id(taps), part, plan.size)
        if key not in self.found:
            values = taps[part * plan.part : (part + 1) * plan.part]
            total, even = int(values.sum()), int(values[::2].sum())
            spectrum = backend.forward([backend.put(values)], plan.size)[0]
            # the taps are kept too, for the key is the address of a living array
            self.found[key] = taps, _Part(spectrum, len(values), even, total - even)
        return self.found[key][1]


def error_bound(size: int, block_norm: float, taps_norms: Sequence[float]) -> float:
    """The bound of the module's docstring, for a transform of `size` and Euclidean norms of blocks and parts."""
    levels = math.log2(size) + LEVELS_MORE
    addition, multiplication = math.log1p(_UNIT), math.log1p(_UNIT * math.sqrt(5))
    exponent = 3 * levels * (2 * addition + multiplication) + multiplication + (len(taps_norms) - 1) * addition
    return block_norm * math.fsum(taps_norms) * math.expm1(exponent)


def plan_blocks(samples: Any, taps: Whole, backend: Backend, size: int | None = None) -> Plan:
    """The largest useful transform whose error bound is below MAX_ERROR; `size` asks for one length instead.

    Args:
        samples: integer array [n] of a backend.
        taps: response [m].

    Raises:
        CaresError: no length meets the bound.
    """
    useful = next((exponent for most, exponent in _USUAL if len(taps) <= most), _LARGEST)
    exponents = range(useful, _SMALLEST - 1, -1) if size is None else [size.bit_length() - 1]
    squares = np.square(taps.astype(np.float64))
    for exponent in exponents:
        length = 1 << exponent
        part = min(len(taps), length // 2)
        parts = -(-len(taps) // part)
        step = length - part + 1 if parts == 1 else part
        norms = [math.sqrt(float(squares[at : at + part].sum())) for at in range(0, len(squares), part)]
        loudest = _block_norm(samples, step, backend)
        for group in range(parts, 0, -1):
            bound = max(error_bound(length, loudest, norms[at : at + group]) for at in range(0, parts, group))
            if bound < MAX_ERROR:
                return Plan(length, part, parts, group, step, bound)
    raise CaresError(f"exact convolution: no block meets the error bound (last: {length} samples, bound {bound:.2f})")


def _block_norm(samples: Any, step: int, backend: Backend) -> float:
    """The largest Euclidean norm of a block, from exact integer sums."""
    squares = backend.wide(samples) ** 2
    whole = len(samples) // step * step
    energies = [int(squares[whole:].sum())]
    if whole:
        energies.append(int(squares[:whole].reshape(-1, step).sum(1).max()))
    return math.sqrt(max(energies))


def convolve(samples: Any, taps: Whole, backend: Backend, size: int | None = None) -> Any:
    """One linear convolution: int64 [n + m - 1]; see `convolve_all`."""
    return convolve_all([Job(samples, taps)], backend, size)[0]


def convolve_all(
    jobs: Sequence[Job], backend: Backend, size: int | None = None, spectra: Spectra | None = None
) -> list[Any]:
    """Linear convolutions of integers, exact; blocks of all jobs are transformed together, overlap-add.

    Args:
        jobs: what to convolve; they may be of several scenes.
        size: transform length to force (a power of two), for tests; the result does not depend on it.
        spectra: transforms of responses to share between calls.

    Returns:
        For each job an int64 array [n + m - 1] of the backend. Memory beyond it does not grow with n.

    Raises:
        CaresError: the error bound, the measured distance to an integer or the sum of a block is wrong.
    """
    spectra = spectra or Spectra()
    results = [backend.zeros(max(0, len(job.samples) + len(job.taps) - 1)) for job in jobs]
    plans: dict[int, Plan] = {}
    by_size: dict[int, list[_Segment]] = {}
    for index, job in enumerate(jobs):
        if len(job.samples) == 0 or not job.taps.any() or not (int(job.samples.max()) or int(job.samples.min())):
            continue
        plan = plans[index] = plan_blocks(job.samples, job.taps, backend, size)
        by_size.setdefault(plan.size, []).extend(_segments(index, plan, len(job.samples)))
    for length, segments in sorted(by_size.items()):
        count = max(1, backend.batch_samples // length)
        blocks = _Blocks(jobs, plans, length, backend)
        for start in range(0, len(segments), count):
            _run(segments[start : start + count], blocks, spectra, results)
    return results


def _segments(job: int, plan: Plan, n_samples: int) -> Iterator[_Segment]:
    """All segments of a job, in the order of time."""
    blocks = -(-n_samples // plan.step)
    for index in range(blocks + plan.parts - 1):
        for first in range(0, plan.parts, plan.group):
            low, high = max(first, index - blocks + 1), min(first + plan.group, plan.parts, index + 1)
            if low < high:
                yield _Segment(job, index, range(low, high))


class _Blocks:
    """Blocks of the jobs' samples, their sums and spectra; spectra are kept while a segment to come needs them."""

    def __init__(self, jobs: Sequence[Job], plans: dict[int, Plan], size: int, backend: Backend) -> None:
        self.jobs, self.plans, self.size, self.backend = jobs, plans, size, backend
        self.found: dict[tuple[int, int], tuple[Any, tuple[int, int]]] = {}

    def samples(self, job: int, index: int) -> Any:
        """One block [<= step] of a job."""
        plan = self.plans[job]
        return self.jobs[job].samples[index * plan.step : (index + 1) * plan.step]

    def prepare(self, segments: Sequence[_Segment]) -> None:
        """Transform the blocks that these segments need first, and forget those that none needs any more."""
        first: dict[int, int] = {}
        for segment in segments:
            first.setdefault(segment.job, segment.index - self.plans[segment.job].parts + 1)
        self.found = {key: kept for key, kept in self.found.items() if key[1] >= first.get(key[0], key[1] + 1)}
        needed = dict.fromkeys((segment.job, segment.index - part) for segment in segments for part in segment.parts)
        fresh = [key for key in needed if key not in self.found]
        if fresh:
            rows = [self.samples(*key) for key in fresh]
            spectra, sums = self.backend.forward(rows, self.size), self.backend.halves(rows)
            self.found |= {key: (spectra[row], sums[row]) for row, key in enumerate(fresh)}


def _run(segments: Sequence[_Segment], blocks: _Blocks, spectra: Spectra, results: list[Any]) -> None:
    """Compute some segments of one transform length, check them, and add them into the results."""
    backend = blocks.backend
    blocks.prepare(segments)
    products, expected, lengths = [], [], []
    for segment in segments:
        plan, taps = blocks.plans[segment.job], blocks.jobs[segment.job].taps
        product, even, odd, length = None, 0, 0, 0
        for part in segment.parts:
            spectrum, (block_even, block_odd) = blocks.found[segment.job, segment.index - part]
            response = spectra.of(taps, part, plan, backend)
            product = spectrum * response.values if product is None else product + spectrum * response.values
            even += block_even * response.even + block_odd * response.odd
            odd += block_even * response.odd + block_odd * response.even
            length = max(length, len(blocks.samples(segment.job, segment.index - part)) + response.n_taps - 1)
        products.append(product)
        expected.append((even, odd))
        lengths.append(length)
    whole, distance = backend.inverse(backend.stack(products), blocks.size)
    if not distance < MAX_ERROR:
        raise CaresError(f"exact convolution on {backend.name}: {distance:.3f} from an integer")
    useful = [whole[row, :length] for row, length in enumerate(lengths)]
    # The sum of a convolution is the product of the sums, and so is its alternating sum: exact, modulo 2 ** 64. Any
    # single wrong integer breaks one of them, and so do all errors that do not cancel in both.
    for found, wanted in zip(backend.halves(useful), expected, strict=True):
        if any((one - other) % (1 << 64) for one, other in zip(found, wanted, strict=True)):
            raise CaresError(f"exact convolution on {backend.name}: a block does not have the sum that it must have")
    for segment, values in zip(segments, useful, strict=True):
        at = segment.index * blocks.plans[segment.job].step
        results[segment.job][at : at + len(values)] += values
