"""Impulse responses of a drawn room by the image-source method.

J. B. Allen and D. A. Berkley, "Image method for efficiently simulating small-room acoustics", JASA 65 (1979). The
images are those of pyroomacoustics, without ray tracing or displaced images, both of which draw random numbers.
Responses are rendered from them here rather than by the simulator: eight bands cost it eight responses, and the walls
are fitted to the aimed reverberation time in between; the tests compare the two.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyroomacoustics
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt

from cares.catalog.types import Location
from cares.core.pcm import SAMPLE_RATE
from cares.sounds.rooms_bands import AIR_PER_M, BANDS_HZ, MID_BANDS, band_energies, direct_taps, render
from cares.sounds.rooms_decay import decay_seconds, in_steps
from cares.sounds.rooms_geometry import SPEED_OF_SOUND, Layout
from cares.sounds.rooms_materials import WALLS, ground_absorption, indoor_absorption

FRACTION_BITS = 20
_MAX_ORDER = 150
_OUTDOOR_ORDER = 3
_HIGH_PASS_HZ = 40.0
_SILENT_ENERGY = 1e-6
_EXPONENTS = tuple(0.02 * 2 ** (step / 2) for step in range(25))
_HALVINGS = 10
_STEP = 10
_TAIL = 1.1
_ROUNDS, _NEAR = 3, 0.03


class Simulated(NamedTuple):
    """Responses [T] of a layout's sources with their direct sound at sample 0, and how the walls were fitted.

    bands_seconds: median T20 of the responses in the octaves from 125 Hz to 8 kHz; () outdoors.
    exponent: energy that a surface reflects is that of its material to this power.
    """

    responses: list[NDArray[np.float64]]
    direct_to_reverberant_db: list[float]
    bands_seconds: tuple[float, ...]
    exponent: float


def simulate(layout: Layout, location: Location, max_seconds: float) -> Simulated | None:
    """Responses of the layout's sources; the direct sound is 1 at 0 Hz, less what air takes at high frequencies.

    Indoors the surfaces are those of the location's materials, all made more or less absorbing by one exponent, with
    which the responses have the aimed reverberation time, the mean T20 of the octaves at 500 Hz and 1 kHz. It is found
    from the energies of the images, and corrected by what is then measured; None when none gives it.
    Outdoors there is no such decay: the sky absorbs everything, the sides nearly so, and the ground reflects.
    """
    outdoor, aimed = location.room.kind == "outdoor", layout.rt60_ms / 1000
    # a decay slower than the longest response is followed far enough for its T20 to be measured
    seconds = max(min(_TAIL * aimed, max_seconds), 0.55 * aimed, 0.05)
    images, damping = _images(layout, location, _OUTDOOR_ORDER if outdoor else _image_order(layout, seconds))
    length = round(seconds * SAMPLE_RATE)
    heard = [
        _Heard.of(images, damping, np.array(source.place), source.flight_samples, seconds) for source in layout.sources
    ]
    if outdoor:
        return _rendered(heard, 1.0, length, 0)
    exponent = _fit(layout, heard[-1], seconds)
    if exponent is None:
        return None
    made = [_rendered(heard, exponent, length, layout.rt60_ms)]
    while (error := _mid(made[-1]) / aimed - 1) and abs(error) > _NEAR and len(made) < _ROUNDS:
        if math.isinf(error):
            break
        # reverberation time goes about inversely with the exponent
        made.append(_rendered(heard, round(made[-1].exponent * (1 + error), 4), length, layout.rt60_ms))
    return min(made, key=lambda each: abs(_mid(each) / aimed - 1))


def _rendered(heard: Sequence[_Heard], exponent: float, length: int, rt60_ms: int) -> Simulated:
    directs = [direct_taps(each.direct) for each in heard]
    rests = [_reflections(each, exponent, length) for each in heard]
    responses = [_sum(direct, rest) for direct, rest in zip(directs, rests, strict=True)]
    ratios = [ratio_db(direct, rest) for direct, rest in zip(directs, rests, strict=True)]
    bands = [measured_seconds(response, rt60_ms) for response in responses] if rt60_ms else []
    return Simulated(responses, ratios, tuple(map(statistics.median, zip(*bands, strict=True))), exponent)


def _mid(simulated: Simulated) -> float:
    return statistics.fmean(simulated.bands_seconds[band] for band in MID_BANDS)


def eyring_absorption(layout: Layout, rt60_seconds: float) -> float:
    """The energy absorption that gives a box this reverberation time by Eyring's formula; always within (0, 1).

    C. F. Eyring, "Reverberation time in dead rooms", JASA 1 (1930). Sabine's formula would ask an open-air box for
    walls that absorb more than all.
    """
    length, width, height = layout.size_m
    surface = 2 * (length * width + length * height + width * height)
    exponent = 24 * math.log(10) / SPEED_OF_SOUND * length * width * height / (surface * rt60_seconds)
    return -math.expm1(-exponent)


def measured_seconds(response: NDArray[np.float64], rt60_ms: int) -> list[float]:
    """T20 in seconds of a response [T] in the octaves from 125 Hz to 8 kHz.

    It is measured from five hundredths of the aimed reverberation time on; infinite where the fall is too small.
    """
    start = _late_start(rt60_ms)
    energies = band_energies(response, len(BANDS_HZ) - 1)
    return [decay_seconds(in_steps(energy, _STEP), start, SAMPLE_RATE / _STEP) for energy in energies]


def ratio_db(direct: NDArray[np.float64], rest: NDArray[np.float64]) -> float:
    """Energy of the direct sound against that of the rest in decibels, at most 99."""
    direct_energy, energy = float(np.square(direct).sum()), float(np.square(rest).sum())
    return 99.0 if energy <= direct_energy * 10**-9.9 else 10 * math.log10(direct_energy / energy)


def quantised(response: NDArray[np.float64], max_seconds: float) -> NDArray[np.int32]:
    """Cut where less than -60 dB of the response's energy is left, fade, and round to 20 fractional bits: int32 [n]."""
    limit = round(max_seconds * SAMPLE_RATE)
    rest = np.cumsum(np.square(response)[::-1])[::-1]
    audible = int(np.count_nonzero(rest > _SILENT_ENERGY * rest[0]))
    fade = min(max(audible // 20, 64), SAMPLE_RATE // 20)
    end = min(audible + fade, limit)
    cut = np.zeros(end)
    kept = min(end, len(response))
    cut[:kept] = response[:kept]
    steps = (np.arange(fade) + 1) / (fade + 1)
    cut[end - fade :] *= 0.5 + 0.5 * np.cos(np.pi * steps)
    whole = np.rint(cut * 2**FRACTION_BITS)
    if np.abs(whole).max() >= 2**31:
        raise OverflowError("an impulse response exceeds 32 bits")
    return np.trim_zeros(whole.astype(np.int32), "b")


class _Heard(NamedTuple):
    """Reflections at one place: distances [N], that of the direct sound, ln of wall reflection in bands [8, N]."""

    distances: NDArray[np.float64]
    direct: float
    walls: NDArray[np.float64]

    @classmethod
    def of(
        cls, images: Any, damping: NDArray[np.float32], place: NDArray[np.float64], flight: int, seconds: float
    ) -> _Heard:
        x, y, z = (images.images[axis] - place[axis] for axis in range(3))
        distances = np.sqrt(np.square(x, dtype=np.float64) + np.square(y) + np.square(z))
        direct = flight * SPEED_OF_SOUND / SAMPLE_RATE
        kept = (images.orders > 0) & (distances < direct + seconds * SPEED_OF_SOUND) & (damping > 0).all(0)
        return cls(distances[kept], direct, np.log(damping[:, kept].astype(np.float64)))

    @property
    def delays(self) -> NDArray[np.float64]:
        """Samples after the direct sound [N]."""
        return np.maximum((self.distances - self.direct) * (SAMPLE_RATE / SPEED_OF_SOUND), 0.0)

    def gains(self, exponent: float, band: int) -> NDArray[np.float64]:
        """Amplitude in a band against the direct sound's [N]; air is counted from the first metre on."""
        air = AIR_PER_M[band] * np.maximum(self.distances - 1.0, 0.0)
        return np.asarray(np.exp(exponent * self.walls[band] - air) * (self.direct / self.distances), np.float64)


def _image_order(layout: Layout, seconds: float) -> int:
    """The order whose octahedron of mirrored rooms encloses all that is heard in `seconds`, within the bound."""
    per_metre = math.sqrt(sum(side**-2 for side in layout.size_m))
    return min(_MAX_ORDER, math.ceil(seconds * SPEED_OF_SOUND * per_metre))


def _images(layout: Layout, location: Location, order: int) -> tuple[Any, NDArray[np.float32]]:
    """The simulator's images and their amplitudes by wall reflection in bands [8, N].

    Listener and sources change places, so that one set of images serves all.
    """
    if location.room.kind == "outdoor":
        sides = np.full(len(BANDS_HZ), eyring_absorption(layout, layout.rt60_ms / 1000))
        ground = ground_absorption(location, layout.ground_exponent)
        absorption = np.stack([*[sides] * 4, ground, np.ones(len(BANDS_HZ))])
    else:
        absorption = indoor_absorption(location, layout.size_m)
    pyroomacoustics.constants.set("num_threads", 1)
    pyroomacoustics.constants.set("c", SPEED_OF_SOUND)
    materials = {
        wall: pyroomacoustics.Material({"coeffs": list(values), "center_freqs": list(BANDS_HZ), "description": wall})
        for wall, values in zip(WALLS, absorption, strict=True)
    }
    room = pyroomacoustics.ShoeBox(layout.size_m, fs=SAMPLE_RATE, materials=materials, max_order=order)
    room.add_source(layout.listener)
    room.add_microphone_array(np.array([source.place for source in layout.sources]).T)
    room.image_source_model()
    images = room.sources[0]
    return images, images.damping


def _fit(layout: Layout, heard: _Heard, seconds: float) -> float | None:
    """The exponent with which the images' energies at 500 Hz and 1 kHz decay as aimed; None when none does.

    Eyring's formula assumes a diffuse field, which long or flat boxes do not have: the images tell.
    """
    aimed, start = layout.rt60_ms / 1000, _late_start(layout.rt60_ms)
    places = (heard.delays / _STEP).astype(np.int64)
    count = math.ceil(seconds * SAMPLE_RATE / _STEP)

    def decay(exponent: float) -> float:
        echograms = (np.bincount(places, np.square(heard.gains(exponent, band)), count) for band in MID_BANDS)
        return math.fsum(
            decay_seconds(echogram[:count].astype(np.float64), start, SAMPLE_RATE / _STEP) for echogram in echograms
        ) / len(MID_BANDS)

    # a search from below: near full absorption few images are left, and their decay grows again
    above = next((index for index, value in enumerate(_EXPONENTS) if decay(value) < aimed), 0)
    if above == 0:
        return None
    low, high = _EXPONENTS[above - 1 : above + 1]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if decay(middle) > aimed else (low, middle)
    return round((low + high) / 2, 4)


def _late_start(rt60_ms: int) -> int:
    """Where the late field starts, in steps."""
    return rt60_ms * SAMPLE_RATE // (20_000 * _STEP)


def _reflections(heard: _Heard, exponent: float, length: int) -> NDArray[np.float64]:
    """All but the direct sound of one source [length].

    The high-pass removes the offset that images of one sign add up to (Allen and Berkley, 1979); it is causal, so
    nothing is heard before a reflection, and leaves the direct sound alone.
    """
    gains = np.stack([heard.gains(exponent, band) for band in range(len(BANDS_HZ))])
    high_pass = butter(2, _HIGH_PASS_HZ, "highpass", fs=SAMPLE_RATE, output="sos")
    return np.asarray(sosfilt(high_pass, render(heard.delays, gains, length)), np.float64)


def _sum(direct: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.float64]:
    out = rest.copy()
    kept = min(len(direct), len(out))
    out[:kept] += direct[:kept]
    return out
