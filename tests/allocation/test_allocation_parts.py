"""The parts: rounding, dealing, layouts, label tables."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.allocation.compositions import COMPOSITIONS, composition_order, cross_locations
from cares.allocation.labels import label_tables, share_use, unevenness
from cares.allocation.layout import draw_layout
from cares.allocation.quotas import deal, extra_windows, largest_remainder
from cares.allocation.rare import choose_rare, rare_count
from cares.core.canonical import digest
from cares.core.rng import KeyedRandom

sizes = st.lists(st.integers(0, 200), min_size=1, max_size=4)


@given(st.integers(0, 10_000), st.lists(st.integers(0, 100), min_size=1, max_size=4).filter(any))
def test_largest_remainder_rounds_every_share_to_a_neighbour(total: int, weights: list[int]) -> None:
    counts = largest_remainder(total, weights)
    assert sum(counts) == total
    for count, weight in zip(counts, weights, strict=True):
        assert abs(count - total * weight / sum(weights)) < 1


def test_largest_remainder_reads_shares_as_written() -> None:
    assert largest_remainder(12, [0.8, 0.1, 0.1]) == [10, 1, 1]
    assert largest_remainder(30, [0.8, 0.1, 0.1]) == [24, 3, 3]
    assert largest_remainder(1, [0.8, 0.1, 0.1]) == [1, 0, 0]
    assert largest_remainder(4, [0.8, 0.1, 0.1]) == [3, 1, 0]


@given(st.integers(1, 40), sizes)
def test_dealt_levels_are_even_in_each_part_and_overall(n_levels: int, part_sizes: list[int]) -> None:
    parts = deal(range(n_levels), part_sizes)
    assert [len(part) for part in parts] == part_sizes
    for part in [*parts, list(chain(*parts))]:
        counts = Counter(part)
        assert max(counts[i] for i in range(n_levels)) - min(counts[i] for i in range(n_levels)) <= 1


@given(st.integers(1, 40), sizes)
def test_extra_windows_are_what_is_dealt_once_more(n_levels: int, part_sizes: list[int]) -> None:
    parts = deal(range(n_levels), part_sizes)
    whole = list(chain(*parts))
    for part, window in zip([*parts, whole], extra_windows(n_levels, part_sizes), strict=True):
        counts = Counter(part)
        assert sorted(window) == [i for i in range(n_levels) if counts[i] > len(part) // n_levels]


def test_thirty_compositions_with_one_pivot_to_two_of_each_other() -> None:
    assert len(set(COMPOSITIONS)) == 30
    assert tuple(sum(column) for column in zip(*COMPOSITIONS, strict=True)) == (10, 20, 20, 20)


def test_twelve_scenes_have_their_share_of_every_label() -> None:
    for seed in range(20):
        order = composition_order(seed, [10, 1, 1])
        pivot, *others = np.array([COMPOSITIONS[i] for i in order[:12]]).sum(axis=0).tolist()
        assert 3 <= pivot <= 6
        assert all(6 <= count <= 11 for count in others)


@given(st.integers(0, 50), st.integers(1, 13), sizes)
@settings(max_examples=30, deadline=None)
def test_crossing_keeps_both_quotas(seed: int, n_locations: int, part_sizes: list[int]) -> None:
    parts = cross_locations(seed, n_locations, part_sizes)
    assert [len(part) for part in parts] == part_sizes
    for part in [*parts, list(chain(*parts))]:
        for column, n_levels in ((0, 30), (1, n_locations)):
            counts = Counter(pair[column] for pair in part)
            assert max(counts[i] for i in range(n_levels)) - min(counts[i] for i in range(n_levels)) <= 1


def test_crossing_is_the_same_everywhere() -> None:
    assert (
        digest(cross_locations(7, 13, [80, 10, 10]))
        == "c096675e68e82022f1be0119363b9ad6ecf437e863bf3621a08281e087ee88de"
    )


@given(st.integers(0, 10_000), st.integers(0, 3), st.integers(6, 13), st.integers(10, 13))
def test_layouts_leave_room(seed: int, n_events: int, least: int, most: int) -> None:
    least = min(least, most)
    layout = draw_layout(KeyedRandom(seed, "layout"), n_events, least, most)
    assert least <= layout.n_turns <= most
    assert len(layout.slots) == n_events
    assert all(later - earlier >= 3 for earlier, later in pairwise(layout.slots))
    assert not layout.slots or (layout.slots[0] >= 1 and layout.slots[-1] <= layout.n_turns - 3)


def test_every_set_of_slots_is_as_likely() -> None:
    drawn = Counter(draw_layout(KeyedRandom(seed, "layout"), 2, 11, 11).slots for seed in range(3000))
    possible = [pair for pair in combinations(range(1, 9), 2) if pair[1] - pair[0] >= 3]
    assert sorted(drawn) == possible
    expected = 3000 / len(possible)
    assert all(abs(count - expected) < 5 * np.sqrt(expected) for count in drawn.values())


def test_rare_count_is_the_nearest_whole_number() -> None:
    assert [rare_count(n, 0.05) for n in (1, 4, 10, 12, 100, 1000)] == [0, 0, 1, 1, 5, 50]
    assert rare_count(100, 0.0) == 0


def test_rare_sounds_stop_where_pivots_do() -> None:
    chosen = choose_rare(0, [5, 1], {(0, 0): 2, (0, 1): 1, (1, 0): 0}, {(0, 0): [7], (0, 1): [], (1, 0): [7]})
    assert chosen == {(0, 0): [7, 7]}


@given(st.integers(0, 1000), st.lists(st.tuples(*[st.integers(0, 30)] * 4), min_size=1, max_size=6), st.integers(4, 20))
@settings(max_examples=40, deadline=None)
def test_label_tables_keep_their_sums(seed: int, demands: list[tuple[int, ...]], n_sounds: int) -> None:
    demand = {(index % 2, index // 2): counts for index, counts in enumerate(demands)}
    pool = {group: list(range(group[1], n_sounds)) for group in demand}
    uses = share_use(seed, demand, pool, n_sounds, 0)
    tables = label_tables(demand, uses, n_sounds)
    for group, table in tables.items():
        assert table.min() >= 0
        assert table.sum(axis=0).tolist() == list(demand[group])
        assert table.sum(axis=1).tolist() == [uses[group].count(sound) for sound in range(n_sounds)]


def test_label_tables_are_even_where_that_is_possible() -> None:
    demand = {(split, place): (10, 20, 20, 20) for split in range(2) for place in range(5)}
    pool = {group: [*range(4), *range(4 + 6 * group[1], 10 + 6 * group[1])] for group in demand}
    uses = share_use(1, demand, pool, 34, 0)
    counts = sum(label_tables(demand, uses, 34).values())
    assert isinstance(counts, np.ndarray)
    assert sum(unevenness(row, 700, 100) for row in counts.tolist()) == 0


def test_unevenness() -> None:
    assert unevenness([1, 2, 2, 3], 70, 10) == 0
    assert unevenness([1, 2, 2, 4], 70, 10) == 1
    assert unevenness([4, 2, 2, 2], 70, 10) == 2
    assert unevenness([0, 0, 0, 0], 70, 10) == 0
