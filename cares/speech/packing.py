"""Short utterances heard together: a recogniser's window is 30 s whatever it holds, so a scene's utterances share some.

Utterances are set one behind the other with half a second of silence between them, as many as fit in a window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from cares.asr.types import AlignedWord
from cares.core.pcm import SAMPLE_RATE, Samples
from cares.speech.hearing import Listener

GAP = SAMPLE_RATE // 2
LIMIT = 29 * SAMPLE_RATE


class WordPlacer(Protocol):
    """The part of `cares.asr.aligner.Aligner` that is used here; sounds are int16 [T] at 44,100 Hz."""

    def align(self, sound: Samples, known_text: str) -> tuple[AlignedWord, ...]:
        """The place of each word of `known_text`; at most 30 s."""


class Window(NamedTuple):
    """Clips `first`, `first` + 1, ... in one sound; `starts` are their first samples in it, `lengths` theirs."""

    first: int
    samples: Samples
    starts: tuple[int, ...]
    lengths: tuple[int, ...]


def pack(clips: Sequence[Samples]) -> list[Window]:
    """Windows of consecutive clips, each at most 29 s unless one clip alone is longer; clips are int16 [T]."""
    windows: list[Window] = []
    first = 0
    while first < len(clips):
        last, total = first + 1, len(clips[first])
        while last < len(clips) and total + GAP + len(clips[last]) <= LIMIT:
            total += GAP + len(clips[last])
            last += 1
        samples = np.zeros(total, np.int16)
        lengths = tuple(len(clip) for clip in clips[first:last])
        starts = tuple(sum(lengths[:i]) + i * GAP for i in range(len(lengths)))
        for clip, start in zip(clips[first:last], starts, strict=True):
            samples[start : start + len(clip)] = clip
        windows.append(Window(first, samples, starts, lengths))
        first = last
    return windows


def texts_together(clips: Sequence[Samples], listener: Listener) -> list[str]:
    """What is heard in each clip; a word belongs to the clip that is nearest to its middle."""
    heard: list[list[str]] = [[] for _ in clips]
    for window in pack(clips):
        for word in listener.words(window.samples):
            middle = (word.start_sample + word.end_sample) // 2
            place = sum(start - GAP // 2 <= middle for start in window.starts[1:])
            heard[window.first + place].append(word.text)
    return [" ".join(words) for words in heard]


def align_together(clips: Sequence[Samples], texts: Sequence[str], placer: WordPlacer) -> list[tuple[AlignedWord, ...]]:
    """The words of each clip's known text, in samples from its start; a word placed outside its clip has no time."""
    aligned: list[tuple[AlignedWord, ...]] = []
    for window in pack(clips):
        spoken = texts[window.first : window.first + len(window.starts)]
        words = placer.align(window.samples, " ".join(spoken))
        place = 0
        for text, start, length in zip(spoken, window.starts, window.lengths, strict=True):
            count = len(text.split())
            aligned.append(tuple(_within(word, start, length) for word in words[place : place + count]))
            place += count
    return aligned


def _within(word: AlignedWord, start: int, length: int) -> AlignedWord:
    first, last = word.start_sample - start, word.end_sample - start
    inside = word.timed and first < length and last > 0
    first, last = min(max(first, 0), length), min(max(last, 0), length)
    return word.model_copy(update={"start_sample": first, "end_sample": last, "timed": inside})
