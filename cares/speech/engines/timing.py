"""From an engine's durations of phonemes to times of the words that were written.

espeak-ng joins little words ("of the" is one), and parts some compounds. The groups of phonemes between spaces are
therefore matched to the written words by the sounds that each word has alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cares.speech.engines import TimedWord

# what phonemisers write besides sounds: punctuation, marks of beginning and end, and marks of stress and length
PUNCTUATION = frozenset(' ,.?!;:—…"()“”«»^$_-')
MARKS = frozenset("ˈˌː")
# a group may hold so many words, a word so many groups
MOST = 4


class Phoneme(NamedTuple):
    """One symbol and where the engine says it, in samples."""

    symbol: str
    start_sample: int
    end_sample: int


class _Group(NamedTuple):
    sounds: str
    start_sample: int
    end_sample: int


def timed_words(
    words: Sequence[str], phonemes: Sequence[Phoneme], alone: Callable[[str], str]
) -> tuple[TimedWord, ...] | None:
    """One entry a word, or None when the phonemes cannot be matched to the words.

    Two words that are said as one share their outer ends; the boundary between them is not known.

    Args:
        words: the words of the text.
        phonemes: what the engine says, in order.
        alone: the phonemes of a word said alone.
    """
    groups = _groups(phonemes)
    if len(groups) == len(words):
        return tuple(TimedWord(group.start_sample, group.end_sample) for group in groups)
    sizes = _matched([_bare(alone(word)) for word in words], groups)
    if sizes is None:
        return None
    timed: list[TimedWord] = []
    reached = 0
    for n_words, n_groups in sizes:
        first, last = groups[reached], groups[reached + n_groups - 1]
        reached += n_groups
        for place in range(n_words):
            start = first.start_sample if place == 0 else None
            end = last.end_sample if place == n_words - 1 else None
            timed.append(TimedWord(start, end))
    return tuple(timed)


def _groups(phonemes: Sequence[Phoneme]) -> list[_Group]:
    groups: list[_Group] = []
    running: list[Phoneme] = []
    for phoneme in [*phonemes, Phoneme(" ", 0, 0)]:
        if phoneme.symbol not in PUNCTUATION:
            running.append(phoneme)
        elif running:
            sounds = _bare("".join(one.symbol for one in running))
            groups.append(_Group(sounds, running[0].start_sample, running[-1].end_sample))
            running = []
    return groups


def _bare(phonemes: str) -> str:
    return "".join(symbol for symbol in phonemes if symbol not in MARKS and symbol not in PUNCTUATION)


def _matched(words: Sequence[str], groups: Sequence[_Group]) -> list[tuple[int, int]] | None:
    """The numbers of words and groups that belong together, in order, with the least edits between their sounds."""
    from rapidfuzz.distance import Levenshtein  # wanted only where espeak-ng joins or parts words

    steps = [(1, n) for n in range(1, MOST + 1)] + [(n, 1) for n in range(2, MOST + 1)]
    best: dict[tuple[int, int], tuple[int, tuple[int, int] | None]] = {(0, 0): (0, None)}
    for word in range(len(words) + 1):
        for group in range(len(groups) + 1):
            if (word, group) not in best:
                continue
            cost = best[word, group][0]
            for n_words, n_groups in steps:
                after = (word + n_words, group + n_groups)
                if after[0] > len(words) or after[1] > len(groups):
                    continue
                said = "".join(one.sounds for one in groups[group : after[1]])
                edits = Levenshtein.distance("".join(words[word : after[0]]), said)
                if after not in best or cost + edits < best[after][0]:
                    best[after] = (cost + edits, (n_words, n_groups))
    place = (len(words), len(groups))
    if place not in best:
        return None
    sizes: list[tuple[int, int]] = []
    while (step := best[place][1]) is not None:
        sizes.append(step)
        place = (place[0] - step[0], place[1] - step[1])
    return sizes[::-1]
