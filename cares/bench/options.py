"""Which options a question has and in which order, so that neither tells the answer.

Positions: within a split the right answer stands at each place equally often, in all and for each label. Distractors:
what is often an answer is as often a distractor, three times to once, so that an option's name does not tell how likely
it is. Everything is a keyed draw, or a count over the questions before in the same split: further scenes at the end
leave the distractors of the earlier ones alone, and so they do their positions where they are a batch of their own
(`allocation.added`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.core.rng import KeyedRandom

LOCATIONS = Path(__file__).parent / "confusable_locations.yaml"
N_DISTRACTORS = 3


class Placed(NamedTuple):
    """What a position is drawn for: a question, its split, the label that positions are to be even for, its batch."""

    item_id: str
    split: str
    label: str
    added: int = 0


def answer_positions(placed: Sequence[Placed], n_choices: int, purpose: str, seed: int) -> dict[str, int]:
    """The place of the right answer of each question, by its id.

    In each split the counts of the places differ by at most one, over all questions and over those of each label:
    blocks of `n_choices` questions of one label get all places in drawn order, a last, smaller block those least used
    in the split. Splits do not depend on each other. A batch that was added depends on those before it, never the other
    way: it first fills the last block of each label. For each label the counts then still differ by at most one, over
    all questions of a split by a few more.

    Args:
        placed: the questions in their order; ids differ.
        n_choices: number of options.
        purpose: what is drawn, part of the key.
        seed: the data set's seed.
    """
    positions: dict[str, int] = {}
    groups: dict[str, dict[tuple[int, str], list[str]]] = {}
    for item_id, split, label, added in placed:
        groups.setdefault(split, {}).setdefault((added, label), []).append(item_id)
    for split, by_label in groups.items():
        used = [0] * n_choices
        blocks: Counter[str] = Counter()
        left: dict[str, list[int]] = {}
        for (_, label), ids in sorted(by_label.items()):
            waiting = list(ids)
            while waiting:
                if not left.get(label):
                    left[label] = KeyedRandom(seed, purpose, split, label, blocks[label]).shuffled(range(n_choices))
                    blocks[label] += 1
                block, waiting = waiting[: len(left[label])], waiting[len(left[label]) :]
                wanted = set(sorted(left[label], key=used.__getitem__)[: len(block)])
                for item_id, position in zip(block, (p for p in left[label] if p in wanted), strict=True):
                    positions[item_id] = position
                    used[position] += 1
                left[label] = [place for place in left[label] if place not in wanted]
    return positions


def in_shown_order(answer: str, others: Sequence[str], position: int, entity: str, seed: int) -> tuple[str, ...]:
    """The answer at its place, the others around it in drawn order."""
    shown = KeyedRandom(seed, "option_order", entity).shuffled(others)
    shown.insert(position, answer)
    return tuple(shown)


class Distractors:
    """Draws wrong options of one kind, such as sounds, question after question of one split.

    An option owes three distractors for each time that it was an answer; those that owe most are taken, drawn among
    equals. Where a question's own rules leave too few of them, others follow.

    Args:
        purpose: what is drawn, part of the key.
        seed: the data set's seed.
        alike: the options that must never stand beside an option.
    """

    def __init__(self, purpose: str, seed: int, alike: Callable[[str], Collection[str]]) -> None:
        self._purpose, self._seed, self._alike = purpose, seed, alike
        self._owed: Counter[str] = Counter()

    def draw(self, entity: str, answer: str, pool: Iterable[str], present: Collection[str] = ()) -> tuple[str, ...]:
        """Three options of `pool` that are neither the answer nor `present`, nor like one of these or of each other.

        Raises:
            InputError: the pool has no such three.
        """
        barred = {answer, *present}
        for name in tuple(barred):
            barred |= set(self._alike(name))
        free = [name for name in pool if name not in barred]
        drawn = KeyedRandom(self._seed, self._purpose, entity).shuffled(free)
        found = self._first_apart(sorted(drawn, key=lambda name: -self._owed[name]), N_DISTRACTORS)
        if found is None:
            expected = f"{N_DISTRACTORS} options beside it that are not present and not alike"
            raise InputError("catalog", f"{self._purpose} of {entity}", answer, expected, "Add sounds to the location.")
        self._owed[answer] += N_DISTRACTORS
        self._owed.subtract(found)
        return found

    def _first_apart(self, ranked: Sequence[str], count: int) -> tuple[str, ...] | None:
        """The first `count` of a ranking that are pairwise not alike, in lexicographic order of their ranks."""
        if count == 0:
            return ()
        for place, name in enumerate(ranked):
            alike = self._alike(name)
            rest = self._first_apart([other for other in ranked[place + 1 :] if other not in alike], count - 1)
            if rest is not None:
                return (name, *rest)
        return None


def read_confusable_locations(known: Collection[str], path: Path = LOCATIONS) -> Mapping[str, frozenset[str]]:
    """For each location those that must never stand beside it.

    Raises:
        InputError: the file is not a list of groups of at least two different known locations.
    """
    data = read_yaml(path)
    if not isinstance(data, list):
        raise InputError(path, "", data, "a list of groups of locations")
    alike: dict[str, set[str]] = {name: set() for name in known}
    for number, group in enumerate(data, 1):
        if not isinstance(group, list) or len(set(map(str, group))) != len(group) or len(group) < 2:
            raise InputError(path, f"group {number}", group, "a list of at least two different locations")
        for name in group:
            if name not in alike:
                raise InputError(path, f"group {number}", name, "the id of a location")
            alike[name] |= set(group) - {name}
    return {name: frozenset(others) for name, others in alike.items()}
