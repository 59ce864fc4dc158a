"""What can be measured around an event in a finished file, without any meaning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE, read_samples
from cares.records.scene import Reaction
from cares.records.timeline import MixedScene, PlacedEvent

FEATURES = (
    "gap_s",
    "onset_before_gap_s",
    "end_after_gap_s",
    "length_s",
    "place",
    "words_over_s",
    "level_db",
    "gap_level_db",
    "margin_db",
    "level_before_db",
    "level_after_db",
)
_WINDOW = SAMPLE_RATE * 2 // 5
_FLOOR_DB = -100.0


@dataclass(frozen=True)
class Example:
    """One event: its label, what was measured, its sound, and the words of its turn and the next."""

    template_id: str
    reaction: Reaction
    measured: tuple[float, ...]
    sound: str
    text: str


def scene_examples(scene: MixedScene, root: Path, context_ms: int) -> list[Example]:
    """The examples of one scene, read from its file; levels are RMS in dB below full scale."""
    if not scene.events:
        return []
    signal = read_samples(root / scene.path).astype(np.float64) / 32_768
    energy = np.concatenate(([0.0], np.cumsum(np.square(signal))))
    quiet = _quiet_level(energy)
    context = context_ms * SAMPLE_RATE // 1000
    return [
        Example(
            template_id=scene.template_id,
            reaction=event.reaction,
            measured=_measure(scene, event, energy, quiet, context),
            sound=event.sound,
            text=" ".join(word.word for word in scene.words if event.turn <= word.turn <= event.turn + 1),
        )
        for event in scene.events
    ]


def _measure(
    scene: MixedScene, event: PlacedEvent, energy: NDArray[np.float64], quiet: float, context: int
) -> tuple[float, ...]:
    start, end = event.start_sample, event.end_sample
    level = _level(energy, start, end)
    over = sum(max(0, min(end, word.end_sample) - max(start, word.start_sample)) for word in scene.words)
    values = {
        "gap_s": (event.gap_end - event.gap_start) / SAMPLE_RATE,
        "onset_before_gap_s": (event.gap_start - start) / SAMPLE_RATE,
        "end_after_gap_s": (end - event.gap_end) / SAMPLE_RATE,
        "length_s": (end - start) / SAMPLE_RATE,
        "place": start / scene.n_samples,
        "words_over_s": over / SAMPLE_RATE,
        "level_db": level,
        "gap_level_db": _level(energy, event.gap_start, event.gap_end),
        "margin_db": level - quiet,
        "level_before_db": _level(energy, start - context, start),
        "level_after_db": _level(energy, end, end + context),
    }
    return tuple(values[name] for name in FEATURES)


def _level(energy: NDArray[np.float64], start: int, end: int) -> float:
    start, end = max(0, start), min(len(energy) - 1, end)
    if end <= start:
        return _FLOOR_DB
    power = float(energy[end] - energy[start]) / (end - start)
    return max(_FLOOR_DB, 10 * math.log10(max(power, 1e-12)))


def _quiet_level(energy: NDArray[np.float64]) -> float:
    """Level of the quietest twentieth of all 400 ms windows: the ambience where nothing else sounds."""
    starts: Sequence[int] = range(0, max(1, len(energy) - 1 - _WINDOW), _WINDOW // 4)
    return float(np.quantile([_level(energy, start, start + _WINDOW) for start in starts], 0.05))
