"""Rare sounds: which pivots they are, so that every location has its share of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from cares.allocation.labels import Group
from cares.core.rng import KeyedRandom


def rare_count(n_scenes: int, share: float) -> int:
    """The whole number of scenes nearest to `share` of them (halves go up)."""
    return int(n_scenes * Fraction(repr(share)) + Fraction(1, 2))


def choose_rare(
    seed: int,
    counts: Sequence[int],
    pivots: Mapping[Group, int],
    pool: Mapping[Group, Sequence[int]],
    before: Mapping[Group, Sequence[int]] = MappingProxyType({}),
) -> dict[Group, list[int]]:
    """The rare sounds of each group (location within a split); as many as `counts` says per split where pivots allow.

    One after the other goes to the location that has the fewest so far, in the split and then overall, and takes the
    sound plausible there that was used least. Ties are broken by keyed shuffles.

    Args:
        seed: the data set's seed.
        counts: rare pivots wanted in each split.
        pivots: scenes with a pivot in each group.
        pool: rare sounds that may occur in each group.
        before: the rare sounds of each group in scenes to which these are added.
    """
    rng = KeyedRandom(seed, "rare")
    groups = sorted(group for group, n in pivots.items() if n and pool[group])
    location_rank = _ranks(rng, sorted({location for _, location in groups}))
    sound_rank = _ranks(rng, sorted({sound for group in groups for sound in pool[group]}))
    at_location = dict.fromkeys(location_rank, 0)
    used = dict.fromkeys(sound_rank, 0)
    for (_, location), sounds in before.items():
        at_location[location] = at_location.get(location, 0) + len(sounds)
        for sound in sounds:
            used[sound] = used.get(sound, 0) + 1
    chosen: dict[Group, list[int]] = {group: [] for group in groups}
    held = {group: len(before.get(group, ())) for group in groups}
    for split, wanted in enumerate(counts):
        here = [group for group in groups if group[0] == split]
        for _ in range(wanted):
            open_groups = [group for group in here if len(chosen[group]) < pivots[group]]
            if not open_groups:
                break
            group = min(open_groups, key=lambda g: (held[g], at_location[g[1]], location_rank[g[1]]))
            sound = min(pool[group], key=lambda s: (used[s], sound_rank[s]))
            chosen[group].append(sound)
            held[group] += 1
            at_location[group[1]] += 1
            used[sound] += 1
    return chosen


def _ranks(rng: KeyedRandom, items: Sequence[int]) -> dict[int, int]:
    return {item: rank for rank, item in enumerate(rng.shuffled(items))}
