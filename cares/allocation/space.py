"""The sounds that scenes may draw from: per split and location, of those that the bank can deliver."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from cares.allocation.labels import Group
from cares.catalog.catalog import Catalog
from cares.core.errors import InputError
from cares.records.scene import SPLITS, Split

MIN_SOUNDS = 4
"""A scene has up to three events, and no two of its sounds may be confusable."""
BANK = "sound bank"


@dataclass(frozen=True)
class SoundSpace:
    """Sounds as indices into `names`, which follow the catalog; splits and locations as indices too.

    `ordinary` and `rare` hold what may occur per (split, location); `clashes` for each sound those that may not be in
    the same scene, itself among them.
    """

    names: tuple[str, ...]
    locations: tuple[str, ...]
    ordinary: Mapping[Group, tuple[int, ...]]
    rare: Mapping[Group, tuple[int, ...]]
    clashes: tuple[frozenset[int], ...]

    @property
    def drawn_from(self) -> int:
        """Number of sounds that may occur in some split and location."""
        return len({sound for pool in (self.ordinary, self.rare) for sounds in pool.values() for sound in sounds})


def sound_space(
    catalog: Catalog, splits: Collection[int], available: Mapping[Split, Collection[str]] | None
) -> SoundSpace:
    """The sounds to draw from in `splits` (indices into SPLITS).

    Args:
        catalog: the label space.
        splits: the splits that have scenes.
        available: sounds with at least one take, per split; None for all sounds of the catalog.

    Raises:
        InputError: `available` names a sound that is not in the catalog, or leaves a location too few sounds.
    """
    names = tuple(catalog.sounds)
    index_of = {name: index for index, name in enumerate(names)}
    clashes = tuple(frozenset(index_of[other] for other in {name, *catalog.confusable(name)}) for name in names)
    ordinary: dict[Group, tuple[int, ...]] = {}
    rare: dict[Group, tuple[int, ...]] = {}
    for split in sorted(splits):
        have = frozenset(names if available is None else available.get(SPLITS[split], ()))
        if unknown := sorted(have - index_of.keys()):
            raise InputError(BANK, SPLITS[split], unknown[0], "the id of a sound of the catalog")
        for number, location in enumerate(catalog.locations):
            here = [sound for sound in catalog.sounds_at(location) if sound.id in have]
            usual = tuple(index_of[sound.id] for sound in here if sound.group != "rare")
            if len(usual) < MIN_SOUNDS or not _fills_a_scene(usual, clashes):
                raise not_enough(split, location, [names[i] for i in usual])
            ordinary[split, number] = usual
            rare[split, number] = tuple(index_of[sound.id] for sound in here if sound.group == "rare")
    return SoundSpace(names, tuple(catalog.locations), ordinary, rare, clashes)


def not_enough(split: int, location: str, names: Sequence[str]) -> InputError:
    """The error for a location whose sounds cannot fill its scenes."""
    return InputError(
        BANK,
        f"{SPLITS[split]}.{location}",
        list(names),
        f"takes of at least {MIN_SOUNDS} sounds that are not rare, some three of which can be told apart",
        "Add takes of other sounds that are plausible there to the bank.",
    )


def _fills_a_scene(sounds: Sequence[int], clashes: Sequence[frozenset[int]]) -> bool:
    return any(
        second not in clashes[first] and not {first, second} & clashes[third]
        for first, second, third in combinations(sounds, 3)
    )
