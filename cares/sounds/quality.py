"""What makes a take unusable, each with a named reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from cares.core.pcm import SAMPLE_RATE
from cares.sounds.signal import Signal, decibels

Reason = Literal["empty", "not_finite", "beyond_full_scale", "silent", "clipped", "dc_offset", "length", "late_onset"]

QUIETEST_DBFS = -60.0
ONSET_S = 0.050
_CLIP_LEVEL = 0.999
_CLIP_RUN = 4
_DC_LIMIT = 0.005
_ONSET_DB = -40.0


class Fault(NamedTuple):
    """Why a take is refused: the named reason, and what was measured against what was expected."""

    reason: Reason
    measured: str
    expected: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.measured}, expected {self.expected})"


def faults(signal: Signal, shortest: int, longest: int) -> tuple[Fault, ...]:
    """All faults of a take as it came from its source, before its level is set; none when it is usable.

    Args:
        signal: float64 [T] at 44.1 kHz, full scale 1.0.
        shortest, longest: the lengths allowed, in samples.
    """
    if len(signal) == 0:
        return (Fault("empty", "no sample", "a sound"),)
    if not np.isfinite(signal).all():
        count = int((~np.isfinite(signal)).sum())
        return (Fault("not_finite", f"{count} samples are NaN or infinite", "finite numbers"),)
    return tuple(_faults(signal, shortest, longest))


def _faults(signal: Signal, shortest: int, longest: int) -> Iterator[Fault]:
    size = np.abs(signal)
    peak = float(size.max())
    if not shortest <= len(signal) <= longest:
        yield Fault(
            "length",
            f"{len(signal) / SAMPLE_RATE:.3f} s",
            f"{shortest / SAMPLE_RATE:.3f} to {longest / SAMPLE_RATE:.3f} s",
        )
    if decibels(peak) < QUIETEST_DBFS:
        yield Fault("silent", f"peak {decibels(peak):.1f} dBFS", f"at least {QUIETEST_DBFS:g} dBFS")
        return
    if peak > 1.0:
        yield Fault("beyond_full_scale", f"peak {peak:.3f}", "at most 1.0")
    elif (run := _longest_run(size >= _CLIP_LEVEL)) >= _CLIP_RUN:
        yield Fault("clipped", f"{run} samples in a row at full scale", f"fewer than {_CLIP_RUN}")
    offset = float(signal.mean())
    if abs(offset) > _DC_LIMIT:
        yield Fault("dc_offset", f"{offset:.4f}", f"at most {_DC_LIMIT:g} of full scale")
    onset = int(np.argmax(size > peak * 10 ** (_ONSET_DB / 20)))
    if onset > ONSET_S * SAMPLE_RATE:
        yield Fault("late_onset", f"{onset / SAMPLE_RATE:.3f} s", f"within {ONSET_S:g} s")


def _longest_run(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    return int((edges[1::2] - edges[::2]).max(initial=0))
