"""Quality checks: each kind of unusable take is refused with its own reason."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cares.core.pcm import SAMPLE_RATE
from cares.sounds.decode import decode
from cares.sounds.quality import faults, recording_faults
from cares.sounds.signal import Signal, to_samples
from recordings import wav

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
    "a blow to one side, without offset": (lambda: np.maximum(0.5 - 10 * np.arange(SECOND) / SECOND, 0), []),
    "too short": (lambda: tone(n=SECOND // 4), ["length"]),
    "too long": (lambda: tone(n=3 * SECOND), ["length"]),
    "silence before the sound": (lambda: put(tone(), slice(0, SECOND // 10), 0.0), ["late_onset"]),
    "short and beyond 1.0": (lambda: tone(1.5, SECOND // 4), ["length", "beyond_full_scale"]),
}


def struck(hz: float, peak: float = 1.0, limit: float = 1.0) -> Signal:
    """A dying tone whose largest sample is `peak`, cut off at `limit`."""
    time = np.arange(SECOND) / SAMPLE_RATE
    signal = np.sin(2 * np.pi * hz * time) * np.exp(-3 * time)
    return np.clip(peak * signal / np.abs(signal).max(), -limit, limit)


def in_file(signal: Signal, subtype: str) -> list[str]:
    recording = decode(wav(signal, subtype=subtype))
    return [fault.reason for fault in recording_faults(recording.channels, recording.lossy)]


@pytest.mark.parametrize("hz", [20, 60, 150, 300])
@pytest.mark.parametrize("dbfs", [0, -1, -20, -50])
@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "FLOAT"])
def test_a_round_top_is_not_clipped_at_any_level(hz: float, dbfs: float, subtype: str) -> None:
    signal = struck(hz, 10 ** (dbfs / 20))
    assert reasons(signal) == []
    assert "clipped" not in in_file(signal, subtype)


@pytest.mark.parametrize("hz", [60, 150, 300, 1000])
@pytest.mark.parametrize("dbfs", [0, -1, -20])
@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT"])
def test_a_flat_top_is_clipped_at_any_level(hz: float, dbfs: float, subtype: str) -> None:
    limit = 10 ** (dbfs / 20)
    signal = struck(hz, 1.05 * limit, limit)
    assert reasons(signal) == ["clipped"]
    assert in_file(signal, subtype) == ["clipped"]


@pytest.mark.parametrize("side", [slice(None), slice(None, None, -1)])
def test_one_flat_top_is_enough_also_at_an_end_and_to_one_side(side: slice) -> None:
    time = np.arange(SECOND) / SAMPLE_RATE
    signal = (0.9 * np.cos(2 * np.pi * 300 * time) * np.exp(-200 * time))[side]
    assert in_file(signal, "PCM_16") == []
    assert in_file(np.minimum(signal, 0.6), "PCM_16") == ["clipped"]


def test_after_lossy_coding_only_what_is_beyond_full_scale_counts() -> None:
    flat = np.clip(tone(1.3), -1, 1)[:, None]
    assert recording_faults(flat, lossy=True) == ()
    (fault,) = recording_faults(flat * 1.01, lossy=True)
    assert (fault.reason, "beyond full scale" in fault.measured) == ("clipped", True)
    recording = decode(wav(struck(440, 1.5, 1.0), subtype="VORBIS", container="OGG"))
    assert [fault.reason for fault in recording_faults(recording.channels, recording.lossy)] == ["clipped"]


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
