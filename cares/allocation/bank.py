"""Which sounds a bank can deliver."""

from __future__ import annotations

from collections.abc import Iterable

from cares.records.bank import Take
from cares.records.scene import SPLITS, Split


def available_sounds(takes: Iterable[Take]) -> dict[Split, frozenset[str]]:
    """Sounds with at least one take, per split; ambiences are passed over."""
    found: dict[Split, set[str]] = {split: set() for split in SPLITS}
    for take in takes:
        if take.kind == "event":
            found[take.split].add(take.name)
    return {split: frozenset(names) for split, names in found.items()}
