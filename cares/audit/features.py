"""What can be measured around an event in a finished file, without any meaning.

Four groups, told apart because different parts of the pipeline decide them:

- `SOUND`: the sound, its gap, and the levels around it: what timeline and mix decide; the audit's figure is of these;
- `TALK`: how the turn around the sound is spoken: what the writer and the voices decide, a break's own sound among it;
- `SCENE`: how many sounds the scene has and which of them this is: what the allocation decides;
- `PLACED`: the gap as the annotation has it, to the sample: not to be heard, but to be read.

Times are seconds, levels are RMS in dB below full scale. What cannot be measured for an event (a pause before a scene's
first word) is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE, Samples, read_samples
from cares.records.scene import Reaction
from cares.records.timeline import MixedScene, PlacedEvent, PlacedWord

SOUND = (
    "heard_gap_s",
    "pause_before_s",
    "pause_after_s",
    "length_s",
    "place",
    "words_over_s",
    "level_db",
    "crest_db",
    "gap_level_db",
    "gap_floor_db",
    "ambience_db",
    "margin_db",
    "level_before_db",
    "level_after_db",
    "onset_step_db",
    "overlap_step_db",
    "end_step_db",
    "log_centroid",
)
TALK = (
    "into_turn_s",
    "rest_of_turn_s",
    "words_per_s_before",
    "words_per_s_after",
    "spoken_before",
    "spoken_after",
    "last_word_s",
    "next_word_s",
    "last_word_db",
    "next_word_db",
    "voice_step_db",
)
SCENE = ("sounds_in_scene", "order")
PLACED = ("gap_s", "onset_before_gap_s", "end_after_gap_s")
FEATURES = (*SOUND, *TALK, *SCENE, *PLACED)
_WINDOW = SAMPLE_RATE * 2 // 5
_STEP = SAMPLE_RATE // 4
_SHORT = SAMPLE_RATE // 20
_FLOOR_DB = -100.0


class Placed(Protocol):
    """What is measured: a timeline or a finished scene's annotation."""

    @property
    def scene_id(self) -> str: ...
    @property
    def template_id(self) -> str: ...
    @property
    def n_samples(self) -> int: ...
    @property
    def words(self) -> tuple[PlacedWord, ...]: ...
    @property
    def events(self) -> tuple[PlacedEvent, ...]: ...


@dataclass(frozen=True)
class Example:
    """One event: its label, what was measured (as `FEATURES`), its sound, and the words of its turn and the next.

    `text` is None where nothing was said that could be read, as in a corpus of speech-like signals.
    """

    template_id: str
    reaction: Reaction
    measured: tuple[float, ...]
    sound: str
    text: str | None
    scene_id: str = ""


def scene_examples(scene: MixedScene, root: Path, context_ms: int) -> list[Example]:
    """The examples of one finished scene, read from its file below `root`."""
    if not scene.events:
        return []
    return measure(scene, read_samples(root / scene.path), context_ms)


def measure(scene: Placed, samples: Samples, context_ms: int, with_text: bool = True) -> list[Example]:
    """The examples of a scene whose finished samples [T] are at hand."""
    sound = _Scene(scene, samples, context_ms * SAMPLE_RATE // 1000)
    return [
        Example(
            template_id=scene.template_id,
            reaction=event.reaction,
            measured=sound.measure(event, order),
            sound=event.sound,
            text=" ".join(word.word for word in scene.words if event.turn <= word.turn <= event.turn + 1)
            if with_text
            else None,
            scene_id=scene.scene_id,
        )
        for order, event in enumerate(sorted(scene.events, key=lambda event: event.start_sample))
    ]


class _Scene:
    def __init__(self, scene: Placed, samples: Samples, context: int) -> None:
        self._scene, self._samples, self._context = scene, samples, context
        self._words = sorted(scene.words, key=lambda word: (word.start_sample, word.end_sample))
        squares = np.square(samples.astype(np.float64) / 32_768)
        self._energy = np.concatenate(([0.0], np.cumsum(squares)))
        self._ambience = self._quiet_level()

    def measure(self, event: PlacedEvent, order: int) -> tuple[float, ...]:
        values = self._sound(event) | self._talk(event)
        values |= {
            "sounds_in_scene": float(len(self._scene.events)),
            "order": float(order),
            "gap_s": _seconds(event.gap_end - event.gap_start),
            "onset_before_gap_s": _seconds(event.gap_start - event.start_sample),
            "end_after_gap_s": _seconds(event.end_sample - event.gap_end),
        }
        return tuple(values[name] for name in FEATURES)

    def _sound(self, event: PlacedEvent) -> dict[str, float]:
        start, end = event.start_sample, event.end_sample
        level = self._level(start, end)
        over = self._spoken(start, end)
        past = [word.end_sample for word in self._words if _middle(word) < 2 * event.gap_start]
        to_come = [word.start_sample for word in self._words if word.start_sample >= event.gap_start]
        return {
            "heard_gap_s": _seconds(min(to_come) - max(past)) if past and to_come else math.nan,
            "length_s": _seconds(end - start),
            "place": start / self._scene.n_samples,
            "words_over_s": _seconds(over),
            "pause_before_s": _seconds(start - max(past)) if past else math.nan,
            "pause_after_s": _seconds(min(to_come) - end) if to_come else math.nan,
            "level_db": level,
            "crest_db": self._peak(start, end) - level,
            "gap_level_db": self._level(event.gap_start, event.gap_end),
            "gap_floor_db": self._floor(event.gap_start, event.gap_end),
            "ambience_db": self._ambience,
            "margin_db": level - self._ambience,
            "level_before_db": self._level(start - self._context, start),
            "level_after_db": self._level(end, end + self._context),
            "onset_step_db": self._level(start, start + _STEP) - self._level(start - _STEP, start),
            "overlap_step_db": self._level(start, min(end, event.gap_start))
            - self._level(max(start, event.gap_start), min(end, event.gap_end)),
            "end_step_db": self._level(end, end + _STEP) - self._level(end - _STEP, end),
            "log_centroid": self._log_centroid(start, end),
        }

    def _spoken(self, start: int, end: int) -> int:
        """Samples of [start, end) in which anyone speaks: words of two speakers may overlap."""
        total, reached = 0, start
        for word in self._words:
            first, last = max(reached, word.start_sample), min(end, word.end_sample)
            total, reached = total + max(0, last - first), max(reached, last)
        return total

    def _talk(self, event: PlacedEvent) -> dict[str, float]:
        turn = [word for word in self._words if word.turn == event.turn]
        before = [word for word in turn if _middle(word) < 2 * event.gap_start]
        after = [word for word in turn if _middle(word) >= 2 * event.gap_start]
        near = _within(before, event.gap_start - self._context, event.gap_start)
        next_ = _within(after, event.gap_end, event.gap_end + self._context)
        level_near, level_next = self._spoken_level(near), self._spoken_level(next_)
        return {
            "into_turn_s": _seconds(event.gap_start - before[0].start_sample) if before else math.nan,
            "rest_of_turn_s": _seconds(after[-1].end_sample - event.gap_end) if after else math.nan,
            "words_per_s_before": _pace(near),
            "words_per_s_after": _pace(next_),
            "spoken_before": _total(near) / self._context,
            "spoken_after": _total(next_) / self._context,
            "last_word_s": _seconds(_total(before[-1:])) if before else math.nan,
            "next_word_s": _seconds(_total(after[:1])) if after else math.nan,
            "last_word_db": self._spoken_level(before[-1:]) - level_near,
            "next_word_db": self._spoken_level(after[:1]) - level_next,
            "voice_step_db": level_next - level_near,
        }

    def _level(self, start: int, end: int) -> float:
        start, end = max(0, start), min(len(self._energy) - 1, end)
        if end <= start:
            return math.nan
        return _db(float(self._energy[end] - self._energy[start]) / (end - start))

    def _floor(self, start: int, end: int) -> float:
        """Level of the quietest 50 ms."""
        if end - start < _SHORT:
            return math.nan
        part = self._energy[start : end + 1]
        return _db(float((part[_SHORT:] - part[:-_SHORT]).min()) / _SHORT)

    def _peak(self, start: int, end: int) -> float:
        part = self._samples[start:end].astype(np.float64)
        return _db(float(np.square(part).max(initial=0.0)) / 32_768**2)

    def _spoken_level(self, words: Sequence[PlacedWord]) -> float:
        """Level over the words alone, without the pauses between them."""
        total = sum(float(self._energy[word.end_sample] - self._energy[word.start_sample]) for word in words)
        length = _total(words)
        return _db(total / length) if length else math.nan

    def _log_centroid(self, start: int, end: int) -> float:
        """Decadic logarithm of the power spectrum's mean frequency in hertz."""
        part = self._samples[start:end].astype(np.float64)
        size = scipy.fft.next_fast_len(max(2, len(part)), real=True)
        power = np.square(np.abs(scipy.fft.rfft(part, size)))
        total = float(power.sum())
        if total == 0:
            return math.nan
        mean = float((power * np.arange(len(power))).sum()) / total * SAMPLE_RATE / size
        return math.log10(max(1.0, mean))

    def _quiet_level(self) -> float:
        """Level of the quietest twentieth of all 400 ms windows: the ambience where nothing else sounds."""
        energy: NDArray[np.float64] = self._energy
        if len(energy) - 1 <= _WINDOW:
            return self._level(0, len(energy) - 1)
        starts = np.arange(0, len(energy) - 1 - _WINDOW, _WINDOW // 4)
        powers = (energy[starts + _WINDOW] - energy[starts]) / _WINDOW
        return _db(float(np.quantile(powers, 0.05)))


def _within(words: Sequence[PlacedWord], start: int, end: int) -> list[PlacedWord]:
    """The words whose middle lies in [start, end)."""
    return [word for word in words if 2 * start <= _middle(word) < 2 * end]


def _middle(word: PlacedWord) -> int:
    """Twice the word's middle."""
    return word.start_sample + word.end_sample


def _total(words: Sequence[PlacedWord]) -> int:
    return sum(word.end_sample - word.start_sample for word in words)


def _pace(words: Sequence[PlacedWord]) -> float:
    """Words a second while they are spoken."""
    total = _total(words)
    return len(words) * SAMPLE_RATE / total if total else math.nan


def _seconds(samples: int) -> float:
    return samples / SAMPLE_RATE


def _db(power: float) -> float:
    return max(_FLOOR_DB, 10 * math.log10(max(power, 1e-12)))
