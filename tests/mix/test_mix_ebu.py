"""The meter on the test signals of EBU Tech 3341 and 3342 and ITU-R BS.2217, made from their descriptions.

Rates: 48 kHz, at which they are published, and the project's 44.1 kHz. Tolerances are the documents': +-0.1 LU, true
peak +0.2 and -0.4 dB, loudness range +-1 LU.
"""

from __future__ import annotations

import numpy as np
import pytest
from ebu_signals import (
    INTEGRATED,
    RANGE,
    SURROUND_LEVELS,
    SURROUND_WEIGHTS,
    TRUE_PEAK,
    burst_between_samples,
    faded_tone,
    k_gain_db,
    tones,
)

from cares.mix.loudness import (
    SilentError,
    integrated_lufs,
    loudness_range,
    momentary_lufs,
    short_term_lufs,
)
from cares.mix.true_peak import true_peak_dbtp

RATES = pytest.mark.parametrize("rate", [44_100, 48_000])
SILENCE = -np.inf


@RATES
@pytest.mark.parametrize("case", INTEGRATED)
def test_tech_3341_cases_1_to_5(case: int, rate: int) -> None:
    segments, expected = INTEGRATED[case]
    signal = tones(segments, rate)
    assert integrated_lufs(signal, rate) == pytest.approx(expected, abs=0.1)
    if len(segments) == 1:
        # from the end of the first window on, for the onset of a sine is not a sine
        assert np.allclose(momentary_lufs(signal, rate)[1:], expected, atol=0.1)
        assert np.allclose(short_term_lufs(signal, rate)[1:], expected, atol=0.1)


@RATES
def test_tech_3341_case_6_surround(rate: int) -> None:
    signal = np.concatenate([tones(((level, 20),), rate, channels=1) for level in SURROUND_LEVELS])
    assert integrated_lufs(signal, rate, SURROUND_WEIGHTS) == pytest.approx(-23.0, abs=0.1)


@RATES
def test_tech_3341_case_9_short_term_is_constant(rate: int) -> None:
    levels = short_term_lufs(tones(((-20, 1.34), (-30, 1.66)) * 5, rate), rate)
    assert np.allclose(levels, -23.0, atol=0.1)


@RATES
@pytest.mark.parametrize("i", range(20))
def test_tech_3341_case_10_short_term_of_files(i: int, rate: int) -> None:
    segments = ((SILENCE, i * 0.15), (-23, 3), (SILENCE, 1))
    assert short_term_lufs(tones(segments, rate), rate).max() == pytest.approx(-23.0, abs=0.1)


@RATES
def test_tech_3341_case_11_short_term_as_it_rises(rate: int) -> None:
    parts = [((SILENCE, i * 0.15), (-38 + i, 3), (SILENCE, 3 - i * 0.15)) for i in range(20)]
    levels = short_term_lufs(tones(tuple(segment for part in parts for segment in part), rate), rate)
    for i in range(20):
        assert levels[i * 600 : i * 600 + 301 + i * 15].max() == pytest.approx(-38 + i, abs=0.1)


@RATES
def test_tech_3341_case_12_momentary_is_constant(rate: int) -> None:
    levels = momentary_lufs(tones(((-20, 0.18), (-30, 0.22)) * 25, rate), rate)
    assert np.allclose(levels, -23.0, atol=0.1)


@RATES
@pytest.mark.parametrize("i", range(20))
def test_tech_3341_case_13_momentary_of_files(i: int, rate: int) -> None:
    segments = ((SILENCE, i * 0.02), (-23, 0.4), (SILENCE, 1))
    assert momentary_lufs(tones(segments, rate), rate).max() == pytest.approx(-23.0, abs=0.1)


@RATES
def test_tech_3341_case_14_momentary_as_it_rises(rate: int) -> None:
    parts = [((SILENCE, i * 0.02), (-38 + i, 0.4), (SILENCE, 0.4 - i * 0.02)) for i in range(20)]
    levels = momentary_lufs(tones(tuple(segment for part in parts for segment in part), rate), rate)
    for i in range(20):
        assert levels[i * 80 : i * 80 + 41 + i * 2].max() == pytest.approx(-38 + i, abs=0.1)


@RATES
@pytest.mark.parametrize("case", TRUE_PEAK)
def test_tech_3341_cases_15_to_19_true_peak(case: int, rate: int) -> None:
    divisor, amplitude, phase, expected = TRUE_PEAK[case]
    peak = true_peak_dbtp(faded_tone(divisor, amplitude, phase, rate))
    assert expected - 0.4 <= peak <= expected + 0.2


@RATES
@pytest.mark.parametrize("offset", range(4))
def test_tech_3341_cases_20_to_23_true_peak_between_samples(offset: int, rate: int) -> None:
    signal = burst_between_samples(offset, rate)
    assert -0.4 <= true_peak_dbtp(signal) <= 0.2


@RATES
@pytest.mark.parametrize("case", RANGE)
def test_tech_3342_cases_1_to_4(case: int, rate: int) -> None:
    segments, expected = RANGE[case]
    assert loudness_range(tones(segments, rate), rate) == pytest.approx(expected, abs=1.0)


@RATES
def test_tech_3342_half_a_rank_goes_up(rate: int) -> None:
    """Clause 2.2's example: round((n - 1) * share + 1) counted from 1; of six windows the second and the sixth."""
    rising = np.concatenate([tones(((-30 + step, 0.5),), rate) for step in range(7)], axis=-1)
    levels = np.sort(short_term_lufs(rising, rate)[::10])
    assert len(levels) == 6
    assert loudness_range(rising, rate) == pytest.approx(levels[5] - levels[1], abs=1e-9)
    assert levels[1] - levels[0] > 0.1


@RATES
@pytest.mark.parametrize("frequency", [25, 100, 500, 1000, 2000, 10_000])
@pytest.mark.parametrize("level", [-23.0, -24.0])
def test_bs_2217_levels_by_frequency(frequency: float, level: float, rate: int) -> None:
    """Stereo sines whose level makes them read -23 or -24 LKFS by the standard's own filter tables."""
    peak = level + 0.691 - k_gain_db(frequency)
    signal = tones(((peak, 20),), rate, frequency=frequency)
    assert integrated_lufs(signal, rate) == pytest.approx(level, abs=0.1)


@RATES
@pytest.mark.parametrize("channel", range(5))
def test_bs_2217_channel_check(channel: int, rate: int) -> None:
    weight = SURROUND_WEIGHTS[channel]
    signal = np.zeros((5, 10 * rate))
    level = -24.0 + 0.691 + 10 * np.log10(2 / weight) - k_gain_db(1000)
    signal[channel] = tones(((level, 10),), rate, channels=1)[0]
    assert integrated_lufs(signal, rate, SURROUND_WEIGHTS) == pytest.approx(-24.0, abs=0.1)


@RATES
def test_bs_2217_gates(rate: int) -> None:
    """Relative gate: 10 LU below the mean is not counted, 5 LU is; absolute gate: -70.5 is silence, -69.5 is not."""
    loud = tones(((-10, 10), (-24, 10)), rate)
    assert integrated_lufs(loud, rate) == pytest.approx(-10.0, abs=0.1)
    both = tones(((-10, 10), (-17, 10)), rate)
    assert integrated_lufs(both, rate) == pytest.approx(10 * np.log10((10**-1 + 10**-1.7) / 2), abs=0.1)
    audible = tones(((-75, 2), (-69.5, 10), (-75, 2)), rate)
    assert integrated_lufs(audible, rate) == pytest.approx(-69.5, abs=0.1)
    with pytest.raises(SilentError):
        integrated_lufs(tones(((-70.5, 10),), rate), rate)


def test_windows_of_short_and_bad_signals() -> None:
    short = tones(((-20, 0.399),), 44_100)
    assert len(momentary_lufs(short)) == len(short_term_lufs(short)) == 0
    assert len(momentary_lufs(tones(((-20, 0.4),), 44_100))) == 1
    with pytest.raises(ValueError, match="less than one window"):
        loudness_range(short)
    with pytest.raises(SilentError):
        loudness_range(np.zeros(44_100 * 4))
    with pytest.raises(ValueError, match="not finite"):
        momentary_lufs(np.full(44_100, np.nan))
    with pytest.raises(ValueError, match="weights"):
        integrated_lufs(short, 44_100, (1.0,))
    assert np.isneginf(momentary_lufs(np.zeros(44_100))).all()
