"""What is heard where a sound falls inside a turn: the cut, the pauses, the pitch, the words said again.

Places come from the annotation (gap of the sound, words), values from the signal, so the same measures can be taken of
the dry voices and of the finished mix. Times are seconds, levels dB, pitch semitones; what cannot be measured is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cares.core.pcm import SAMPLE_RATE, Samples
from cares.records.timeline import MixedScene, PlacedEvent, PlacedWord
from cares.speech.break_signal import Float, cepstra, levels, pauses, said_again, speech_threshold
from cares.speech.pitch import pitch, semitones

PAUSES = ("pauses", "longest_pause_s", "pause_at_turn_end_s")
PITCH = ("fall_before_st", "fall_rate_st_per_s", "reset_st", "begins_like_turn_st")
CUT = ("last_word_stretch", "energy_slope_db_per_s", "level_step_db")
REPETITION = ("said_again",)
MEASURES = (*PAUSES, *PITCH, *CUT, *REPETITION)
GROUPS = {
    "pauses_and_pitch": (*PAUSES, *PITCH),
    "pauses": PAUSES,
    "pitch": PITCH,
    "cut": CUT,
    "repetition": REPETITION,
    "all": MEASURES,
}
NEAR = SAMPLE_RATE * 2 // 5
FALL = SAMPLE_RATE * 3 // 10
QUERY = SAMPLE_RATE * 3 // 5
AFTER = SAMPLE_RATE * 5
TURN_END = SAMPLE_RATE // 2


@dataclass(frozen=True)
class Measured:
    """One sound inside a turn: who speaks, how the speaker reacts, and `values` by `MEASURES`."""

    template_id: str
    scene_id: str
    voice: str
    reaction: str
    register_id: str
    values: tuple[float, ...]


def measure_scene(scene: MixedScene, samples: Samples) -> list[Measured]:
    """The behavioral and ambient sounds of a scene that fall inside a turn, in order.

    Args:
        scene: the annotation.
        samples: the finished mix, or the dry voices at the same places [T].
    """
    signal = samples.astype(np.float64)
    heard = levels(signal)
    floor = float(np.quantile(heard, 0.05)) if len(heard) else 0.0
    found = []
    for event in scene.events:
        turn = [word for word in scene.words if word.turn == event.turn]
        before = [word for word in turn if word.start_sample + word.end_sample < 2 * event.gap_start]
        after = [word for word in turn if word.start_sample + word.end_sample >= 2 * event.gap_start]
        if event.reaction not in ("behavioral", "ambient") or not before or not after:
            continue
        values = _pauses(signal, event, after, floor) | _voice(signal, event, before, after)
        found.append(
            Measured(
                template_id=scene.template_id,
                scene_id=scene.scene_id,
                voice=scene.voices["AB".index(before[0].speaker)],
                reaction=event.reaction,
                register_id=event.register_id,
                values=tuple(round(values[name], 5) for name in MEASURES),
            )
        )
    return found


def _pauses(signal: Float, event: PlacedEvent, after: Sequence[PlacedWord], floor: float) -> dict[str, float]:
    """Pauses after the gap of the sound up to the last word of the turn, and the pause at its end."""
    end = max(word.end_sample for word in after)
    spoken = signal[event.gap_end : end]
    threshold = speech_threshold(spoken, floor)
    inside = pauses(spoken, threshold)
    at_end = pauses(signal[max(event.gap_end, end - TURN_END) : end + 2 * TURN_END], threshold)
    return {
        "pauses": float(len(inside)),
        "longest_pause_s": max(inside, default=0.0),
        "pause_at_turn_end_s": max(at_end, default=0.0),
    }


def _voice(
    signal: Float, event: PlacedEvent, before: Sequence[PlacedWord], after: Sequence[PlacedWord]
) -> dict[str, float]:
    start, cut, resumed = before[0].start_sample, event.gap_start, event.gap_end
    last = signal[max(start, cut - NEAR) : cut]
    first = signal[resumed : resumed + NEAR]
    begun = _median_pitch(signal[start : min(start + NEAR, cut)])
    end, again = _median_pitch(last), _median_pitch(first)
    whole = _median_pitch(signal[start:cut])
    query = cepstra(signal[max(start, cut - QUERY) : cut])
    return {
        "fall_before_st": _median_pitch(signal[max(start, cut - FALL) : cut]) - whole,
        "fall_rate_st_per_s": _pitch_slope(signal[max(start, cut - FALL) : cut]),
        "reset_st": again - end,
        "begins_like_turn_st": abs(again - begun),
        "last_word_stretch": _stretch(before, after),
        "energy_slope_db_per_s": _slope(levels(signal[max(start, cut - FALL // 2) : cut])),
        "level_step_db": _level(first) - _level(last),
        "said_again": _nearness(said_again(query, cepstra(signal[resumed : resumed + AFTER]))),
    }


def _median_pitch(signal: Float) -> float:
    _, found = pitch(signal)
    voiced = found[np.isfinite(found)]
    return float(np.median(semitones(voiced))) if len(voiced) else math.nan


def _pitch_slope(signal: Float) -> float:
    """Slope of the pitch over the voiced frames, by least squares."""
    times, found = pitch(signal)
    voiced = np.isfinite(found)
    if voiced.sum() < 5:
        return math.nan
    return float(np.polyfit(times[voiced], semitones(found[voiced]), 1)[0])


def _slope(found: Float) -> float:
    return float(np.polyfit(np.arange(len(found)) / 100, found, 1)[0]) if len(found) > 2 else math.nan


def _level(signal: Float) -> float:
    return float(10 * np.log10(np.mean(np.square(signal)) + 1e-12)) if len(signal) else math.nan


def _stretch(before: Sequence[PlacedWord], after: Sequence[PlacedWord]) -> float:
    """Length of the last word before the sound over what its letters take at the pace of the turn (logarithm)."""
    others = [word for word in (*before[:-1], *after) if word.end_sample > word.start_sample]
    pace = sum(word.end_sample - word.start_sample for word in others) / max(1, sum(map(_letters, others)))
    length = (before[-1].end_sample - before[-1].start_sample) / _letters(before[-1])
    return math.log(length / pace) if length > 0 and pace > 0 else math.nan


def _letters(word: PlacedWord) -> int:
    return max(1, sum(character.isalnum() for character in word.word))


def _nearness(distance: float) -> float:
    return -distance if math.isfinite(distance) else math.nan
