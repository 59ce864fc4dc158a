"""Keyed random numbers: every draw is a function of (seed, purpose, entity), never of order, worker or library.

SHA-256 of the key seeds a Philox4x64-10 counter generator (Salmon et al., "Parallel random numbers: as easy as
1, 2, 3", SC11). Only its raw 64-bit words are used; integers come by rejection and shuffles by Fisher-Yates in the few
lines below, so a change in numpy's distribution code cannot change a data set. Golden values: tests/core/test_rng.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableSequence, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")
_WORD = 1 << 64


class KeyedRandom:
    """A stream of draws for one key.

    Args:
        seed: the data set's seed.
        key: what the draw is for and for whom, such as ("event_slot", "t0003-1"); strings and integers only.
    """

    def __init__(self, seed: int, *key: str | int) -> None:
        text = "\x1f".join([str(seed), *(f"{type(part).__name__}:{part}" for part in key)])
        words = np.frombuffer(hashlib.sha256(text.encode("utf-8")).digest(), dtype="<u8").astype(np.uint64)
        counter = np.zeros(4, np.uint64)
        counter[2:] = words[2:]
        self._bits = np.random.Philox(key=words[:2], counter=counter)
        self._words: list[int] = []

    def word(self) -> int:
        """The next raw word, an integer in [0, 2**64)."""
        if not self._words:
            self._words = [int(w) for w in self._bits.random_raw(4)][::-1]
        return self._words.pop()

    def below(self, n: int) -> int:
        """A uniform integer in [0, n), by rejection; ValueError unless 1 <= n <= 2**63."""
        if not 1 <= n <= 1 << 63:
            raise ValueError(f"below({n}): n must lie in [1, 2**63]")
        limit = _WORD - _WORD % n
        while (word := self.word()) >= limit:
            pass
        return word % n

    def between(self, low: int, high: int) -> int:
        """A uniform integer in [low, high], both ends included."""
        return low + self.below(high - low + 1)

    def unit(self) -> float:
        """A uniform float in [0, 1) with 53 bits, exact on every platform."""
        return (self.word() >> 11) * 2.0**-53

    def uniform(self, low: float, high: float) -> float:
        """A uniform float in [low, high)."""
        return low + (high - low) * self.unit()

    def choice(self, items: Sequence[T]) -> T:
        """One of `items`, each as likely; ValueError when empty."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Fisher-Yates in place (Durstenfeld's form)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A shuffled copy."""
        copy = list(items)
        self.shuffle(copy)
        return copy

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items in drawn order; ValueError when there are fewer."""
        if count > len(items):
            raise ValueError(f"sample({count}) of {len(items)} items")
        return self.shuffled(items)[:count]


def derived_seed(seed: int, *key: str | int) -> int:
    """A 31-bit seed for a library that wants one, a function of the same kind of key."""
    return KeyedRandom(seed, *key).below(1 << 31)
