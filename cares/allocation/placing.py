"""Sounds on events: dealt from the tables, then exchanged until no scene holds two sounds that could be confused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cares.allocation.labels import N_LABELS, NOTHING, Group, Table
from cares.allocation.tally import Tally
from cares.core.rng import KeyedRandom

_ROUNDS = 3

Place = tuple[int, int]
"""A scene and the position of one of its events."""
Cells = Mapping[Group, Sequence[Sequence[Place]]]
"""For each group (location within a split) and label the events to fill."""


class Board:
    """Sounds placed on the events of scenes.

    Args:
        sounds: for each scene a sound for each of its events; -1 where none is placed yet.
        clashes: for each sound the sounds that may not be in the same scene, itself among them.
    """

    def __init__(self, sounds: list[list[int]], clashes: Sequence[frozenset[int]]) -> None:
        self.sounds = sounds
        self._clashes = clashes

    def get(self, place: Place) -> int:
        """The sound at a place."""
        return self.sounds[place[0]][place[1]]

    def put(self, sound: int, place: Place) -> None:
        """Place a sound."""
        self.sounds[place[0]][place[1]] = sound

    def fits(self, sound: int, place: Place) -> bool:
        """Whether `sound` at `place` clashes with none of the scene's other events."""
        scene, position = place
        clashing = self._clashes[sound]
        return not any(other in clashing for i, other in enumerate(self.sounds[scene]) if i != position)

    def exchangeable(self, first: Place, second: Place) -> bool:
        """Whether the sounds of two events of different scenes would fit each other's place."""
        return (
            first[0] != second[0] and self.fits(self.get(second), first) and self.fits(self.get(first), second)
        )  # fmt: skip

    def exchange(self, first: Place, second: Place) -> None:
        """Exchange the sounds of two events."""
        one, other = self.get(first), self.get(second)
        self.put(other, first)
        self.put(one, second)


class _Spot(NamedTuple):
    group: Group
    label: int
    number: int


def place_sounds(
    seed: int,
    board: Board,
    cells: Cells,
    tables: Mapping[Group, Table],
    pool: Mapping[Group, Sequence[int]],
    attempt: int,
    before: Mapping[Group, Table] = NOTHING,
) -> list[Group]:
    """Fill the board from the tables; returns the groups where an event is left with a clash (none but for tiny pools).

    The sounds of a cell (group and label) are dealt to its events by a keyed shuffle. An event whose sound clashes
    exchanges sounds with another event of its cell, which keeps every count. In cells too small for that it exchanges
    with an event of another label of its group, or takes another sound: whichever harms the balance least.

    Args:
        seed: the data set's seed.
        board: holds what was placed before, such as rare sounds; filled in place.
        cells: the events to fill.
        tables: uses [sounds, labels] of each group.
        pool: sounds that may occur in each group.
        attempt: number of the try, part of the key.
        before: uses of each group by scenes to which these are added.
    """
    tally = Tally(tables, before)
    spots: list[_Spot] = []
    for group in sorted(cells):
        for label, cell in enumerate(cells[group]):
            dealt = [sound for sound, n in enumerate(tables[group][:, label].tolist()) for _ in range(n)]
            KeyedRandom(seed, "sounds_to_events", *group, label, attempt).shuffle(dealt)
            for index, (sound, place) in enumerate(zip(dealt, cell, strict=True)):
                board.put(sound, place)
                spots.append(_Spot(group, label, index))
    clashing = spots
    for _ in range(_ROUNDS):
        for spot in clashing:
            _mend(seed, board, tally, cells, pool, spot, attempt)
        clashing = [spot for spot in spots if not board.fits(board.get(_place(cells, spot)), _place(cells, spot))]
        if not clashing:
            break
    return sorted({spot.group for spot in clashing})


def _place(cells: Cells, spot: _Spot) -> Place:
    return cells[spot.group][spot.label][spot.number]


def _mend(
    seed: int,
    board: Board,
    tally: Tally,
    cells: Cells,
    pool: Mapping[Group, Sequence[int]],
    spot: _Spot,
    attempt: int,
) -> None:
    """Mend the clash at a spot, if there is one and a way to."""
    place = _place(cells, spot)
    if board.fits(board.get(place), place):
        return
    cell = cells[spot.group][spot.label]
    partner = next((other for other in _others(cell, spot.number) if board.exchangeable(place, other)), None)
    if partner is not None:
        board.exchange(place, partner)
    else:
        _change_counts(seed, board, tally, cells, pool, spot, attempt)


def _others(cell: Sequence[Place], index: int) -> Iterable[Place]:
    """The places after `index`, then those before it."""
    yield from cell[index + 1 :]
    yield from cell[:index]


def _change_counts(
    seed: int,
    board: Board,
    tally: Tally,
    cells: Cells,
    pool: Mapping[Group, Sequence[int]],
    spot: _Spot,
    attempt: int,
) -> None:
    """Mend a clash by the least harmful exchange with another label, or replacement, if there is any."""
    group, label, number = spot
    place = cells[group][label][number]
    old = board.get(place)
    rng = KeyedRandom(seed, "mending", *group, label, number, attempt)
    options: list[tuple[tuple[int, int], int, tuple[int, Place] | None]] = []
    for sound in rng.shuffled(sorted(pool[group])):
        if sound != old and board.fits(sound, place):
            options.append((tally.harm_of_replacing(old, sound, label, group), sound, None))
    for other_label, other in rng.shuffled(list(_of_other_labels(cells[group], label))):
        if board.exchangeable(place, other):
            sound = board.get(other)
            options.append((tally.harm_of_exchange(old, sound, label, other_label), sound, (other_label, other)))
    if not options:
        return
    _, sound, partner = min(options, key=lambda option: option[0])
    if partner is None:
        board.put(sound, place)
        tally.replace(old, sound, label, group)
    else:
        board.exchange(place, partner[1])
        tally.exchange(old, sound, label, partner[0])


def _of_other_labels(cells: Sequence[Sequence[Place]], label: int) -> Iterator[tuple[int, Place]]:
    for other in range(N_LABELS):
        if other != label:
            for place in cells[other]:
                yield other, place
