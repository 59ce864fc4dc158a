"""The mix itself, in integers: clips to tracks, tracks to the mix, the mix to 16 bits.

Units: a track sample is an int64 with STEM_BITS fractional bits below a 16-bit step. The order of operations, which
fixes the result: source x fade -> 16 bits (half to even) -> exact convolution -> STEM_BITS (half to even) -> x gain ->
STEM_BITS (half to even) -> sum of the track's clips -> ducks in their order (half to even) -> sum of the tracks ->
x master gain (exact, EXACT_BITS) -> 16 bits (half to even). Every step is integer arithmetic but the convolution, which
is exact. Each sample depends on its own place only, so a scene is summed window by window, and neither the window nor
the length of a transform changes an integer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cares.core.errors import CaresError
from cares.core.pcm import Samples
from cares.mix.backend import Backend, Whole
from cares.mix.convolve import Job, Spectra, convolve_all
from cares.mix.sources import Sources
from cares.mix.tables import FADE_BITS, GAIN_BITS, duck_table, fade_table, gain_multiplier, round_shift
from cares.records.timeline import Clip, Duck, ResponseRef, Timeline

Track = Literal["A", "B", "event", "ambience"]
TRACKS: tuple[Track, ...] = ("A", "B", "event", "ambience")
TAP_BITS = 20
STEM_BITS = 12
EXACT_BITS = STEM_BITS + GAIN_BITS
_HEADROOM = 1 << 62
_PIECE = 1 << 16
_Sound = tuple[str, int, int, int, int, ResponseRef | None]


@dataclass(frozen=True)
class Heard:
    """A clip at 0 dB: integers of a backend with `bits` fractional bits, and their greatest magnitude."""

    values: Any
    bits: int
    peak: int


@dataclass(frozen=True)
class Parts:
    """A scene's clips that are to sound, by track, and the ducks of the tracks."""

    n_samples: int
    clips: dict[Track, tuple[Clip, ...]]
    ducks: dict[Track, tuple[Duck, ...]]


def parts_of(timeline: Timeline, tracks: Sequence[Track] = TRACKS, events: frozenset[int] | None = None) -> Parts:
    """What of a timeline is to sound; all gains and ducks stay.

    Args:
        tracks: which tracks.
        events: which events; None for all.

    Raises:
        CaresError: a clip reaches beyond the scene's end.
    """
    late = [clip for clip in timeline.clips if clip.at_sample + clip.n_samples > timeline.n_samples]
    if late:
        end = late[0].at_sample + late[0].n_samples
        raise CaresError(f"{late[0].path}: a clip ends at {end}, after the scene's end")
    kept = [clip for clip in timeline.clips if clip.event is None or events is None or clip.event in events]
    return Parts(
        timeline.n_samples,
        {track: tuple(clip for clip in kept if clip.track == track) for track in tracks},
        {track: timeline.ducks.get(track, ()) if track in ("A", "B") else () for track in tracks},
    )


def faded_source(clip: Clip, sources: Sources) -> Samples:
    """The clip's dry samples [n] with its fades, 16 bits."""
    whole = sources.samples(clip.path, clip.pcm_sha256)
    samples = whole[clip.source_start : clip.source_start + clip.n_samples].copy()
    if len(samples) != clip.n_samples:
        raise CaresError(f"{clip.path}: has {len(whole)} samples, a clip wants {clip.source_start + clip.n_samples}")
    if max(clip.fade_in, clip.fade_out) > clip.n_samples:
        raise CaresError(f"{clip.path}: a fade is longer than its clip of {clip.n_samples} samples")
    if clip.fade_in:
        head = samples[: clip.fade_in]
        head[:] = round_shift(head * fade_table(clip.fade_in), FADE_BITS)
    if clip.fade_out:
        tail = samples[clip.n_samples - clip.fade_out :]
        tail[:] = round_shift(tail * fade_table(clip.fade_out)[::-1], FADE_BITS)
    return samples


def apply_ducks(track: Any, ducks: Iterable[Duck], backend: Backend, start: int = 0) -> None:
    """Lower a stretch of a track, which begins at sample `start` of the scene, in place by each duck in turn."""
    for duck in ducks:
        first, last = max(duck.start_sample, start), min(duck.end_sample, start + len(track))
        if first < last:
            table = duck_table(duck.end_sample - duck.start_sample, duck.depth_cdb, duck.ramp_samples)
            table = table[first - duck.start_sample : last - duck.start_sample]
            part = track[first - start : last - start]
            track[first - start : last - start] = round_shift(part * backend.put(table), GAIN_BITS)


def with_master(total: Any, master_gain_cdb: int) -> Any:
    """A sum of tracks x master gain, exact: EXACT_BITS fractional bits; CaresError when 64 bits do not hold it."""
    multiplier = gain_multiplier(master_gain_cdb)
    if len(total) and max(int(total.max()), -int(total.min())) * multiplier >= _HEADROOM:
        raise CaresError(f"a master gain of {master_gain_cdb / 100} dB overflows the mix")
    return total * multiplier


def finish(total: Any, master_gain_cdb: int, backend: Backend, start: int = 0) -> Samples:
    """Master gain and the one final rounding, half to even: int16 [T] of a stretch that begins at sample `start`.

    Raises:
        CaresError: a sample does not fit 16 bits.
    """
    finished = np.empty(len(total), np.int16)
    for first in range(0, len(total), backend.window_samples):
        piece = total[first : first + backend.window_samples]
        values = round_shift(with_master(piece, master_gain_cdb), EXACT_BITS)
        low, high = int(values.min()), int(values.max())
        if low < -32_768 or high > 32_767:
            raise CaresError(f"the mix overflows 16 bits: samples from {low} to {high} after {start + first}")
        finished[first : first + len(piece)] = backend.get(values)
    return finished


class Mixer:
    """Executes the clips of one scene.

    Args:
        sources: where samples and responses come from.
        backend: who computes.
        size: transform length to force, for tests; the result does not depend on it.
        keep: keep what was convolved, for a caller that changes gains and sums again.
        spectra: transforms of responses to share with other mixers.
    """

    def __init__(
        self,
        sources: Sources,
        backend: Backend,
        size: int | None = None,
        keep: bool = False,
        spectra: Spectra | None = None,
    ) -> None:
        self._sources, self._backend, self._size, self._keep = sources, backend, size, keep
        self._spectra = spectra or Spectra()
        self._held: dict[_Sound, Heard] = {}

    def heard(self, clip: Clip) -> Heard:
        """The clip at 0 dB through its response, [n + m - 1], or [n] without one."""
        key = _sound_of(clip)
        if key not in self._held:
            if clip.response is None:
                self._held[key] = self._measured(self._backend.put(faded_source(clip, self._sources)), 0)
            else:
                self.hold(clip, convolve_all([self.job(clip)], self._backend, self._size, self._spectra)[0])
        return self._held[key]

    def pending(self, clips: Iterable[Clip]) -> list[Clip]:
        """Of some clips those to convolve, each sound once."""
        sounds = {_sound_of(clip): clip for clip in clips if clip.response is not None}
        return [clip for sound, clip in sounds.items() if sound not in self._held]

    def job(self, clip: Clip) -> Job:
        """The convolution of a clip that has a response."""
        assert clip.response is not None
        return Job(self._backend.put(faded_source(clip, self._sources)), self._sources.taps(clip.response))

    def hold(self, clip: Clip, convolved: Any) -> None:
        """Keep a job's result as the clip's sound, rounded to STEM_BITS."""
        rounded = self._backend.narrow(round_shift(convolved, TAP_BITS - STEM_BITS))
        self._held[_sound_of(clip)] = self._measured(rounded, STEM_BITS)

    def stretch(self, clips: Iterable[Clip], start: int, end: int, ducks: Iterable[Duck] = ()) -> Any:
        """The clips' sum over samples start <= t < end of the scene, then the ducks: int64 [end - start]."""
        total = self._backend.zeros(end - start)
        for clip in clips:
            if clip.at_sample < end and clip.at_sample + _length(clip) > start:
                self._add(total, clip, start)
        apply_ducks(total, ducks, self._backend, start)
        return total

    def windows(self, parts: Parts) -> Iterator[tuple[int, Any]]:
        """The sum of all tracks before the master gain, window by window: (first sample, int64 [W])."""
        for start in range(0, parts.n_samples, self._backend.window_samples):
            end = min(start + self._backend.window_samples, parts.n_samples)
            total = self._backend.zeros(end - start)
            for track, clips in parts.clips.items():
                total += self.stretch(clips, start, end, parts.ducks[track])
            if not self._keep:
                later = [
                    clip for clips in parts.clips.values() for clip in clips if clip.at_sample + _length(clip) > end
                ]
                needed = {_sound_of(clip) for clip in later}
                self._held = {key: heard for key, heard in self._held.items() if key in needed}
            yield start, total

    def total(self, parts: Parts) -> Any:
        """The sum of all tracks before the master gain: int64 [T] with STEM_BITS fractional bits."""
        total = self._backend.zeros(parts.n_samples)
        for start, window in self.windows(parts):
            total[start : start + len(window)] = window
        return total

    def exact(self, parts: Parts, master_gain_cdb: int) -> Whole:
        """The sum of all tracks x master gain before the final rounding: int64 [T], EXACT_BITS fractional bits."""
        values = np.empty(parts.n_samples, np.int64)
        for start, window in self.windows(parts):
            values[start : start + len(window)] = self._backend.get(with_master(window, master_gain_cdb))
        return values

    def finished(self, parts: Parts, master_gain_cdb: int) -> Samples:
        """The sum of all tracks x master gain, rounded once: int16 [T]; CaresError when a sample does not fit."""
        samples = np.empty(parts.n_samples, np.int16)
        for start, window in self.windows(parts):
            samples[start : start + len(window)] = finish(window, master_gain_cdb, self._backend, start)
        return samples

    def _add(self, total: Any, clip: Clip, start: int) -> None:
        """Add values x gain into a stretch that begins at `start`, piece by piece so that the memory stays small."""
        heard, multiplier = self.heard(clip), gain_multiplier(clip.gain_cdb)
        if heard.peak * multiplier >= _HEADROOM:
            raise CaresError(f"a gain of {clip.gain_cdb / 100} dB overflows the mix")
        first = max(clip.at_sample, start)
        last = min(clip.at_sample + len(heard.values), start + len(total))
        for at in range(first, last, _PIECE):
            end = min(at + _PIECE, last)
            product = self._backend.wide(heard.values[at - clip.at_sample : end - clip.at_sample])
            product *= multiplier
            total[at - start : end - start] += round_shift(product, GAIN_BITS + heard.bits - STEM_BITS)

    def _measured(self, values: Any, bits: int) -> Heard:
        peak = max(int(values.max()), -int(values.min())) if len(values) else 0
        return Heard(values, bits, peak)


def _sound_of(clip: Clip) -> _Sound:
    """What is heard of a clip, wherever and however loud: the key of what was convolved."""
    return clip.path, clip.source_start, clip.n_samples, clip.fade_in, clip.fade_out, clip.response


def _length(clip: Clip) -> int:
    response: ResponseRef | None = clip.response
    return clip.n_samples + (response.n_samples - 1 if response else 0)
