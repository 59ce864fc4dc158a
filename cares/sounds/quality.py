"""What makes a take unusable, each with a named reason, and the figures of the quality report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE
from cares.sounds.signal import Signal, decibels

Reason = Literal[
    "unreadable", "empty", "not_finite", "beyond_full_scale", "silent", "clipped", "dc_offset", "length", "late_onset",
    "out_of_phase",
]  # fmt: skip

QUIETEST_DBFS = -60.0
ONSET_S = 0.050
ONSET_DB = -40.0
LOSSY_PEAK = 1.25
_CLIP_RUN = 4
# a flat top keeps within so many coding steps and falls away by so many within half its length; a round top does not
_TOP_STEPS, _EDGE_STEPS = 2, 64
_FINEST_STEP = 2.0**-15
_DC_LIMIT = 0.005
_CANCELLED_DB = -15.0


class Fault(NamedTuple):
    """Why a take is refused: the named reason, and what was measured against what was expected."""

    reason: Reason
    measured: str
    expected: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.measured}, expected {self.expected})"


class UnusableError(Exception):
    """A recording that cannot become a take, with all faults that were found."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__(*faults)
        self.faults = faults


class Figures(NamedTuple):
    """A usable take as it came from its source: levels in dBFS, mean of the samples, time to the onset, length."""

    peak_dbfs: float
    rms_dbfs: float
    dc_offset: float
    onset_ms: float
    seconds: float


def faults(signal: Signal, shortest: int, longest: int) -> tuple[Fault, ...]:
    """All faults of a take as it came from its source, before its level is set; none when it is usable.

    Args:
        signal: float64 [T] at 44.1 kHz, full scale 1.0.
        shortest, longest: the lengths allowed, in samples.
    """
    return _impossible(signal) or tuple(_faults(signal, shortest, longest))


def recording_faults(channels: NDArray[np.float64], lossy: bool) -> tuple[Fault, ...]:
    """Faults that only the file as it was shows, before resampling smooths them: float64 [T, C], full scale 1.0.

    A `lossy` decoder passes full scale where the original came near it; that is a fault only beyond 2 dB, and what the
    original was clipped at is no longer flat: it is found by samples in a row beyond full scale.
    """
    if found := _impossible(channels):
        return found
    return tuple(_recording_faults(channels, lossy))


def measure(signal: Signal) -> Figures:
    """Figures of float64 [T] at 44.1 kHz, rounded so that they are the same on every machine."""
    peak = float(np.abs(signal).max())
    return Figures(
        peak_dbfs=round(decibels(peak), 2),
        rms_dbfs=round(decibels(float(np.sqrt(np.square(signal).mean()))), 2),
        dc_offset=round(float(signal.mean()), 5),
        onset_ms=round(onset(signal) * 1000 / SAMPLE_RATE, 1),
        seconds=round(len(signal) / SAMPLE_RATE, 4),
    )


def onset(signal: Signal) -> int:
    """The first sample within 40 dB of the peak of float64 [T]."""
    size = np.abs(signal)
    return int(np.argmax(size >= float(size.max()) * 10 ** (ONSET_DB / 20)))


def reasons(found: Sequence[Fault]) -> tuple[str, ...]:
    """The named reasons, each once, in order."""
    return tuple(dict.fromkeys(fault.reason for fault in found))


def _impossible(signal: NDArray[np.float64]) -> tuple[Fault, ...]:
    if len(signal) == 0:
        return (Fault("empty", "no sample", "a sound"),)
    if not np.isfinite(signal).all():
        count = int((~np.isfinite(signal)).sum())
        return (Fault("not_finite", f"{count} samples are NaN or infinite", "finite numbers"),)
    return ()


def _faults(signal: Signal, shortest: int, longest: int) -> Iterator[Fault]:
    peak = float(np.abs(signal).max())
    if not shortest <= len(signal) <= longest:
        yield Fault(
            "length",
            f"{len(signal) / SAMPLE_RATE:.3f} s",
            f"{shortest / SAMPLE_RATE:.3f} to {longest / SAMPLE_RATE:.3f} s",
        )
    if decibels(peak) < QUIETEST_DBFS:
        yield _silent(peak)
        return
    yield from _beyond_or_clipped(signal, lossy=False)
    yield from _offset(signal)
    first = onset(signal)
    if first > ONSET_S * SAMPLE_RATE:
        yield Fault("late_onset", f"{first / SAMPLE_RATE:.3f} s", f"within {ONSET_S:g} s")


def _recording_faults(channels: NDArray[np.float64], lossy: bool) -> Iterator[Fault]:
    peak = float(np.abs(channels).max())
    if decibels(peak) < QUIETEST_DBFS:
        yield _silent(peak)
        return
    found: dict[Reason, Fault] = {}
    for channel in channels.T:
        for fault in (*_beyond_or_clipped(channel, lossy), *_offset(channel)):
            found.setdefault(fault.reason, fault)
    yield from found.values()
    energies = np.square(channels).mean()
    mixed = np.square(channels.mean(1)).mean()
    if mixed < energies * 10 ** (_CANCELLED_DB / 10):
        yield Fault("out_of_phase", "the channels cancel each other", "channels that add up")


def _silent(peak: float) -> Fault:
    return Fault("silent", f"peak {decibels(peak):.1f} dBFS", f"at least {QUIETEST_DBFS:g} dBFS")


def _beyond_or_clipped(signal: NDArray[np.float64], lossy: bool) -> Iterator[Fault]:
    peak, limit = float(np.abs(signal).max()), LOSSY_PEAK if lossy else 1.0
    if peak > limit:
        yield Fault("beyond_full_scale", f"peak {peak:.3f}", f"at most {limit}")
        return
    run = max(_runs(np.abs(signal) > 1.0)[1], default=0) if lossy else _flat_top(signal, peak)
    if run >= _CLIP_RUN:
        where = "beyond full scale" if lossy else f"at {decibels(peak):.1f} dBFS"
        yield Fault("clipped", f"{run} samples in a row {where}", f"fewer than {_CLIP_RUN}")


def _flat_top(signal: NDArray[np.float64], peak: float) -> int:
    """The most samples in a row at the greatest or least value, where the signal falls away from them as from an edge.

    Near its top a sound is a parabola: half a run's length beyond either end of a run within `_TOP_STEPS` it lies some
    20 steps lower at most, while what was cut off at a level goes on as steeply as it came.
    """
    step, longest = _coding_step(np.abs(signal), peak), 0
    for side in (signal, -signal):
        top = float(side.max())
        if top < peak / 2:
            continue
        starts, lengths = _runs(side >= top - _TOP_STEPS * step)
        before, after = starts - lengths // 2, starts + lengths - 1 + lengths // 2
        last = len(side) - 1
        # a recording that begins or ends within a run has one edge only
        left = np.where(starts > 0, side[np.maximum(before, 0)], -np.inf)
        right = np.where(starts + lengths <= last, side[np.minimum(after, last)], -np.inf)
        edged = (top - np.maximum(left, right) >= _EDGE_STEPS * step) & (lengths <= last)
        longest = max(longest, int(lengths[edged].max(initial=0)))
    return longest


def _coding_step(size: NDArray[np.float64], peak: float) -> float:
    """The least distance of two magnitudes in the upper half, as 8-bit and companded files have it large."""
    gaps = np.diff(np.unique(size[size >= peak / 2]), prepend=0.0)
    return max(_FINEST_STEP, float(gaps.min()))


def _offset(signal: NDArray[np.float64]) -> Iterator[Fault]:
    # a short blow may have a mean of its own, but its tail has none
    offset = float(min(signal.mean(), np.median(signal), key=abs))
    if abs(offset) > _DC_LIMIT:
        yield Fault("dc_offset", f"{offset:.4f}", f"at most {_DC_LIMIT:g} of full scale")


def _runs(flags: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First sample and length of every run of samples that are flagged."""
    edges = np.diff(np.concatenate(([0], flags.astype(np.int8), [0])))
    starts = np.flatnonzero(edges == 1)
    return starts, np.flatnonzero(edges == -1) - starts
