"""What is listened to, as sound and as picture: dry utterances out of a scene's speech file, and stretches of a mix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE, Samples, encode, read_samples
from cares.records.speech import SceneSpeech, Utterance, Word
from cares.records.timeline import Clip, MixedScene
from cares.report.inputs import Inputs
from cares.report.picture import units

WIDTH, HEIGHT = 700, 36
COLUMNS = 175
AROUND = SAMPLE_RATE // 2
LONGEST = 30 * SAMPLE_RATE


class Span(NamedTuple):
    """A stretch to be drawn, in samples from the clip's start."""

    start: int
    end: int
    name: str
    style: str


class Box(NamedTuple):
    """A drawn stretch: left edge and width in picture units, what is written there, a style class, words for people."""

    x: str
    width: str
    name: str
    style: str
    title: str


class Strip(NamedTuple):
    """A waveform (the `d` of an SVG path), the words under it, the sounds behind it, and second marks."""

    wave: str
    words: tuple[Box, ...]
    sounds: tuple[Box, ...]
    seconds: tuple[str, ...]


class Heard(NamedTuple):
    """A clip: its file below the report, its bytes, its length and its picture."""

    file: str
    content: bytes
    n_samples: int
    strip: Strip


def dry_clip(inputs: Inputs, speech: SceneSpeech, utterance: Utterance, words: Sequence[Word], file: str) -> Heard:
    """An utterance as it was spoken, with its words' times.

    Raises:
        InputError: the scene's speech file is missing, damaged or too short.
    """
    samples = read_samples(inputs.root / speech.path, utterance.start_sample, utterance.n_samples)
    spans = [
        Span(
            word.start_sample - utterance.start_sample,
            word.end_sample - utterance.start_sample,
            word.word,
            "unsure" if word.interpolated else "word",
        )
        for word in words
        if word.utterance == utterance.index
    ]
    return Heard(file, encode(samples), len(samples), strip(samples, spans, []))


def mix_clip(
    inputs: Inputs, scene: MixedScene, speech: SceneSpeech, utterances: Sequence[Utterance], file: str
) -> Heard:
    """The same place of the finished mix, half a second longer at both ends, 30 s at most.

    Raises:
        InputError: the timeline does not hold these utterances, or the mix is missing, damaged or too short.
    """
    clips = inputs.voice_clips.get(scene.scene_id, ())
    found = [place for one in utterances for place in _placed(speech, one, clips)]
    if not found:
        expected = f"a clip with utterance {utterances[0].index} of {speech.path}"
        raise InputError("data/timelines.jsonl", scene.scene_id, "none", expected)
    start = max(0, min(at for at, _ in found) - AROUND)
    end = min(scene.n_samples, max(end for _, end in found) + AROUND, start + LONGEST)
    samples = read_samples(inputs.root / scene.path, start, end - start)
    words = [
        Span(word.start_sample - start, word.end_sample - start, word.word, "unsure" if word.interpolated else "word")
        for word in scene.words
        if word.start_sample >= start and word.end_sample <= end
    ]
    sounds = [
        Span(max(event.start_sample, start) - start, min(event.end_sample, end) - start, event.sound, event.reaction)
        for event in scene.events
        if event.start_sample < end and event.end_sample > start
    ]
    return Heard(file, encode(samples), len(samples), strip(samples, words, sounds))


def strip(samples: Samples, words: Sequence[Span], sounds: Sequence[Span]) -> Strip:
    """The picture of a clip [T], T >= 1: in each column the highest of its samples, over the clip's peak."""
    edges = np.arange(COLUMNS) * len(samples) // COLUMNS
    peaks = np.maximum.reduceat(np.abs(samples.astype(np.int64)), edges)
    heights = peaks * (HEIGHT // 2 * 10) // max(1, int(peaks.max()))
    step = WIDTH // COLUMNS
    wave = "".join(
        f"M{column * step + step // 2} {_tenths(HEIGHT * 5 - int(high))}v{_tenths(max(5, 2 * int(high)))}"
        for column, high in enumerate(heights)
    )
    seconds = tuple(_x(at, len(samples)) for at in range(SAMPLE_RATE, len(samples), SAMPLE_RATE))
    return Strip(wave, _boxes(words, len(samples)), _boxes(sounds, len(samples)), seconds)


def _placed(speech: SceneSpeech, utterance: Utterance, clips: Sequence[Clip]) -> list[tuple[int, int]]:
    """Start and end, in the scene, of the pieces of the timeline that lie in an utterance."""
    first, last = utterance.start_sample, utterance.start_sample + utterance.n_samples
    return [
        (clip.at_sample, clip.at_sample + clip.n_samples)
        for clip in clips
        if clip.path == speech.path and clip.source_start < last and clip.source_start + clip.n_samples > first
    ]


def _boxes(spans: Sequence[Span], total: int) -> tuple[Box, ...]:
    return tuple(
        Box(
            _x(span.start, total),
            units(max(0, span.end - span.start) * WIDTH * 100 // total),
            span.name,
            span.style,
            f"{span.name}, {_seconds(span.start)} to {_seconds(span.end)} s",
        )
        for span in spans
    )


def _x(sample: int, total: int) -> str:
    return units(sample * WIDTH * 100 // total)


def _seconds(samples: int) -> str:
    return f"{samples / SAMPLE_RATE:.2f}"


def _tenths(value: int) -> str:
    return f"{value // 10}.{value % 10}"
