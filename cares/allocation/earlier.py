"""What scenes that are there already use of every quota, so that the counts of scenes added to them go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cares.allocation.compositions import COMPOSITIONS
from cares.allocation.labels import N_LABELS, Group, Table
from cares.allocation.space import SoundSpace
from cares.catalog.catalog import Catalog
from cares.records.scene import REACTIONS, SPLITS, Scene


class Earlier:
    """Counts over scenes that stay as they are.

    Args:
        scenes: the scenes; none when there are none to go on from.
        space: sounds and locations as indices.
        catalog: which sounds are rare.
    """

    def __init__(self, scenes: Sequence[Scene], space: SoundSpace, catalog: Catalog) -> None:
        self.scenes = tuple(scenes)
        self._space = space
        self._index = {name: number for number, name in enumerate(space.names)}
        self._rare = {sound.id for sound in catalog.sounds.values() if sound.group == "rare"}

    def __bool__(self) -> bool:
        return bool(self.scenes)

    def split_sizes(self) -> list[int]:
        """Scenes of each split."""
        return [sum(scene.split == split for scene in self.scenes) for split in SPLITS]

    def ids(self) -> list[list[str]]:
        """Scene ids of each split."""
        return [[scene.scene_id for scene in self.scenes if scene.split == split] for split in SPLITS]

    def of_scenes(self, value: Callable[[Scene], Hashable], levels: Sequence[Hashable]) -> list[list[int]]:
        """How often each level occurs in each split."""
        return _counts([(scene.split, value(scene)) for scene in self.scenes], levels)

    def of_registers(self, label: int, registers: Sequence[str]) -> list[list[int]]:
        """How often each register of a reaction occurs in each split."""
        found = [
            (scene.split, event.register_id)
            for scene in self.scenes
            for event in scene.events
            if event.reaction == REACTIONS[label]
        ]
        return _counts(found, registers)

    def crossed(self) -> list[NDArray[np.int64]]:
        """Scenes per location and composition [L, C] of each split."""
        met = [np.zeros((len(self._space.locations), len(COMPOSITIONS)), np.int64) for _ in SPLITS]
        for scene in self.scenes:
            composition = tuple(getattr(scene.composition, reaction) for reaction in REACTIONS)
            met[SPLITS.index(scene.split)][
                self._space.locations.index(scene.location), COMPOSITIONS.index(composition)
            ] += 1
        return met

    @cached_property
    def tables(self) -> Mapping[Group, Table]:
        """Uses [sounds, labels] of ordinary sounds in each group."""
        tables: dict[Group, Table] = {}
        for scene in self.scenes:
            table = tables.setdefault(self._group(scene), np.zeros((len(self._index), N_LABELS), np.int64))
            for event in scene.events:
                if event.sound not in self._rare:
                    table[self._index[event.sound], REACTIONS.index(event.reaction)] += 1
        return tables

    @cached_property
    def rare(self) -> Mapping[Group, Sequence[int]]:
        """The rare sounds of each group."""
        found: dict[Group, list[int]] = {}
        for scene in self.scenes:
            found.setdefault(self._group(scene), []).extend(
                self._index[event.sound] for event in scene.events if event.sound in self._rare
            )
        return found

    def _group(self, scene: Scene) -> Group:
        return SPLITS.index(scene.split), self._space.locations.index(scene.location)


def _counts(found: Sequence[tuple[str, Hashable]], levels: Sequence[Hashable]) -> list[list[int]]:
    counts = Counter(found)
    return [[counts[split, level] for level in levels] for split in SPLITS]
