"""From a recording to a take's signal: cut, mixed to one channel, resampled, silence taken off; all of it noted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import soxr

from cares.core.pcm import SAMPLE_RATE
from cares.sounds.decode import Recording, decode
from cares.sounds.quality import ONSET_DB, Fault, UnusableError, recording_faults
from cares.sounds.signal import Signal

QUALITY = "VHQ"
_BEFORE_S, _AFTER_S = 0.005, 0.050
_TAIL_DB = -50.0
_CUT_FADE_S = 0.002


class Part(NamedTuple):
    """A stretch of a recording in seconds; None is its beginning or end, and silence there is taken off."""

    start_s: float | None = None
    end_s: float | None = None


def prepare(data: bytes, part: Part, trim: bool) -> tuple[Signal, tuple[str, ...]]:
    """The signal float64 [T] at 44.1 kHz of a part of a sound file's bytes, and what was done to it.

    Args:
        data: the file's bytes.
        part: what to take of it.
        trim: take silence off at the ends that `part` leaves open (not wanted of an ambience).

    Raises:
        UnusableError: it cannot be read, lacks that part, or has a fault that resampling would hide.
    """
    recording = decode(data)
    recording = _cut(recording, part)
    if found := recording_faults(recording.channels, recording.lossy):
        raise UnusableError(*found)
    edits: list[str] = []
    if part.start_s is not None or part.end_s is not None:
        end = "end" if part.end_s is None else f"{part.end_s:g} s"
        edits.append(f"cut: {part.start_s or 0:g} s to {end}")
    count = recording.channels.shape[1]
    signal = np.ascontiguousarray(recording.channels.mean(1))
    if count > 1:
        edits.append(f"{count} channels mixed to one")
    if recording.rate != SAMPLE_RATE:
        signal = np.asarray(soxr.resample(signal, recording.rate, SAMPLE_RATE, QUALITY), np.float64)
        edits.append(f"resampled from {recording.rate} Hz")
    if trim and len(signal):
        signal, done = _trimmed(signal, part.start_s is None, part.end_s is None)
        edits.extend(done)
    signal = _faded(signal, part.start_s is not None, part.end_s is not None)
    # the level of a take is set later; here only what resampling added above full scale is undone
    return signal / max(1.0, float(np.abs(signal).max(initial=0.0))), tuple(edits)


def _cut(recording: Recording, part: Part) -> Recording:
    total = len(recording.channels)
    if part == Part():
        return recording
    start = 0 if part.start_s is None else round(part.start_s * recording.rate)
    end = total if part.end_s is None else round(part.end_s * recording.rate)
    if end > total or start >= total:
        measured = f"{total / recording.rate:.3f} s"
        raise UnusableError(Fault("length", measured, f"a recording that holds {part.start_s} to {part.end_s} s"))
    return recording._replace(channels=recording.channels[start:end])


def _trimmed(signal: Signal, at_start: bool, at_end: bool) -> tuple[Signal, list[str]]:
    size = np.abs(signal)
    peak = float(size.max())
    start, end, edits = 0, len(signal), []
    if at_start:
        start = max(0, int(np.argmax(size >= peak * 10 ** (ONSET_DB / 20))) - round(_BEFORE_S * SAMPLE_RATE))
        if start:
            edits.append(f"{start * 1000 / SAMPLE_RATE:.0f} ms of silence taken off the start")
    if at_end:
        last = len(signal) - int(np.argmax(size[::-1] >= peak * 10 ** (_TAIL_DB / 20)))
        end = min(len(signal), last + round(_AFTER_S * SAMPLE_RATE))
        if end < len(signal):
            edits.append(f"{(len(signal) - end) * 1000 / SAMPLE_RATE:.0f} ms of silence taken off the end")
    return signal[start:end], edits


def _faded(signal: Signal, at_start: bool, at_end: bool) -> Signal:
    """A cut through a sound would click."""
    n = min(round(_CUT_FADE_S * SAMPLE_RATE), len(signal) // 2)
    rise = np.arange(1, n + 1) / (n + 1)
    out = signal.copy()
    if at_start:
        out[:n] *= rise
    if at_end and n:
        out[-n:] *= rise[::-1]
    return out
