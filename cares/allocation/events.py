"""Which sound carries which event: the steps of `cares.allocation` that need all scenes at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cares.allocation.compositions import COMPOSITIONS
from cares.allocation.earlier import Earlier
from cares.allocation.labels import N_LABELS, NOTHING, PIVOT, Group, Table, label_tables, share_use
from cares.allocation.placing import Board, Place, place_sounds
from cares.allocation.quotas import deal, deal_further, largest_remainder, spread
from cares.allocation.rare import choose_rare, rare_count
from cares.allocation.space import SoundSpace, not_enough
from cares.allocation.summary import label_imbalance
from cares.catalog.catalog import Catalog
from cares.core.rng import KeyedRandom
from cares.records.scene import REACTIONS, SPLITS

_FEWEST_TRIES, _MOST_TRIES, _SCENES_IN_ALL_TRIES = 4, 64, 50_000


class Faults(NamedTuple):
    """What is wrong with a try, worst first: groups with a clash, uneven labels of sounds, uneven uses of sounds."""

    clashes: int
    labels: int
    uses: int


class Setting(NamedTuple):
    """A scene's split, composition and location, all as indices."""

    split: int
    composition: int
    location: int


def labels_of(setting: Setting) -> list[int]:
    """The labels of a scene's events, in the order pivot, verbal, behavioral, ambient."""
    return [label for label, count in enumerate(COMPOSITIONS[setting.composition]) for _ in range(count)]


def draw_sounds(
    seed: int, settings: Sequence[Setting], space: SoundSpace, rare_share: float, earlier: Earlier | None = None
) -> list[list[int]]:
    """For each scene the sounds of its events, parallel to `labels_of`.

    Rare sounds are set first, then the others, in tries with other keys until nothing is uneven. With the whole catalog
    the first or second try is even. A bank of a few sounds that clash may leave none, and then the best is kept; few
    scenes get more tries, since a try costs less and there is less room to even out.

    Args:
        seed: the data set's seed.
        settings: the scenes.
        space: the sounds to draw from.
        rare_share: share of the scenes whose pivot is a rare sound.
        earlier: the scenes to which these are added, whose uses count in every balance.

    Raises:
        InputError: a location has so few sounds, or so confusable ones, that a scene cannot be filled.
    """
    places: dict[Group, list[list[Place]]] = {}
    for scene, setting in enumerate(settings):
        cells = places.setdefault((setting.split, setting.location), [[] for _ in range(N_LABELS)])
        for position, label in enumerate(labels_of(setting)):
            cells[label].append((scene, position))
    rare_sounds = _set_rare(seed, settings, space, rare_share, places, earlier)
    before = earlier.tables if earlier else NOTHING
    demand = {group: [len(cell) for cell in cells] for group, cells in places.items()}

    best_stuck: list[Group] = []
    best: tuple[Faults, list[list[int]]] | None = None
    for attempt in range(max(_FEWEST_TRIES, min(_MOST_TRIES, _SCENES_IN_ALL_TRIES // len(settings)))):
        sounds = [[-1] * sum(COMPOSITIONS[setting.composition]) for setting in settings]
        for (scene, position), sound in rare_sounds.items():
            sounds[scene][position] = sound
        uses = share_use(seed, demand, space.ordinary, len(space.names), attempt, before)
        tables = label_tables(demand, uses, len(space.names), before)
        stuck = place_sounds(seed, Board(sounds, space.clashes), places, tables, space.ordinary, attempt, before)
        faults = Faults(len(stuck), *_unevenness(sounds, places, space, before))
        if best is None or faults < best[0]:
            best, best_stuck = (faults, sounds), stuck
        if not any(faults):
            break
    assert best is not None
    if best_stuck:
        split, location = best_stuck[0]
        pool = space.ordinary[split, location]
        raise not_enough(split, space.locations[location], [space.names[sound] for sound in pool])
    return best[1]


def _unevenness(
    sounds: Sequence[Sequence[int]],
    places: Mapping[Group, Sequence[Sequence[Place]]],
    space: SoundSpace,
    before: Mapping[Group, Table],
) -> tuple[int, int]:
    """By how many events the labels of ordinary sounds are uneven, and by how many their uses at locations."""
    labels = [[0] * N_LABELS for _ in space.names]
    by_location: dict[int, Counter[int]] = {}
    uneven = 0
    for table in before.values():
        for sound, label in zip(*(index.tolist() for index in table.nonzero()), strict=True):
            labels[sound][label] += int(table[sound, label])
    for group in sorted({*places, *before}):
        cells = places.get(group, ())
        for label, cell in enumerate(cells):
            for scene, position in cell:
                labels[sounds[scene][position]][label] += 1
        here = Counter(sounds[scene][position] for cell in cells for scene, position in cell)
        if group in before:
            here.update(dict(enumerate(before[group].sum(axis=1).tolist())))
        by_location.setdefault(group[1], Counter()).update(here)
        uneven += max(0, spread([here[sound] for sound in space.ordinary[group]]) - 1)
    for location, total in by_location.items():
        pools = {space.ordinary[group] for group in {*places, *before} if group[1] == location}
        if len(pools) == 1:
            uneven += max(0, spread([total[sound] for sound in pools.pop()]) - 1)
    return label_imbalance(labels), uneven


def _set_rare(
    seed: int,
    settings: Sequence[Setting],
    space: SoundSpace,
    rare_share: float,
    places: dict[Group, list[list[Place]]],
    earlier: Earlier | None,
) -> dict[Place, int]:
    """Choose rare sounds and take their pivots out of `places`."""
    sizes = [sum(setting.split == split for setting in settings) for split in range(len(SPLITS))]
    if earlier:
        counts = _further_rare(sizes, rare_share, earlier)
    else:
        counts = largest_remainder(rare_count(len(settings), rare_share), sizes)
    pivots = {group: len(cells[PIVOT]) for group, cells in places.items()}
    rare_sounds: dict[Place, int] = {}
    for group, sounds in choose_rare(seed, counts, pivots, space.rare, earlier.rare if earlier else {}).items():
        rng = KeyedRandom(seed, "rare_to_scenes", *group)
        order = rng.shuffled(places[group][PIVOT])
        rare_sounds.update(zip(order, rng.shuffled(sounds), strict=False))
        places[group][PIVOT] = sorted(order[len(sounds) :])
    return rare_sounds


def _further_rare(sizes: Sequence[int], rare_share: float, earlier: Earlier) -> list[int]:
    """Rare pivots that added scenes bring to each split: what the whole set's share asks for and is not there yet."""
    have = [0] * len(SPLITS)
    for (split, _), sounds in earlier.rare.items():
        have[split] += len(sounds)
    whole = [old + new for old, new in zip(earlier.split_sizes(), sizes, strict=True)]
    wanted = largest_remainder(rare_count(sum(whole), rare_share), whole)
    return [max(0, want - there) for want, there in zip(wanted, have, strict=True)]


def draw_registers(
    seed: int, settings: Sequence[Setting], catalog: Catalog, earlier: Earlier | None = None
) -> list[list[str]]:
    """For each scene the registers of its events, parallel to `labels_of`.

    Within a split, and over all, the registers of a reaction differ by at most one in count over its events; with
    `earlier` scenes, to which these are added, over all by as little as `quotas.top_up` says.
    """
    registers = [[""] * sum(COMPOSITIONS[setting.composition]) for setting in settings]
    for label, reaction in enumerate(REACTIONS):
        places: list[list[Place]] = [[] for _ in SPLITS]
        for scene, setting in enumerate(settings):
            places[setting.split] += [(scene, i) for i, other in enumerate(labels_of(setting)) if other == label]
        levels = [register.id for register in catalog.registers_of(reaction)]
        rng = KeyedRandom(seed, "registers", reaction)
        levels, sizes = rng.shuffled(levels), [len(part) for part in places]
        dealt = deal_further(levels, earlier.of_registers(label, levels), sizes) if earlier else deal(levels, sizes)
        for part, chosen in zip(places, dealt, strict=True):
            for (scene, position), register in zip(part, rng.shuffled(chosen), strict=True):
                registers[scene][position] = register
    return registers
