"""Exact quotas: levels of a factor dealt so that counts differ by at most one, within every part and over all parts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")


def largest_remainder(total: int, shares: Sequence[float]) -> list[int]:
    """Whole numbers that add up to `total` and follow `shares` (Hamilton's method); ties go to the earlier share.

    Shares are taken as the decimals that they are written as, so that 0.1 of 30 is 3 and no rounding error decides.
    """
    exact = [total * Fraction(repr(share)) / sum(Fraction(repr(other)) for other in shares) for share in shares]
    counts = [int(value) for value in exact]
    by_remainder = sorted(range(len(shares)), key=lambda i: (counts[i] - exact[i], i))
    for i in by_remainder[: total - sum(counts)]:
        counts[i] += 1
    return counts


def deal(levels: Sequence[T], sizes: Sequence[int]) -> list[list[T]]:
    """For each part a multiset of levels, as a list of the part's size, grouped by level in the order of `levels`.

    Every level comes `size // len(levels)` times into a part; the levels that come once more follow each other
    cyclically from part to part. So within a part counts differ by at most one, and over all parts too: the extras of
    all parts together are one cyclic run. Shuffle `levels` before, so that no level is favoured.
    """
    n_levels, start = len(levels), 0
    parts: list[list[T]] = []
    for size in sizes:
        whole, extra = divmod(size, n_levels)
        part: list[T] = []
        for index, level in enumerate(levels):
            part += [level] * (whole + ((index - start) % n_levels < extra))
        parts.append(part)
        start = (start + extra) % n_levels
    return parts


def extra_windows(n_levels: int, sizes: Sequence[int]) -> list[list[int]]:
    """Indices of the levels that `deal` gives once more: one list for each part, then one for all parts together."""
    windows: list[list[int]] = []
    start = 0
    for size in [*sizes, sum(sizes)]:
        begin = start if len(windows) < len(sizes) else 0
        windows.append([(begin + step) % n_levels for step in range(size % n_levels)])
        start = (start + size) % n_levels
    return windows


def spread(counts: Sequence[int]) -> int:
    """Largest minus smallest count; 0 for no counts."""
    return max(counts) - min(counts) if counts else 0
