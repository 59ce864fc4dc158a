"""Quality checks: each kind of unusable take is refused with its own reason."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cares.core.pcm import SAMPLE_RATE
from cares.sounds.quality import faults
from cares.sounds.signal import Signal, to_samples

SECOND = SAMPLE_RATE


def tone(peak: float = 0.5, n: int = SECOND) -> Signal:
    return np.asarray(peak * np.sin(2 * np.pi * 440 / SAMPLE_RATE * np.arange(n)))


def reasons(signal: Signal, shortest: int = SECOND // 2, longest: int = 2 * SECOND) -> list[str]:
    return [fault.reason for fault in faults(signal, shortest, longest)]


def put(signal: Signal, place: slice | int, value: float) -> Signal:
    signal[place] = value
    return signal


CASES: dict[str, tuple[Callable[[], Signal], list[str]]] = {
    "good": (tone, []),
    "no sample": (lambda: np.zeros(0), ["empty"]),
    "digital silence": (lambda: np.zeros(SECOND), ["silent"]),
    "-90 dBFS": (lambda: tone(10 ** (-90 / 20)), ["silent"]),
    "one NaN": (lambda: put(tone(), 100, np.nan), ["not_finite"]),
    "infinity": (lambda: put(tone(), 100, -np.inf), ["not_finite"]),
    "float beyond 1.0": (lambda: tone(1.5), ["beyond_full_scale"]),
    "clipped": (lambda: np.clip(tone(1.5), -1, 1), ["clipped"]),
    "one sample at full scale": (lambda: put(tone(), 100, 1.0), []),
    "DC offset": (lambda: tone() + 0.02, ["dc_offset"]),
    "a blow to one side, without offset": (lambda: put(np.zeros(SECOND), slice(0, SECOND // 10), 0.5), []),
    "too short": (lambda: tone(n=SECOND // 4), ["length"]),
    "too long": (lambda: tone(n=3 * SECOND), ["length"]),
    "silence before the sound": (lambda: put(tone(), slice(0, SECOND // 10), 0.0), ["late_onset"]),
    "short and beyond 1.0": (lambda: tone(1.5, SECOND // 4), ["length", "beyond_full_scale"]),
}


@pytest.mark.parametrize("name", CASES)
def test_each_fault_has_its_reason(name: str) -> None:
    make, expected = CASES[name]
    assert reasons(make()) == expected


def test_the_lengths_allowed_include_their_ends() -> None:
    assert reasons(tone(), SECOND, 2 * SECOND) == []
    assert reasons(tone(), SECOND // 2, SECOND) == []
    assert reasons(tone(), SECOND + 1, 2 * SECOND) == ["length"]


def test_a_fault_says_what_was_measured() -> None:
    (fault,) = faults(tone(n=SECOND // 4), SECOND // 2, SECOND)
    assert str(fault) == "length (0.250 s, expected 0.500 to 1.000 s)"


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=50).filter(lambda values: max(map(abs, values)) > 1e-6))
def test_levels_are_set_to_minus_3_dbfs(values: list[float]) -> None:
    samples = to_samples(np.array(values))
    assert samples.dtype == np.int16
    assert int(np.abs(samples.astype(np.int64)).max()) == round(32767 * 10 ** (-3 / 20))


@pytest.mark.parametrize("signal", [np.zeros(5), np.array([np.nan]), np.zeros(0)])
def test_what_has_no_level_is_an_error(signal: Signal) -> None:
    with pytest.raises(ValueError, match="no level"):
        to_samples(signal)
