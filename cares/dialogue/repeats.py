"""Words said again across a sound: the mark of a sentence that broke off and was begun anew."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

REACH = 16  # how many words of the resumed speech can belong to the way back into the sentence
CAP = 5  # a run of five words is as sure a sign as a longer one


def without_fillers(words: Sequence[str], fillers: Collection[str]) -> list[str]:
    """The words that are no fillers."""
    return [word for word in words if word not in fillers]


def longest_run(before: Sequence[str], after: Sequence[str]) -> int:
    """The longest run of words that the last words before the sound share with the first ones after it, capped."""
    end, begin = list(before[-REACH:]), list(after[:REACH])
    best = 0
    for i in range(len(end)):
        for j in range(len(begin)):
            size = 0
            while i + size < len(end) and j + size < len(begin) and end[i + size] == begin[j + size]:
                size += 1
            best = max(best, size)
    return min(best, CAP)


def begins_again(sentence: Sequence[str], after: Sequence[str]) -> int:
    """How many first words of the broken sentence are found in a row near the beginning of what follows, capped."""
    best = 0
    for start in range(min(len(after), REACH)):
        size = 0
        while size < min(len(sentence), len(after) - start) and sentence[size] == after[start + size]:
            size += 1
        best = max(best, size)
    return min(best, CAP)


def repeats_end(before: Sequence[str], after: Sequence[str]) -> int:
    """How many last words before the sound are the first words after it, capped."""
    for size in range(min(CAP, len(before), len(after)), 0, -1):
        if list(before[-size:]) == list(after[:size]):
            return size
    return 0


def stutters(words: Sequence[str]) -> int:
    """How many words of the beginning are at once said again, alone or as a pair."""
    begin = words[:REACH]
    single = sum(one == two for one, two in pairwise(begin))
    double = sum(begin[i : i + 2] == begin[i + 2 : i + 4] for i in range(max(0, len(begin) - 3)))
    return min(single + double, 3)
