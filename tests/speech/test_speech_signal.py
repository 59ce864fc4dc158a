"""Resampling, trimming and cutting of one utterance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.core.pcm import SAMPLE_RATE
from cares.speech.signal import (
    FRAME,
    cut_after,
    frame_levels,
    peak_beyond_scale,
    quietest_point,
    speech_span,
    to_samples,
)


def tone(seconds: float, level: float = 8000.0, frequency: float = 500.0) -> np.ndarray:
    n = np.arange(round(seconds * SAMPLE_RATE))
    return np.rint(level * np.sin(2 * np.pi * frequency / SAMPLE_RATE * n)).astype(np.int16)


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * SAMPLE_RATE), np.int16)


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000, 44_100])
def test_resampling_keeps_length_pitch_and_takes_6_db(rate: int) -> None:
    n = np.arange(rate)
    samples = to_samples((0.5 * np.sin(2 * np.pi * 440 / rate * n)).astype(np.float32), rate)
    assert samples.dtype == np.int16
    assert abs(len(samples) - SAMPLE_RATE) <= 1
    middle = samples[4410:-4410].astype(float)
    assert np.sqrt(np.mean(middle**2)) == pytest.approx(0.25 / np.sqrt(2) * 32768, rel=1e-3)
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    assert np.argmax(spectrum) * SAMPLE_RATE / len(middle) == pytest.approx(440, abs=1.5)


def test_a_peak_that_would_clip_is_seen_before_it_does() -> None:
    assert not peak_beyond_scale(np.array([0.0, -1.7], np.float32))
    assert peak_beyond_scale(np.array([0.0, -1.9], np.float32))


def test_trimming_keeps_the_stated_margins() -> None:
    samples = np.concatenate([silence(0.3), tone(0.5), silence(0.4)])
    start, end = speech_span(samples, 45.0, 20, 40)
    assert start == pytest.approx(0.28 * SAMPLE_RATE, abs=FRAME)
    assert end == pytest.approx(0.84 * SAMPLE_RATE, abs=FRAME)


def test_trimming_never_leaves_the_samples_and_keeps_a_pause_inside() -> None:
    samples = np.concatenate([tone(0.2), silence(0.5), tone(0.2)])
    assert speech_span(samples, 45.0, 500, 500) == (0, len(samples))


def test_silence_has_no_span() -> None:
    assert speech_span(silence(0.5), 45.0, 20, 40) == (0, 0)
    assert speech_span(silence(0.0), 45.0, 20, 40) == (0, 0)


@given(st.integers(0, 3000))
@settings(max_examples=30)
def test_levels_have_the_stated_number_of_frames(length: int) -> None:
    assert len(frame_levels(np.zeros(length, np.int16))) == 1 + max(0, length - 441) // 220


def test_the_quietest_point_is_in_the_middle_of_the_dip() -> None:
    samples = np.concatenate([tone(0.2), silence(0.02), tone(0.2)])
    point = quietest_point(samples, round(0.15 * SAMPLE_RATE), round(0.25 * SAMPLE_RATE))
    assert 0.2 * SAMPLE_RATE <= point <= 0.22 * SAMPLE_RATE
    assert quietest_point(samples, 5, 5) == 5
    assert quietest_point(samples, len(samples) - 3, len(samples) + 999) <= len(samples)


def test_a_cut_ends_between_the_words_and_fades_to_nothing() -> None:
    samples = np.concatenate([tone(0.3), silence(0.03), tone(0.3, frequency=900)])
    early, late = round(0.28 * SAMPLE_RATE), round(0.33 * SAMPLE_RATE)
    heard = cut_after(samples, early, late, 40, 20)
    assert 0.3 * SAMPLE_RATE <= len(heard) <= 0.331 * SAMPLE_RATE
    assert abs(int(heard[-1])) <= 1
    np.testing.assert_array_equal(heard[: len(heard) - 882], samples[: len(heard) - 882])


@given(st.integers(-500, 30_000), st.integers(-500, 30_000), st.integers(0, 200), st.integers(1, 100))
@settings(max_examples=40)
def test_a_cut_is_a_beginning_whatever_the_times(word_end: int, next_start: int, search: int, fade: int) -> None:
    samples = tone(0.5)
    heard = cut_after(samples, word_end, next_start, search, fade)
    kept = max(0, len(heard) - SAMPLE_RATE * fade // 1000)
    assert len(heard) <= len(samples)
    np.testing.assert_array_equal(heard[:kept], samples[:kept])
    assert np.all(np.abs(heard) <= np.abs(samples[: len(heard)]))
