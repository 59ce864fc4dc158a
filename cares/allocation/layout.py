"""The order of a scene's events, its number of turns and the turns in which the events fall.

Drawn without regard to the labels, so that where a sound falls does not tell how it is reacted to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from cares.core.rng import KeyedRandom

T = TypeVar("T")
HOLD = 3
"""Turns from one event to the next, and from the last one to the end: a pivot holds the talk for three turns."""


class Layout(NamedTuple):
    """Turns of a scene and the turns (0 is the first) of its events, rising."""

    n_turns: int
    slots: tuple[int, ...]


def turns_needed(n_events: int) -> int:
    """The least number of turns for `n_events` events: one before the first, three from each."""
    return 1 + HOLD * n_events


def draw_layout(rng: KeyedRandom, n_events: int, min_turns: int, max_turns: int) -> Layout:
    """Turns between `min_turns` (or what the events need) and `max_turns`; every set of slots that fits is as likely.

    Slots lie at least 3 apart, within 1 and n_turns - 3. Taking away the 2 turns that must lie between neighbours maps
    these sets onto plain subsets, one to one, so a sorted sample without replacement draws them uniformly.
    """
    n_turns = rng.between(max(min_turns, turns_needed(n_events)), max_turns)
    free = n_turns - HOLD - (HOLD - 1) * (n_events - 1) if n_events else 0
    packed = sorted(rng.sample(range(1, free + 1), n_events))
    return Layout(n_turns, tuple(slot + (HOLD - 1) * index for index, slot in enumerate(packed)))


def draw_order(rng: KeyedRandom, events: Sequence[T]) -> list[T]:
    """The events in the order in which they are heard."""
    return rng.shuffled(events)
