"""How loud everything is: measured on what is heard, decided in hundredths of a decibel.

The master gain comes last, on the sum of all stems. Where a true peak is too high after it, the sound that makes the
peak is lowered, and the loudness is measured and set again; the loudness is never given up for the peak.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE
from cares.mix.backend import Backend
from cares.mix.choices import Choices
from cares.mix.engine import STEM_BITS, TRACKS, Mixer, Parts, Track
from cares.mix.k_weighting import Signal
from cares.mix.loudness import (
    BLOCK,
    FULL_SCALE,
    SilentError,
    integrated_lufs,
    measure,
)
from cares.mix.params import MixParams, to_cdb
from cares.mix.pieces import PlacingError
from cares.mix.tables import GAIN_RANGE_CDB
from cares.mix.true_peak import PEAK_BLOCK, block_peaks
from cares.records.scene import Speaker
from cares.records.timeline import Clip, Duck

ROUNDS = 24
GREATEST_EVENT_CUT_CDB = 2_000
_PEAK_RESERVE_CDB = 20  # so much too high may a meter read (EBU Tech 3341, table 1, cases 15 to 23)
_MASTER_TOLERANCE_CDB = 5
_CUT_STEP_CDB = (10, 600)
_PEAK_RAMP = SAMPLE_RATE // 100
NEAR = SAMPLE_RATE * 3 // 2  # what is said next to a sound: one and a half seconds
_NOTHING = 1e-12
_VOICES: tuple[Speaker, ...] = ("A", "B")


@dataclass
class Levels:
    """What was decided: clips with their gains, ducks, and the figures to annotate; keys of dicts are events."""

    clips: list[Clip]
    ducks: dict[Speaker, list[Duck]]
    event_level_cdb: dict[int, int]
    margin_cdb: dict[int, int] = field(default_factory=dict)
    peak_limited: set[int] = field(default_factory=set)
    ambience_lowered_cdb: int = 0
    master_gain_cdb: int = 0
    master_lufs_cdb: int = 0


def settle(
    clips: list[Clip],
    ducks: dict[Speaker, list[Duck]],
    choices: Choices,
    params: MixParams,
    n_samples: int,
    mixer: Mixer,
    backend: Backend,
) -> Levels:
    """Give every clip its gain, and the mix its master gain.

    Args:
        clips: all clips at 0 dB; ducks: those that the events ask for.
        mixer: one that keeps what it convolved.

    Raises:
        InputError: a take or an ambience is silent.
        PlacingError: loudness and true peak cannot both be held.
    """
    return _Settling(clips, ducks, choices, params, n_samples, mixer, backend).run()


class _Settling:
    def __init__(
        self,
        clips: list[Clip],
        ducks: dict[Speaker, list[Duck]],
        choices: Choices,
        params: MixParams,
        n_samples: int,
        mixer: Mixer,
        backend: Backend,
    ) -> None:
        self._choices, self._params, self._n = choices, params, n_samples
        self._mixer, self._backend = mixer, backend
        self._levels = Levels(list(clips), {v: list(ducks.get(v, [])) for v in _VOICES}, {})
        # one sum is measured at a time
        self._signal_buffer = np.empty(n_samples)

    def run(self) -> Levels:
        levels = self._levels
        self._even_out()
        for voice in _VOICES:
            self._set_voice(voice)
        ambience_power = self._set_ambience()
        for index, clip in enumerate(levels.clips):
            if clip.event is not None:
                self._set_event(index, clip.event)
        for _ in range(ROUNDS):
            self._hold_margins(ambience_power)
            signal = self._sum(self._parts())
            levels.master_gain_cdb = measure(signal).gain_cdb(to_cdb(self._params.master_lufs))
            limit = to_cdb(self._params.true_peak_dbtp) - _PEAK_RESERVE_CDB - levels.master_gain_cdb
            peaks = block_peaks(signal, 10 ** (limit / 2000))
            over = np.flatnonzero(peaks > 10 ** (limit / 2000))
            if not len(over):
                self._check()
                return levels
            self._lower(over, peaks, limit)
        wanted = f"{self._params.master_lufs} LUFS and {self._params.true_peak_dbtp} dBTP"
        raise PlacingError(f"{wanted} cannot both be held in {ROUNDS} rounds")

    def _parts(self, *tracks: Track) -> Parts:
        """All clips and ducks as they are now, or those of some tracks."""
        levels, chosen = self._levels, tracks or TRACKS
        clips = {track: tuple(clip for clip in levels.clips if clip.track == track) for track in chosen}
        ducks: dict[Track, tuple[Duck, ...]] = dict.fromkeys(TRACKS, ())
        for voice in _VOICES:
            ducks[voice] = tuple(levels.ducks[voice])
        return Parts(self._n, clips, ducks)

    def _sum(self, parts: Parts) -> Signal:
        """The sum as a signal [T], filled window by window: whole numbers of all tracks are never in memory at once."""
        signal = self._signal_buffer
        for start, window in self._mixer.windows(parts):
            scale = FULL_SCALE * (1 << STEM_BITS)
            np.divide(self._backend.get(window), scale, out=signal[start : start + len(window)])
        return signal

    def _signal(self, values: Any, bits: int = STEM_BITS) -> Signal:
        return np.asarray(self._backend.get(values) / (FULL_SCALE * (1 << bits)), np.float64)

    def _set_gain(self, index: int, gain_cdb: int, what: str) -> None:
        if not GAIN_RANGE_CDB[0] <= gain_cdb <= GAIN_RANGE_CDB[1]:
            raise PlacingError(f"{what} would need a gain of {gain_cdb / 100} dB")
        self._levels.clips[index] = self._levels.clips[index].model_copy(update={"gain_cdb": gain_cdb})

    def _set_track(self, name: Track, target_cdb: int, path: str, squares: Signal | None = None) -> None:
        places = [index for index, clip in enumerate(self._levels.clips) if clip.track == name]
        parts = self._parts(name)
        signal = self._sum(Parts(parts.n_samples, parts.clips, {name: ()}))
        try:
            gain = measure(signal, squares).gain_cdb(target_cdb)
        except SilentError as error:
            raise InputError(path, "level", str(error), "a sound that can be heard") from None
        for index in places:
            self._set_gain(index, self._levels.clips[index].gain_cdb + gain, name)

    def _even_out(self) -> None:
        """Bring what is said next to a sound to its speaker's level, by `mix.even_out_db` at most.

        A sentence fades towards its end, and one that is cut short does not: without this the level before a sound, and
        after it, would tell how the speaker reacts.
        """
        clips = self._levels.clips
        spoken = sorted((i for i, clip in enumerate(clips) if clip.track in _VOICES), key=lambda i: clips[i].at_sample)
        first, last, whole = {}, {}, {track: [0.0, 0.0] for track in TRACKS}
        for index in spoken:
            power = self._power(clips[index])
            first[index], last[index] = power[:NEAR].mean(), power[-NEAR:].mean()
            total = whole[clips[index].track]
            total[0], total[1] = total[0] + power.sum(), total[1] + len(power)
        shifts: dict[int, list[float]] = {}
        for event in (clip for clip in clips if clip.event is not None):
            before = [i for i in spoken if clips[i].at_sample < event.at_sample][-1:]
            after = [i for i in spoken if clips[i].at_sample >= event.at_sample][:1]
            for index, near in [(i, last[i]) for i in before] + [(i, first[i]) for i in after]:
                total = whole[clips[index].track]
                shifts.setdefault(index, []).append(10 * math.log10(total[0] / total[1] / near))
        most = to_cdb(self._params.even_out_db)
        for index, wanted in shifts.items():
            shift = max(-most, min(most, round(100 * sum(wanted) / len(wanted))))
            self._set_gain(index, clips[index].gain_cdb + shift, "voice")

    def _power(self, clip: Clip) -> Signal:
        """Square of each sample that a clip is heard as, without its tail, and never nothing."""
        heard = self._mixer.heard(clip)
        return np.square(self._signal(heard.values[: clip.n_samples], heard.bits)) + _NOTHING

    def _set_voice(self, voice: Speaker) -> None:
        spoken = [clip for clip in self._levels.clips if clip.track == voice]
        if spoken:
            self._set_track(voice, to_cdb(self._params.voice_lufs), spoken[0].path)

    def _set_ambience(self) -> Signal:
        """Sets the gain; returns running sums [T + 1] of the K-weighted power at 0 dB."""
        sums = np.zeros(self._n + 1)
        self._set_track("ambience", self._choices.ambience_level, self._choices.ambience.path, sums[1:])
        return np.cumsum(sums, out=sums)

    def _set_event(self, index: int, event: int) -> None:
        clip = self._levels.clips[index]
        try:
            heard = self._mixer.heard(clip)
            measured = measure(self._signal(heard.values[: clip.n_samples], heard.bits))
            gain = measured.gain_cdb(self._choices.event_levels[event])
        except SilentError as error:
            raise InputError(clip.path, "level", str(error), "a take that can be heard") from None
        self._levels.event_level_cdb[event] = self._choices.event_levels[event]
        self._set_gain(index, gain, f"event {event}")

    def _hold_margins(self, ambience_power: Signal) -> None:
        """Measure every event's margin; where one is too small, the ambience of the whole scene is lowered."""
        levels = self._levels
        places = [index for index, clip in enumerate(levels.clips) if clip.track == "ambience"]
        gain = levels.clips[places[0]].gain_cdb
        below = {}
        for clip in levels.clips:
            if clip.event is not None:
                middle = clip.at_sample + clip.n_samples // 2
                half = max(clip.n_samples, BLOCK) // 2
                start, end = max(0, middle - half), min(self._n, middle + half)
                power = float(ambience_power[end] - ambience_power[start]) / (end - start)
                under = -0.691 + 10 * math.log10(max(power, 1e-12))
                below[clip.event] = levels.event_level_cdb[clip.event] - math.ceil(under * 100)
        wanted = to_cdb(self._params.margin_db)
        lower = max([0, *(wanted - (margin - gain) for margin in below.values())])
        for index in places:
            self._set_gain(index, gain - lower, "ambience")
        levels.ambience_lowered_cdb += lower
        levels.margin_cdb = {event: margin - gain + lower for event, margin in below.items()}

    def _check(self) -> None:
        """Measure what the file will hold."""
        samples = self._mixer.finished(self._parts(), self._levels.master_gain_cdb)
        finished = np.divide(samples, FULL_SCALE, out=self._signal_buffer)
        self._levels.master_lufs_cdb = to_cdb(integrated_lufs(finished))
        if abs(self._levels.master_lufs_cdb - to_cdb(self._params.master_lufs)) > _MASTER_TOLERANCE_CDB:
            raise PlacingError(f"the finished mix has {self._levels.master_lufs_cdb / 100} LUFS")
        limit = 10 ** (self._params.true_peak_dbtp / 20)
        peak = float(block_peaks(finished, limit).max())
        if peak > limit:
            raise PlacingError(f"the finished mix has a true peak of {20 * math.log10(peak):.2f} dBTP")

    def _lower(self, over: Any, peaks: Signal, limit: int) -> None:
        """Lower what makes the peaks: an event's gain, or a voice around its peak."""
        cuts: dict[int, int] = {}
        parts = self._parts()
        for run in np.split(over, np.flatnonzero(np.diff(over) > 1) + 1):
            block = int(run[peaks[run].argmax()])
            excess = math.ceil(2000 * math.log10(peaks[block]) - limit)
            start, end = int(run[0]) * PEAK_BLOCK, min(self._n, (int(run[-1]) + 1) * PEAK_BLOCK)
            around = block * PEAK_BLOCK, min(self._n, (block + 1) * PEAK_BLOCK)
            share = {track: self._peak(parts, track, *around) for track in ("A", "B", "event")}
            sounding = self._sounding(start, end)
            if sounding and share["event"] >= max(share["A"], share["B"]):
                event = max(sounding, key=lambda index: (self._levels.clips[index].at_sample, index))
                keep = 1 - float(peaks[block]) * (1 - 10 ** (-excess / 2000)) / share["event"]
                cut = math.ceil(-2000 * math.log10(keep)) if keep > 0 else _CUT_STEP_CDB[1]
                cuts[event] = max(cuts.get(event, 0), min(max(cut, _CUT_STEP_CDB[0]), _CUT_STEP_CDB[1]))
            else:
                self._duck_peak("A" if share["A"] >= share["B"] else "B", start, end, excess)
        for index, cut in cuts.items():
            self._cut_event(index, cut)

    def _peak(self, parts: Parts, track: Track, start: int, end: int) -> float:
        """The greatest magnitude of one track in a stretch."""
        return float(
            np.abs(self._signal(self._mixer.stretch(parts.clips[track], start, end, parts.ducks[track]))).max()
        )

    def _sounding(self, start: int, end: int) -> list[int]:
        """Places of the event clips that can be heard, with their tails, within [start, end)."""
        found = []
        for index, clip in enumerate(self._levels.clips):
            tail = clip.response.n_samples if clip.response else 0
            if clip.event is not None and clip.at_sample < end and clip.at_sample + clip.n_samples + tail > start:
                found.append(index)
        return found

    def _cut_event(self, index: int, cut: int) -> None:
        levels, clip = self._levels, self._levels.clips[index]
        assert clip.event is not None
        levels.peak_limited.add(clip.event)
        levels.event_level_cdb[clip.event] -= cut
        if self._choices.event_levels[clip.event] - levels.event_level_cdb[clip.event] > GREATEST_EVENT_CUT_CDB:
            raise PlacingError(
                f"event {clip.event}: its peak asks for a cut of over {GREATEST_EVENT_CUT_CDB // 100} dB"
            )
        self._set_gain(index, clip.gain_cdb - cut, f"event {clip.event}")

    def _duck_peak(self, voice: Speaker, start: int, end: int, excess: int) -> None:
        duck = Duck(
            start_sample=max(0, start - _PEAK_RAMP),
            end_sample=min(self._n, end + _PEAK_RAMP),
            depth_cdb=excess + _CUT_STEP_CDB[0],
            ramp_samples=_PEAK_RAMP,
            reason="peak",
        )
        self._levels.ducks[voice].append(duck)
