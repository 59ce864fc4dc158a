"""How long each scene should be, and in how many turns."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from cares.allocation.layout import turns_needed
from cares.allocation.params import AllocationParams, LengthParams
from cares.core.rng import KeyedRandom

STRATA = 10


def draw_lengths(law: LengthParams | None, seed: int, by_split: Sequence[Sequence[str]]) -> dict[str, float]:
    """The target of each scene in seconds, one decimal; none without a law.

    Within a split, ten scenes in a row get one of the law's ten equally likely parts each, in keyed order, and a keyed
    place in it: so the mean of few scenes is near the law's, and scenes that are added behind change no other's target.

    Args:
        law: the section `allocation.length`.
        seed: the data set's seed.
        by_split: scene ids, a list for each split.
    """
    if law is None:
        return {}
    normal = NormalDist(law.mean_s, law.deviation_s)
    low, high = normal.cdf(law.shortest_s), normal.cdf(law.longest_s)
    targets: dict[str, float] = {}
    for split, ids in enumerate(by_split):
        for place, scene_id in enumerate(ids):
            block = KeyedRandom(seed, "length_parts", split, place // STRATA).shuffled(range(STRATA))
            share = (block[place % STRATA] + KeyedRandom(seed, "length", scene_id).unit()) / STRATA
            # the middle of the cut law stays where it is; the ends of a share are never exactly 0 or 1
            found = normal.inv_cdf(min(max(low + share * (high - low), 1e-9), 1 - 1e-9))
            targets[scene_id] = round(min(max(found, law.shortest_s), law.longest_s), 1)
    return targets


def turns_for(
    scene_id: str, n_events: int, length_s: float | None, params: AllocationParams, seed: int
) -> tuple[int, int]:
    """The least and greatest number of turns of a scene: `min_turns` and `max_turns`, or one number by its target."""
    if length_s is None or params.length is None:
        return params.min_turns, params.max_turns
    each = KeyedRandom(seed, "turn_length", scene_id).uniform(*params.length.turn_s)
    turns = min(max(round(length_s / each), params.min_turns, turns_needed(n_events)), params.max_turns)
    return turns, turns
