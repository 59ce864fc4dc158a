"""Clips with known word times, and errors against them."""

from __future__ import annotations

import numpy as np
import pytest

from cares.asr.truth import NO_TIMING_ERRORS, KnownPart, joined, spread, timing_errors, without_silence
from cares.asr.types import AlignedWord
from cares.core.pcm import SAMPLE_RATE


def part(words: str, n_samples: int) -> KnownPart:
    return KnownPart(np.full(n_samples, 1000, np.int16), tuple(words.split()))


def found(*places: tuple[int, int], timed: bool = True) -> list[AlignedWord]:
    return [AlignedWord(text="x", start_sample=a, end_sample=b, probability=1.0, timed=timed) for a, b in places]


def test_parts_lie_where_their_gaps_say() -> None:
    clip = joined([part("one two", 500), part("three", 300), part("four", 200)], [100, 0], around=50)
    assert clip.words == ("one", "two", "three", "four")
    assert clip.starts == (50, None, 650, 950)
    assert clip.ends == (None, 550, 950, 1150)
    assert clip.joints == ((2, 100), (3, 0))
    assert len(clip.samples) == 1200
    heard = np.flatnonzero(clip.samples)
    assert heard[0] == 50 and heard[-1] == 1149 and not clip.samples[550:650].any()


def test_one_gap_for_each_joint() -> None:
    with pytest.raises(ValueError, match="2 gaps"):
        joined([part("one", 9), part("two", 9)], [1, 2])


def test_errors_are_found_minus_known_and_words_without_a_time_are_counted_apart() -> None:
    clip = joined([part("one two", 500), part("three", 300)], [100])
    errors = timing_errors(clip, found((10, 240), (240, 480), (620, 900)))
    assert errors.starts == (10, 20) and errors.ends == (-20, 0)
    assert errors.before == ((100, -20),) and errors.after == ((100, 20),)
    assert errors.at_breaks == (-20, 20)
    missed = timing_errors(clip, found((0, 0), (0, 0), (0, 0), timed=False))
    assert missed == NO_TIMING_ERRORS._replace(missed=3)
    assert errors + missed == errors._replace(missed=3)
    with pytest.raises(ValueError, match="2 words found of 3"):
        timing_errors(clip, found((0, 1), (1, 2)))


def test_the_spread_is_in_milliseconds() -> None:
    ms = SAMPLE_RATE // 1000
    figures = spread([-10 * ms, 20 * ms, 30 * ms])
    assert figures["n"] == 3
    assert figures["median_ms"] == pytest.approx(20, abs=0.1) and figures["bias_ms"] == pytest.approx(20, abs=0.1)
    assert spread([])["median_ms"] is None


def test_silence_around_is_cut_off_and_silence_alone_leaves_nothing() -> None:
    sound = np.concatenate([np.zeros(4410), np.full(8820, 5000), np.zeros(2205)]).astype(np.int16)
    assert abs(len(without_silence(sound)) - 8820) <= 220
    assert len(without_silence(np.zeros(1000, np.int16))) == 0
    assert len(without_silence(np.zeros(0, np.int16))) == 0
