"""Which split each recording belongs to: all parts of one recording to the same, so that none is heard in two."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cares.core.rng import KeyedRandom
from cares.records.scene import SPLITS, Split
from cares.sounds.params import TakeCounts


class Member(NamedTuple):
    """A recording or a part of one.

    name: what it is a take of.
    group: recordings that must not part, such as one author's recording cut into several sounds.
    split: where it must go, or None.
    """

    name: str
    group: str
    split: Split | None


def assign_splits(members: Sequence[Member], seed: int) -> dict[str, Split]:
    """The split of every group; it depends on neither the order of `members` nor of their names.

    A group goes where a member has to go. Of the others, first every name gets one group in each split, those with
    the fewest groups before the rest; then each goes where its names have the fewest.
    """
    split_of: dict[str, Split] = {member.group: member.split for member in members if member.split is not None}
    groups: dict[str, set[str]] = defaultdict(set)
    for member in members:
        groups[member.name].add(member.group)
    names_of: dict[str, list[str]] = defaultdict(list)
    for name in sorted(groups):
        for group in groups[name]:
            names_of[group].append(name)
    drawn = {group: KeyedRandom(seed, "recording_group", group).word() for group in sorted(names_of)}
    order = sorted(names_of, key=lambda group: (drawn[group], group))
    counts = {name: Counter(split_of[group] for group in groups[name] if group in split_of) for name in groups}

    def put(group: str, split: Split) -> None:
        split_of[group] = split
        for name in names_of[group]:
            counts[name][split] += 1

    for name in sorted(groups, key=lambda name: (len(groups[name]), name)):
        free = (group for group in order if group in groups[name] and group not in split_of)
        for split in KeyedRandom(seed, "recording_splits", name).shuffled(SPLITS):
            if not counts[name][split] and (first := next(free, None)) is not None:
                put(first, split)
    for group in order:
        if group not in split_of:
            put(group, min(SPLITS, key=lambda split: sum(counts[name][split] for name in names_of[group])))
    return split_of


def chosen(
    members: Sequence[tuple[Member, str]], split_of: Mapping[str, Split], counts: TakeCounts, seed: int
) -> list[tuple[Split, str]]:
    """The members of one name that are used: at most `counts` in each split, splits in order; none if one has none.

    Args:
        members: each with a key of its own.
        split_of: the split of each group.
        counts: takes of each split.
    """
    used: list[tuple[Split, str]] = []
    for split in SPLITS:
        there = [key for member, key in members if split_of[member.group] == split]
        if not there:
            return []
        there.sort(key=lambda key: (KeyedRandom(seed, "recording", key).word(), key))
        used.extend((split, key) for key in there[: counts.of(split)])
    return used
