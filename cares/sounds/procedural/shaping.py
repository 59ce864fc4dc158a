"""What shapes a grain: envelopes, swings of the gain, and filters. Signals are float64 [n] at 44.1 kHz."""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft, rfftfreq
from scipy.signal import butter, fftconvolve, sosfilt

from cares.core.pcm import SAMPLE_RATE
from cares.core.rng import KeyedRandom
from cares.sounds.procedural import shapes
from cares.sounds.procedural.generators import sloped, smooth_noise, white
from cares.sounds.procedural.numbers import waveform
from cares.sounds.signal import Signal

_FRAME = 1024
_HOP = _FRAME // 4


def envelope(shape: shapes.Envelope, n: int) -> Signal:
    """The gain of a grain over its n samples."""
    time = np.arange(n) / SAMPLE_RATE
    gain = np.ones(n) if shape.curve is None else shape.curve.at(n)
    attack = min(shape.attack_s.value, n / SAMPLE_RATE / 2)
    if attack * SAMPLE_RATE >= 1:
        gain = gain * np.minimum(1.0, time / attack)
    if shape.decay_s is not None:
        since = np.maximum(0.0, time - attack - shape.hold_s.value)
        gain = gain * np.exp(-6.9077552789821 * since / max(shape.decay_s.value, 1e-3))
    release = min(shape.release_s.value, n / SAMPLE_RATE / 2)
    if release * SAMPLE_RATE >= 1:
        gain = gain * np.minimum(1.0, time[::-1] / release)
    return gain


def tremolo(swing: shapes.Tremolo, n: int, random: KeyedRandom) -> Signal:
    """The gain of a periodic swing; square edges are rounded so that they do not click."""
    cycles = np.cumsum(swing.hz.at(n, geometric=True)) / SAMPLE_RATE
    wave = waveform(swing.shape, cycles + random.unit() if swing.shape == "sine" else cycles)
    if swing.shape != "sine":
        window = np.hanning(90)
        wave = np.clip(fftconvolve(wave, window / window.sum())[:n], 0.0, 1.0)
    return np.asarray(1.0 - swing.depth.value * wave, np.float64)


def wander(swing: shapes.Wander, n: int, random: KeyedRandom) -> Signal:
    """The gain of a random swing, evenly spread in decibels."""
    return 10 ** (swing.depth_db.value * (smooth_noise(random, n, swing.rate_hz.value) - 1) / 40)


def apply_filter(signal: Signal, kind: shapes.Filter) -> Signal:
    """The signal after one filter; ringing beyond its end is cut."""
    if isinstance(kind, (shapes.Formants, shapes.Sweep)):
        return _moving(signal, kind)
    if isinstance(kind, shapes.Peak):
        return np.asarray(sosfilt(_peak(kind), signal))
    nyquist = SAMPLE_RATE / 2
    if isinstance(kind, shapes.Bandpass):
        low, high = sorted((kind.low_hz.value, kind.high_hz.value))
        edges: object = [low / nyquist, max(high, low * 1.02) / nyquist]
        return np.asarray(sosfilt(butter(kind.order, edges, "bandpass", output="sos"), signal))
    return np.asarray(sosfilt(butter(kind.order, kind.hz.value / nyquist, kind.kind, output="sos"), signal))


def _peak(kind: shapes.Peak) -> Signal:
    amplitude = 10 ** (kind.gain_db.value / 40)
    omega = 2 * np.pi * kind.hz.value / SAMPLE_RATE
    alpha = np.sin(omega) / (2 * kind.q.value)
    top = np.array([1 + alpha * amplitude, -2 * np.cos(omega), 1 - alpha * amplitude])
    bottom = np.array([1 + alpha / amplitude, -2 * np.cos(omega), 1 - alpha / amplitude])
    return np.asarray(np.concatenate((top, bottom))[None, :] / bottom[0], np.float64)


def _moving(signal: Signal, kind: shapes.Formants | shapes.Sweep) -> Signal:
    """Short-time Fourier filter: frames of 1024 samples at a quarter's hop, Hann windowed twice."""
    n = len(signal)
    frames = n // _HOP + 4
    padded = np.concatenate((np.zeros(_FRAME - _HOP), signal, np.zeros(_FRAME + frames * _HOP - n)))
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FRAME) / _FRAME)
    starts = np.arange(frames) * _HOP
    spectra = rfft(padded[starts[:, None] + np.arange(_FRAME)] * window, axis=1)
    spectra *= _gains(kind, np.clip((starts - _FRAME // 2 + _HOP) / max(n - 1, 1), 0, 1))
    pieces = irfft(spectra, _FRAME, axis=1) * window
    out = np.zeros(len(padded))
    for start, piece in zip(starts, pieces, strict=True):
        out[start : start + _FRAME] += piece
    return np.asarray(out[_FRAME - _HOP :][:n] / 1.5, np.float64)


def _gains(kind: shapes.Formants | shapes.Sweep, times: Signal) -> Signal:
    """Gains [frames, bins] at relative times [frames]."""
    hz = rfftfreq(_FRAME, 1 / SAMPLE_RATE)[None, :]
    grid = 2000
    index = np.round(times * (grid - 1)).astype(np.int64)
    if isinstance(kind, shapes.Sweep):
        low = kind.low_hz.at(grid, geometric=True)[index][:, None]
        high = kind.high_hz.at(grid, geometric=True)[index][:, None]
        return np.asarray(1 / ((1 + (low / np.maximum(hz, 1.0)) ** 2) * (1 + (hz / high) ** 2)), np.float64)
    total = np.full((len(times), hz.shape[1]), 10 ** (kind.floor_db.value / 20))
    for peak in kind.peaks:
        centre = peak.hz.at(grid, geometric=True)[index][:, None]
        distance = (hz - centre) / (peak.width_hz.value / 2)
        total = total + 10 ** (peak.gain_db.value / 20) / (1 + distance**2)
    return np.asarray(total, np.float64)


def tail(signal: Signal, kind: shapes.Tail, random: KeyedRandom) -> Signal:
    """The signal and its reverberation, longer by the tail's decay."""
    length = max(8, int(kind.decay_s.value * SAMPLE_RATE))
    noise = sloped(white(random, length), -1.5) * np.exp(-6.9 * np.arange(length) / length)
    noise = apply_filter(noise, shapes.Lowpass(kind="lowpass", hz=kind.high_hz))
    size = next_fast_len(len(signal) + length, real=True)
    wet = irfft(rfft(signal, size) * rfft(noise, size), size)[: len(signal) + length]
    out = np.concatenate((signal, np.zeros(length)))
    peak = float(np.abs(wet).max())
    gain = 10 ** (kind.gain_db.value / 20) * float(np.abs(signal).max()) / peak if peak else 0.0
    return np.asarray(out + gain * wet, np.float64)
