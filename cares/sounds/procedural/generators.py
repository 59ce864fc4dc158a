"""Sources of a layer: each makes one grain, float64 [n] at 44.1 kHz, of no particular level."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft, rfftfreq
from scipy.signal import fftconvolve

from cares.core.pcm import SAMPLE_RATE
from cares.core.record import Record
from cares.core.rng import KeyedRandom
from cares.sounds.procedural import vocabulary as v
from cares.sounds.signal import Signal

HIGHEST_HZ = 18_000.0
_FLOOR_HZ = 20.0


def white(random: KeyedRandom, n: int) -> Signal:
    """Uniform white noise of unit variance, float64 [n], from raw Philox words under a key drawn from `random`."""
    words = np.random.Philox(key=np.array([random.word(), random.word()], np.uint64)).random_raw((n + 1) // 2)
    halves = np.frombuffer(np.asarray(words).astype("<u8").tobytes(), dtype="<u4")[:n]
    return np.asarray((halves.astype(np.float64) * 2.0**-31 - 1.0) * np.sqrt(3.0), np.float64)


def sloped(noise: Signal, slope_db: float) -> Signal:
    """The noise with its spectrum tilted by `slope_db` an octave above 20 Hz; below it falls away."""
    size = next_fast_len(len(noise), real=True)
    hz = rfftfreq(size, 1 / SAMPLE_RATE)
    gain = (np.maximum(hz, _FLOOR_HZ) / 1000.0) ** (slope_db / (20 * np.log10(2.0)))
    gain[hz < _FLOOR_HZ] = 0.0
    return np.asarray(irfft(rfft(noise, size) * gain, size)[: len(noise)])


def smooth_noise(random: KeyedRandom, n: int, rate_hz: float) -> Signal:
    """A slow random curve within [-1, 1]: points at `rate_hz`, joined by half cosines; float64 [n]."""
    time = np.arange(n) * (rate_hz / SAMPLE_RATE)
    points = white(random, int(time[-1]) + 2) / np.sqrt(3.0)
    left = time.astype(np.int64)
    blend = 0.5 - 0.5 * np.cos(np.pi * (time - left))
    return np.asarray(points[left] * (1 - blend) + points[left + 1] * blend, np.float64)


def phase(hz: Signal) -> Signal:
    """Phase in radians of an oscillator whose frequency is the curve `hz` [n]; it starts at 0."""
    return 2 * np.pi / SAMPLE_RATE * np.concatenate(([0.0], np.cumsum(hz[:-1])))


def make_noise(source: v.Noise, n: int, pitch: float, random: KeyedRandom, body: KeyedRandom) -> Signal:
    """Coloured noise."""
    noise = white(random, n)
    return sloped(noise, source.slope_db.value) if source.slope_db.value else noise


def make_tone(source: v.Tone, n: int, pitch: float, random: KeyedRandom, body: KeyedRandom) -> Signal:
    """Additive synthesis; partials fade out as they approach 18 kHz, so nothing folds back."""
    hz = source.hz.at(n, geometric=True) * pitch
    if source.vibrato.value:
        hz = hz * (1 + source.vibrato.value * np.sin(2 * np.pi * source.vibrato_hz.value / SAMPLE_RATE * np.arange(n)))
    if source.jitter.value:
        hz = hz * (1 + source.jitter.value * smooth_noise(random, n, source.jitter_hz.value))
    angle = phase(hz)
    if not source.partials:
        return _harmonics(angle, hz, source.harmonics, 2 if source.odd else 1, source.tilt_db.value)
    out = np.zeros(n)
    for ratio, gain_db in source.partials:
        if ratio.value * float(hz.min()) < HIGHEST_HZ:
            out += 10 ** (gain_db.value / 20) * _room(ratio.value * hz) * np.sin(ratio.value * angle)
    return out


def _harmonics(angle: Signal, hz: Signal, highest: int, step: int, tilt_db: float) -> Signal:
    """Harmonics 1, 1 + step, ... by sin(a + b) = 2 cos(b) sin(a) - sin(a - b), which costs one product each."""
    turn = 2 * np.cos(step * angle)
    last, wave = np.sin((1 - step) * angle), np.sin(angle)
    out = np.zeros(len(angle))
    for order in range(1, highest + 1, step):
        if order * float(hz.min()) >= HIGHEST_HZ:
            break
        out += 10 ** (tilt_db * np.log2(order) / 20) * _room(order * hz) * wave
        last, wave = wave, turn * wave - last
    return out


def _room(hz: Signal) -> Signal | float:
    """The gain of a partial: 1, falling to 0 within the last 2 kHz."""
    return 1.0 if float(hz.max()) < HIGHEST_HZ - 2000 else np.clip((HIGHEST_HZ - hz) / 2000.0, 0.0, 1.0)


def make_modal(source: v.Modal, n: int, pitch: float, random: KeyedRandom, body: KeyedRandom) -> Signal:
    """The listed modes, struck once."""
    modes = [(source.hz.value * ratio.value * pitch, t60.value, gain.value) for ratio, t60, gain in source.modes]
    return _struck(modes, n, source.strike_ms.value, random)


def make_dense(source: v.Dense, n: int, pitch: float, random: KeyedRandom, body: KeyedRandom) -> Signal:
    """Modes drawn from `body`, which stays the same for all grains of one body."""
    low, high = source.low_hz.value, source.high_hz.value
    modes = []
    for _ in range(round(source.count.value)):
        octave = np.log2(high / low) * body.unit()
        hz = low * 2**octave
        decay = source.decay_s.value * source.damping.value**octave * body.uniform(0.6, 1.2)
        modes.append((hz * pitch, decay, source.tilt_db.value * octave - body.uniform(0, 12)))
    return _struck(modes, n, source.strike_ms.value, random)


def _struck(modes: list[tuple[float, float, float]], n: int, strike_ms: float, random: KeyedRandom) -> Signal:
    out = np.zeros(n)
    for hz, t60, gain_db in modes:
        if hz >= HIGHEST_HZ:
            continue
        # a mode ends where it has fallen by 80 dB: the rest is below a 16-bit step
        length = min(n, max(16, int(t60 * SAMPLE_RATE * 4 / 3)))
        time = np.arange(length) / SAMPLE_RATE
        gain = 10 ** (gain_db / 20) * np.exp(-6.9077552789821 / max(t60, 1e-4) * time)
        out[:length] += gain * np.sin(2 * np.pi * hz * time)
    if strike_ms > 0:
        width = max(2, int(strike_ms * SAMPLE_RATE / 1000))
        pulse = np.hanning(width + 2)[1:-1] * (1 + 0.5 * white(random, width))
        out = fftconvolve(out, pulse)[:n]
    return out


def make_impulses(source: v.Impulses, n: int, pitch: float, random: KeyedRandom, body: KeyedRandom) -> Signal:
    """Clicks at times where the running count of the rate passes the drawn intervals."""
    rate = source.rate_hz.at(n, geometric=True) * pitch
    gains = np.zeros(n)
    for place in _places(rate, source.jitter.value, random):
        gains[place] += 10 ** (-source.spread_db.value * random.unit() / 20)
    if not source.burst_ms.value:
        return gains
    length = max(2, int(source.burst_ms.value * SAMPLE_RATE / 1000))
    decay = np.exp(-6.9 * np.arange(length) / length)
    return np.asarray(white(random, n) * fftconvolve(gains, decay)[:n], np.float64)


def _places(rate: Signal, jitter: float, random: KeyedRandom) -> list[int]:
    count = np.concatenate(([0.0], np.cumsum(rate / SAMPLE_RATE)))
    goals, goal = [], 0.0 if jitter < 1 else -np.log(1 - random.unit())
    while goal < count[-1]:
        goals.append(goal)
        goal += (1 - jitter) - jitter * np.log(1 - random.unit())
    return [int(place) for place in np.searchsorted(count, goals, side="left") if place < len(rate)]


def make_bubbles(source: v.Bubbles, n: int, pitch: float, random: KeyedRandom, body: KeyedRandom) -> Signal:
    """Bubbles at Poisson times; small ones ring higher, shorter and softer."""
    rate = source.rate_hz.at(n, geometric=True)
    low, high = source.low_hz.at(n, geometric=True), source.high_hz.at(n, geometric=True)
    out = np.zeros(n)
    for place in _places(rate, 1.0, random):
        part = random.unit()
        hz = low[place] * (max(high[place] / low[place], 1.0)) ** part * pitch
        decay = source.decay_ms.value / 1000 * (0.4 + 1.2 * random.unit()) * (low[place] / hz) ** 0.5
        length = min(n - place, max(8, int(decay * SAMPLE_RATE)))
        time = np.arange(length) / SAMPLE_RATE
        gain = (low[place] / hz) ** 0.5 * (0.2 + random.unit() ** 3)
        angle = 2 * np.pi * hz * time * (1 + 0.5 * source.rise.value * time / decay)
        out[place : place + length] += gain * np.exp(-6.9 * time / decay) * np.sin(angle)
    return out


Maker = Callable[..., Signal]
MAKERS: dict[type[Record], Maker] = {
    v.Noise: make_noise,
    v.Tone: make_tone,
    v.Modal: make_modal,
    v.Dense: make_dense,
    v.Impulses: make_impulses,
    v.Bubbles: make_bubbles,
}
