"""A recipe rendered to one take: layers of grains, float64 throughout."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cares.core.pcm import SAMPLE_RATE
from cares.core.rng import KeyedRandom
from cares.sounds.procedural import shaping
from cares.sounds.procedural import vocabulary as v
from cares.sounds.procedural.generators import MAKERS
from cares.sounds.signal import PEAK_DBFS, Signal

_PEAK = 10 ** (PEAK_DBFS / 20)
_LEAD_DB, _TRAIL_DB = -40.0, -54.0
_LEAD, _GRAIN_FADE = 44, 88
_MAX_GRAINS = 4_000


def render(recipe: v.Recipe, seed: int, take_id: str, shortest: int = 0, longest: int | None = None) -> Signal:
    """The take as float64 [T] at 44.1 kHz, peak -3 dBFS, from where it rises out of silence to where it sinks back.

    Every number is drawn by KeyedRandom(seed, "take", take_id) and its like for each layer, so takes differ and each is
    the same everywhere. What would last longer than `longest` samples is faded out there; what dies away before
    `shortest` keeps its end up to there.
    """
    key = _Key(seed, take_id)
    random = key.stream("take")
    total = round(recipe.length_s.draw(random).value * SAMPLE_RATE) if recipe.length_s else None
    parts = [_layer(layer, total, 1.0, key.part(index), random) for index, layer in enumerate(recipe.layers)]
    mix = _sum(parts, total or max(len(part) for part in parts))
    whole = v.drawn(recipe.model_copy(update={"layers": ()}), random)
    if whole.drive.value > 0:
        mix = np.tanh(mix * (whole.drive.value / max(float(np.abs(mix).max()), 1e-12)))
    for kind in whole.filters:
        mix = shaping.apply_filter(mix, kind)
    if whole.tail is not None:
        end = len(mix)
        mix = shaping.tail(mix, whole.tail, random)
        if whole.wrap:
            mix[: len(mix) - end] += mix[end:]
            mix = mix[:end]
    return _finish(mix, whole.fade_out_s.value, shortest, longest)


class _Key(NamedTuple):
    """Names a place in a recipe of one take; from it come the numbers that all grains there share."""

    seed: int
    name: str

    def part(self, index: int) -> _Key:
        return _Key(self.seed, f"{self.name}/{index}")

    def stream(self, purpose: str) -> KeyedRandom:
        return KeyedRandom(self.seed, purpose, self.name)


def _finish(mix: Signal, fade_out_s: float, shortest: int, longest: int | None) -> Signal:
    mix = mix - mix.mean()
    size = np.abs(mix)
    peak = float(size.max())
    if not np.isfinite(peak) or peak <= 0:
        return mix  # the quality check refuses it by name
    loud = np.flatnonzero(size > peak * 10 ** (_LEAD_DB / 20))
    heard = np.flatnonzero(size > peak * 10 ** (_TRAIL_DB / 20))
    start = max(0, int(loud[0]) - _LEAD)
    mix = mix[start : max(start + shortest, int(heard[-1]) + 1)]
    if longest is not None and len(mix) > longest:
        mix, fade_out_s = mix[:longest], max(fade_out_s, 0.06)
    lead = min(_LEAD, len(mix))
    mix[:lead] *= np.linspace(0, 1, lead)
    fade = min(len(mix), max(2, round(fade_out_s * SAMPLE_RATE)))
    mix[-fade:] *= 0.5 + 0.5 * np.cos(np.pi * np.arange(1, fade + 1) / fade)
    return mix * (_PEAK / float(np.abs(mix).max()))


def _sum(parts: list[Signal], n: int) -> Signal:
    mix = np.zeros(n)
    for part in parts:
        mix[: len(part)] += part[:n]
    return mix


def _layer(layer: v.Layer, total: int | None, pitch: float, key: _Key, random: KeyedRandom) -> Signal:
    """One layer at its peak level, from sample 0 of the take or of the group's grain.

    `random` gives noise and what differs between grains; the layer's own numbers follow from `key`.
    """
    numbers = key.stream("layer")
    fixed = v.drawn(layer, numbers)
    start = round(fixed.start_s.value * SAMPLE_RATE + fixed.start_part.value * (total or 0))
    if total is not None and start >= total:
        return np.zeros(1)
    n = (total or 0) - start if fixed.length_s is None else round(fixed.length_s.value * SAMPLE_RATE)
    if fixed.repeat is None:
        out = _grain(fixed, n, pitch, key, random)
    else:
        room = None if total is None else total - start
        out = _grains(layer, fixed, fixed.repeat, n, room, pitch, key, random)
    if fixed.wander is not None:
        out = out * shaping.wander(fixed.wander, len(out), random)
    if fixed.swell is not None:
        out = out * fixed.swell.at(len(out))
    peak = float(np.abs(out).max())
    if peak > 0:
        out = out * (10 ** (fixed.gain_db.value / 20) / peak)
    return np.concatenate((np.zeros(start), out))


def _grains(
    layer: v.Layer,
    fixed: v.Layer,
    repeat: v.Repeat,
    n: int,
    room: int | None,
    pitch: float,
    key: _Key,
    random: KeyedRandom,
) -> Signal:
    vary = repeat.vary
    melody = random.choice(repeat.melodies) if repeat.melodies else ()
    grains: list[tuple[int, Signal]] = []
    for index, (place, gain_db) in enumerate(_places(repeat, n, room, random)):
        own = key.part(index if repeat.redraw else 0)
        one = v.drawn(layer, own.stream("grain")) if repeat.redraw else fixed
        size = n if one.length_s is None else round(one.length_s.value * SAMPLE_RATE)
        size = max(8, round(size * (1 + vary.length.value * random.uniform(-1, 1))))
        bend = pitch * (1 + vary.pitch.value * random.uniform(-1, 1))
        if melody:
            bend *= 2 ** (melody[index % len(melody)] / 12)
        level = gain_db - vary.gain_db.value * random.unit() + one.gain_db.value - fixed.gain_db.value
        grains.append((place, 10 ** (level / 20) * _grain(one, size, bend, own, random)))
    out = np.zeros(max(place + len(grain) for place, grain in grains))
    for place, grain in grains:
        out[place : place + len(grain)] += grain
    return out


def _places(repeat: v.Repeat, n: int, room: int | None, random: KeyedRandom) -> list[tuple[int, float]]:
    """Start sample and gain in dB of each grain; the first is always there."""
    if repeat.count is not None:
        count = round(repeat.count.value)
    else:
        count = len(repeat.pattern) if repeat.pattern and room is None else _MAX_GRAINS
    period, time = repeat.period_s.value, 0.0
    places: list[tuple[int, float]] = []
    for index in range(count):
        if repeat.pattern:
            turn, step = divmod(index, len(repeat.pattern))
            time = (repeat.pattern[step].value + turn * (repeat.pattern[-1].value + 1)) * repeat.period_s.value
        shift = repeat.vary.timing.value * period * random.uniform(-0.5, 0.5)
        place = round(max(0.0, time + shift) * SAMPLE_RATE) if index else 0
        if index and room is not None and place + min(n, room // 8) > room:
            break
        places.append((place, index * repeat.gain_step_db.value))
        time += period
        period = max(0.002, period * repeat.period_ratio.value)
    return places


def _grain(layer: v.Layer, n: int, pitch: float, key: _Key, random: KeyedRandom) -> Signal:
    """One grain: source, swings, envelope, filters; its last milliseconds fade, since filters ring beyond its end."""
    source = layer.source
    if isinstance(source, v.Group):
        parts = [_layer(part, n, pitch, key.part(index), random) for index, part in enumerate(source.layers)]
        out = _sum(parts, n)
    else:
        out = MAKERS[type(source)](source, n, pitch, random, key.stream("body"))
    for swing in layer.tremolo:
        out = out * shaping.tremolo(swing, n, random)
    out = out * shaping.envelope(layer.envelope, n)
    for kind in layer.filters:
        out = shaping.apply_filter(out, kind)
    fade = min(n, _GRAIN_FADE)
    out[n - fade :] *= np.linspace(1, 0, fade)
    return out
