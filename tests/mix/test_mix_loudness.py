"""The meter against the standard's figures, a reference meter, and sounds that others' meters failed on."""

from __future__ import annotations

import numpy as np
import pyloudnorm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.mix.loudness import (
    BLOCK,
    SilentError,
    integrated_lufs,
    k_weighting,
    level_lufs,
)
from cares.mix.true_peak import PEAK_BLOCK, block_peaks, true_peak_dbtp

RATE = 44_100


def tone(seconds: float, level_db: float, frequency: float = 997.0, phase: float = 0.0) -> np.ndarray:
    time = np.arange(round(seconds * RATE)) / RATE
    return 10 ** (level_db / 20) * np.sin(2 * np.pi * frequency * time + phase)


def test_filters_at_48_khz_are_the_standard_tables() -> None:
    shelf = [1.53512485958697, -2.69169618940638, 1.19839281085285, 1.0, -1.69065929318241, 0.73248077421585]
    high_pass = [1.0, -2.0, 1.0, 1.0, -1.99004745483398, 0.99007225036621]
    assert np.allclose(k_weighting(48_000), [shelf, high_pass], atol=1e-10)


def test_full_scale_tone_reads_minus_3_01() -> None:
    # BS.1770-4, annex 1: a 0 dB FS, 1 kHz (997 Hz) sine in one channel reads -3.01 LKFS
    assert integrated_lufs(tone(20, 0)) == pytest.approx(-3.01, abs=0.01)


def test_relative_gate_drops_the_soft_parts() -> None:
    # after EBU Tech 3341, minimum requirements test signal 3, for one channel
    signal = np.concatenate([tone(10, -36), tone(60, -20), tone(10, -36)])
    assert integrated_lufs(signal) == pytest.approx(-23.01, abs=0.1)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 40))
def test_agrees_with_the_reference_meter(seed: int, hops: int) -> None:
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=hops * BLOCK // 4) * np.repeat(rng.random(hops), BLOCK // 4) * 0.2
    expected = pyloudnorm.Meter(RATE, filter_class="DeMan").integrated_loudness(signal)
    assert integrated_lufs(signal) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("milliseconds", [5, 50, 200, 399, 400, 1000])
@pytest.mark.parametrize("target", [-20.0, -23.0])
def test_short_sounds_reach_their_level(milliseconds: int, target: float) -> None:
    signal = np.random.default_rng(milliseconds).normal(size=milliseconds * RATE // 1000) * 0.01
    gained = signal * 10 ** ((target - level_lufs(signal)) / 20)
    assert level_lufs(gained) == pytest.approx(target, abs=1e-6)


def test_level_of_a_short_sound_ignores_silence_around_it() -> None:
    burst = np.random.default_rng(0).normal(size=RATE // 10) * 0.1
    padded = np.concatenate([np.zeros(RATE), burst, np.zeros(2 * RATE)])
    assert level_lufs(padded) == pytest.approx(level_lufs(burst), abs=0.01)


def test_steady_sound_has_one_level_across_the_400_ms_rule() -> None:
    below, above = tone(0.399, -20), tone(0.401, -20)
    assert level_lufs(below) == pytest.approx(level_lufs(above), abs=0.1)


@pytest.mark.parametrize("length", [0, 100, RATE])
def test_silence_is_an_error(length: int) -> None:
    with pytest.raises(SilentError):
        level_lufs(np.zeros(length))


@pytest.mark.parametrize("length", [RATE // 10, RATE])
def test_very_soft_is_an_error(length: int) -> None:
    with pytest.raises(SilentError):
        level_lufs(np.random.default_rng(0).normal(size=length) * 10 ** (-90 / 20))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_not_finite_is_an_error(bad: float) -> None:
    signal = tone(1, -20)
    signal[5000] = bad
    for meter in (level_lufs, integrated_lufs, true_peak_dbtp):
        with pytest.raises(ValueError, match="5000"):
            meter(signal)


def test_true_peak_lies_between_samples() -> None:
    # EBU Tech 3341, test signal 15: fs/4 at 45 degrees peaks 3 dB above its samples
    signal = (
        tone(1, -6, RATE / 4, np.pi / 4) * np.minimum(1, np.linspace(0, 20, RATE)) * np.linspace(20, 0, RATE).clip(0, 1)
    )
    assert 20 * np.log10(np.abs(signal).max()) == pytest.approx(-9.01, abs=0.05)
    assert true_peak_dbtp(signal) == pytest.approx(-6.0, abs=0.1)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 6000), st.integers(0, 10**6), st.floats(0, 3))
def test_skipping_quiet_blocks_changes_no_peak_above_the_floor(length: int, seed: int, floor: float) -> None:
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=length) * np.repeat(rng.random(length // 500 + 1), 500)[:length]
    every, some = block_peaks(signal, 0.0), block_peaks(signal, floor)
    assert len(every) == -(-length // PEAK_BLOCK)
    assert np.array_equal(every[every >= floor], some[every >= floor])
    assert (some[every < floor] < floor).all()
    assert true_peak_dbtp(signal) == pytest.approx(20 * np.log10(every.max()))
