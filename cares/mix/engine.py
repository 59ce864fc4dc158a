"""The mix itself, in integers: clips to tracks, tracks to the mix, the mix to 16 bits.

Units: a track sample is an int64 with STEM_BITS fractional bits below a 16-bit step. The order of operations, which
fixes the result: source x fade -> 16 bits (half to even) -> exact convolution -> STEM_BITS (half to even) -> x gain ->
STEM_BITS (half to even) -> sum of the track's clips -> ducks in their order (half to even) -> sum of the tracks ->
x master gain -> 16 bits (half to even). Every step is integer arithmetic but the convolution, which is exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from cares.core.errors import CaresError
from cares.core.pcm import Samples
from cares.mix.backend import Backend
from cares.mix.convolve import convolve
from cares.mix.sources import Sources
from cares.mix.tables import FADE_BITS, GAIN_BITS, duck_table, fade_table, gain_multiplier, round_shift
from cares.records.timeline import Clip, Duck, Timeline

Track = Literal["A", "B", "event", "ambience"]
TRACKS: tuple[Track, ...] = ("A", "B", "event", "ambience")
TAP_BITS = 20
STEM_BITS = 12
_HEADROOM = 1 << 62
_PIECE = 1 << 18


def faded_source(clip: Clip, sources: Sources) -> Samples:
    """The clip's dry samples [n] with its fades, 16 bits."""
    whole = sources.samples(clip.path, clip.pcm_sha256)
    samples = whole[clip.source_start : clip.source_start + clip.n_samples].astype(np.int64)
    if len(samples) != clip.n_samples:
        raise CaresError(f"{clip.path}: has {len(whole)} samples, a clip wants {clip.source_start + clip.n_samples}")
    if max(clip.fade_in, clip.fade_out) > clip.n_samples:
        raise CaresError(f"{clip.path}: a fade is longer than its clip of {clip.n_samples} samples")
    if clip.fade_in:
        samples[: clip.fade_in] = round_shift(samples[: clip.fade_in] * fade_table(clip.fade_in), FADE_BITS)
    if clip.fade_out:
        tail = samples[clip.n_samples - clip.fade_out :]
        tail[:] = round_shift(tail * fade_table(clip.fade_out)[::-1], FADE_BITS)
    return samples.astype(np.int16)


def scaled(values: Any, gain_cdb: int) -> Any:
    """Values x gain; CaresError when 64 bits would not hold the product."""
    multiplier = gain_multiplier(gain_cdb)
    if len(values) and int(abs(values).max()) * multiplier >= _HEADROOM:
        raise CaresError(f"a gain of {gain_cdb / 100} dB overflows the mix")
    return round_shift(values * multiplier, GAIN_BITS)


def add_scaled(track: Any, values: Any, gain_cdb: int, at_sample: int) -> None:
    """Add values x gain into a track from `at_sample`; what reaches beyond its end is left out.

    Goes piece by piece, so that the memory for intermediate results does not grow with the scene.
    """
    length = min(len(values), len(track) - at_sample)
    for start in range(0, length, _PIECE):
        end = min(start + _PIECE, length)
        track[at_sample + start : at_sample + end] += scaled(values[start:end], gain_cdb)


def apply_ducks(track: Any, ducks: Iterable[Duck], backend: Backend) -> None:
    """Lower a track in place by each duck in turn."""
    for duck in ducks:
        end = min(duck.end_sample, len(track))
        table = duck_table(duck.end_sample - duck.start_sample, duck.depth_cdb, duck.ramp_samples)
        part = track[duck.start_sample : end]
        track[duck.start_sample : end] = round_shift(part * backend.put(table[: len(part)]), GAIN_BITS)


def finish(total: Any, master_gain_cdb: int, backend: Backend) -> Samples:
    """Master gain and the one final rounding, half to even: int16 [T].

    Raises:
        CaresError: a sample does not fit 16 bits.
    """
    multiplier = gain_multiplier(master_gain_cdb)
    finished = np.empty(len(total), np.int16)
    for start in range(0, len(total), _PIECE):
        piece = total[start : start + _PIECE]
        if int(abs(piece).max()) * multiplier >= _HEADROOM:
            raise CaresError(f"a master gain of {master_gain_cdb / 100} dB overflows the mix")
        values = backend.get(round_shift(piece * multiplier, GAIN_BITS + STEM_BITS))
        low, high = int(values.min()), int(values.max())
        if low < -32_768 or high > 32_767:
            raise CaresError(f"the mix overflows 16 bits: samples from {low} to {high} after {start}")
        finished[start : start + _PIECE] = values
    return finished


class Mixer:
    """Executes the clips of one scene.

    Args:
        sources: where samples and responses come from.
        backend: who computes.
        size: transform length to force, for tests; the result does not depend on it.
        keep: keep what was convolved, for a caller that changes gains and sums again.
    """

    def __init__(self, sources: Sources, backend: Backend, size: int | None = None, keep: bool = False) -> None:
        self._sources, self._backend, self._size = sources, backend, size
        self._kept: dict[str, Any] | None = {} if keep else None

    def heard(self, clip: Clip) -> Any:
        """The clip at 0 dB through its response: int64 [n + m - 1] of the backend (or [n] without a response)."""
        if clip.response is None:
            return self._backend.put(faded_source(clip, self._sources)) << STEM_BITS
        key = clip.model_copy(update={"gain_cdb": 0}).model_dump_json()
        if self._kept is not None and key in self._kept:
            return self._kept[key]
        dry = self._backend.put(faded_source(clip, self._sources))
        taps = self._sources.taps(clip.response)
        values = round_shift(convolve(dry, taps, self._backend, self._size), TAP_BITS - STEM_BITS)
        if self._kept is not None:
            self._kept[key] = values
        return values

    def sum_clips(self, clips: Iterable[Clip], n_samples: int, ducks: Iterable[Duck] = ()) -> Any:
        """The clips' sum over a scene of `n_samples`, then the ducks: int64 [T] of the backend."""
        total = self._backend.zeros(n_samples)
        for clip in clips:
            if clip.at_sample + clip.n_samples > n_samples:
                raise CaresError(
                    f"{clip.path}: a clip ends at {clip.at_sample + clip.n_samples}, after the scene's end"
                )
            add_scaled(total, self.heard(clip), clip.gain_cdb, clip.at_sample)
        apply_ducks(total, ducks, self._backend)
        return total

    def stem(self, timeline: Timeline, track: Track, mute_event: int | None = None) -> Any:
        """One stem before the master gain: int64 [T]; an event that is muted is left out, all gains and ducks stay."""
        clips = [clip for clip in timeline.clips if clip.track == track]
        clips = [clip for clip in clips if mute_event is None or clip.event != mute_event]
        ducks = timeline.ducks.get(track, ()) if track in ("A", "B") else ()
        return self.sum_clips(clips, timeline.n_samples, ducks)

    def total(self, timeline: Timeline, mute_event: int | None = None) -> Any:
        """The sum of the four stems before the master gain: int64 [T]; two tracks at most are in memory."""
        total = self._backend.zeros(timeline.n_samples)
        for track in TRACKS:
            total += self.stem(timeline, track, mute_event)
        return total

    def finish(self, total: Any, master_gain_cdb: int) -> Samples:
        """As `finish`, on this mixer's backend."""
        return finish(total, master_gain_cdb, self._backend)
