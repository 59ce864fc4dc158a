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


def top_up(have: Sequence[Sequence[int]], sizes: Sequence[int]) -> list[list[int]]:
    """How often each level comes further into each part, after what the parts have.

    Where counts within a part differ by at most one, they still do. Over all parts they differ by as little as a deal
    that takes nothing back allows: by at most one where every part gets a full round, by two or more where small parts
    hold the same levels already. Levels that come earlier are preferred; shuffle before.

    Args:
        have: counts of the levels in each part so far.
        sizes: how many come further into each part.
    """
    fixed: list[list[int]] = []
    extras: list[set[int]] = []
    wanted: list[int] = []
    for counts, size in zip(have, sizes, strict=True):
        floor = _water_level(counts, size)
        fixed.append([max(count, floor) for count in counts])
        extras.append(set())
        wanted.append(sum(counts) + size - sum(fixed[-1]))
    load = [sum(counts) for counts in zip(*fixed, strict=True)]
    # what stands above the floor already got its extra
    free = [{level for level, count in enumerate(counts) if count == min(counts)} for counts in fixed]
    for part in sorted(range(len(sizes)), key=lambda part: len(free[part]) - wanted[part]):
        for level in sorted(free[part], key=lambda level: (load[level], level))[: wanted[part]]:
            extras[part].add(level)
            load[level] += 1
    while path := _relief(load, extras, free):
        for part, source, goal in path:
            extras[part].remove(source)
            extras[part].add(goal)
            load[source] -= 1
            load[goal] += 1
    return [
        [full + (level in extra) - count for level, (full, count) in enumerate(zip(fill, counts, strict=True))]
        for fill, extra, counts in zip(fixed, extras, have, strict=True)
    ]


def deal_further(levels: Sequence[T], have: Sequence[Sequence[int]], sizes: Sequence[int]) -> list[list[T]]:
    """`deal` for parts that hold levels already: what comes further into each, grouped by level; see `top_up`."""
    return [
        [level for level, count in zip(levels, counts, strict=True) for _ in range(count)]
        for counts in top_up(have, sizes)
    ]


def _water_level(counts: Sequence[int], size: int) -> int:
    """The highest count to which all levels of a part can be brought with `size` more."""
    floor = min(counts)
    while sum(max(0, floor + 1 - count) for count in counts) <= size:
        floor += 1
    return floor


def _relief(
    load: Sequence[int], extras: Sequence[set[int]], free: Sequence[set[int]]
) -> list[tuple[int, int, int]] | None:
    """Moves (part, from level, to level) that take one from a level and give it to one with two fewer, if any do."""
    lowest = min(load)
    for start in sorted(range(len(load)), key=lambda level: -load[level]):
        if load[start] < lowest + 2:
            return None
        came: dict[int, tuple[int, int] | None] = {start: None}
        queue = [start]
        for level in queue:
            if load[level] <= load[start] - 2:
                path = []
                while (step := came[level]) is not None:
                    path.append((step[0], step[1], level))
                    level = step[1]
                return path
            for part, extra in enumerate(extras):
                if level in extra:
                    for other in sorted(free[part] - extra - came.keys()):
                        came[other] = (part, level)
                        queue.append(other)
    return None


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
