"""Impulse responses of a drawn room by the image-source method.

J. B. Allen and D. A. Berkley, "Image method for efficiently simulating small-room acoustics", JASA 65 (1979), as
implemented by pyroomacoustics. Its image sources are used without ray tracing or displaced images, both of which draw
random numbers, and on one thread, whose order of summation is fixed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyroomacoustics
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt

from cares.core.pcm import SAMPLE_RATE
from cares.sounds.rooms_decay import decay_seconds
from cares.sounds.rooms_geometry import SPEED_OF_SOUND, Layout

FRACTION_BITS = 20
_MAX_ORDER = 150
_OUTDOOR_ORDER = 3
_HIGH_PASS_HZ = 40.0
_SILENT_ENERGY = 1e-6
_WALLS = ("west", "east", "south", "north", "floor", "ceiling")
_ABSORPTIONS = (0.002, *(step / 20 for step in range(1, 20)))
_HALVINGS = 10


def simulate(layout: Layout, outdoor: bool, max_seconds: float) -> tuple[list[NDArray[np.float64]], float] | None:
    """Responses [T] of the layout's sources, direct sound 1.0 at sample 0, and the walls' energy absorption.

    None when no absorption gives a room of this size the aimed reverberation time.

    Indoors all six sides absorb alike, and by so much that the decay of the images has the aimed reverberation time.
    Outdoors there is no such decay: the sky absorbs everything, the sides nearly so, and the ground reflects.

    """
    aimed = layout.rt60_ms / 1000
    # a decay slower than the longest response is followed far enough for its T20 to be measured
    seconds = max(min(aimed, max_seconds), 0.55 * aimed, 0.05)
    order = _OUTDOOR_ORDER if outdoor else _image_order(layout, seconds)
    absorption = eyring_absorption(layout, aimed)
    room = _shoebox(layout, dict.fromkeys(_WALLS, absorption) | _open_air(layout, outdoor), order)
    images = room.sources[0]
    distances = [np.linalg.norm(images.images - place[:, None], axis=0) for place in room.mic_array.R.T]
    visible = [(images.orders > 0) & (distance < seconds * SPEED_OF_SOUND) for distance in distances]
    if not outdoor:
        heard = visible[-1]
        fitted = _fit_absorption(layout, images.orders[heard], distances[-1][heard], seconds)
        if fitted is None:
            return None
        absorption = fitted
        images.damping = ((1 - absorption) ** (images.orders / 2)).astype(np.float32)[None]
    room.visibility = [np.stack(visible)]
    room.compute_rir()
    return [
        _aligned(reflections, source.flight_samples)
        for reflections, source in zip(room.rir_by_source, layout.sources, strict=True)
    ], absorption


def eyring_absorption(layout: Layout, rt60_seconds: float) -> float:
    """The energy absorption that gives a box this reverberation time by Eyring's formula; always within (0, 1).

    C. F. Eyring, "Reverberation time in dead rooms", JASA 1 (1930). Sabine's formula would ask an open-air box for
    walls that absorb more than all.
    """
    length, width, height = layout.size_m
    surface = 2 * (length * width + length * height + width * height)
    exponent = 24 * math.log(10) / SPEED_OF_SOUND * length * width * height / (surface * rt60_seconds)
    return -math.expm1(-exponent)


def measured_seconds(response: NDArray[np.float64], layout: Layout) -> float:
    """Broadband T20 in seconds of a response [T], from five hundredths of the aimed reverberation time on.

    Walls absorb all frequencies alike, so that no band has a time of its own.
    """
    return decay_seconds(np.square(response), _late_start(layout))


def direct_to_reverberant_db(response: NDArray[np.float64]) -> float:
    """Energy of the direct sound against that of all that follows, in decibels."""
    return -10 * math.log10(float(np.square(response[1:]).sum()) / response[0] ** 2)


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


def _image_order(layout: Layout, seconds: float) -> int:
    """The order whose octahedron of mirrored rooms encloses all that is heard in `seconds`, within the bound."""
    per_metre = math.sqrt(sum(side**-2 for side in layout.size_m))
    return min(_MAX_ORDER, math.ceil(seconds * SPEED_OF_SOUND * per_metre))


def _open_air(layout: Layout, outdoor: bool) -> dict[str, float]:
    return {"floor": layout.ground_absorption, "ceiling": 1.0} if outdoor else {}


def _shoebox(layout: Layout, absorptions: dict[str, float], order: int) -> Any:
    """The simulator's room with its images computed: listener and sources change places, so one set serves all."""
    pyroomacoustics.constants.set("num_threads", 1)
    # its high-pass runs forwards and backwards, and so would ring before the direct sound
    pyroomacoustics.constants.set("rir_hpf_enable", False)
    pyroomacoustics.constants.set("c", SPEED_OF_SOUND)
    room = _Room(
        layout.size_m,
        fs=SAMPLE_RATE,
        materials={wall: pyroomacoustics.Material(value) for wall, value in absorptions.items()},
        max_order=order,
    )
    room.add_source(layout.listener)
    room.add_microphone_array(np.array([source.place for source in layout.sources]).T)
    room.image_source_model()
    return room


class _Room(pyroomacoustics.ShoeBox):  # type: ignore[misc]
    """A shoebox whose single source is the listener."""

    @property
    def rir_by_source(self) -> list[NDArray[np.float32]]:
        return [responses[0] for responses in self.rir]


def _fit_absorption(
    layout: Layout, orders: NDArray[np.int32], distances: NDArray[np.float32], seconds: float
) -> float | None:
    """The absorption with which the images' energies decay as aimed, to four decimals; None when none does.

    Eyring's formula assumes a diffuse field, which long or flat boxes do not have: the images tell.
    """
    aimed = layout.rt60_ms / 1000
    flight = float(distances.min()) / SPEED_OF_SOUND
    samples = ((distances / SPEED_OF_SOUND - flight) * SAMPLE_RATE).astype(np.int64)
    spread = 1 / np.square(distances.astype(np.float64))
    length = round((seconds - flight) * SAMPLE_RATE)
    powers = np.arange(int(orders.max()) + 1)

    def decay(absorption: float) -> float:
        energies = ((1 - absorption) ** powers)[orders] * spread
        echogram = np.bincount(samples, energies, length).astype(np.float64)
        return decay_seconds(echogram[:length], _late_start(layout))

    # a search from below: near full absorption few images are left, and their decay grows again
    above = next((index for index, value in enumerate(_ABSORPTIONS) if decay(value) < aimed), 0)
    if above == 0:
        return None
    low, high = _ABSORPTIONS[above - 1 : above + 1]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if decay(middle) > aimed else (low, middle)
    return round((low + high) / 2, 4)


def _late_start(layout: Layout) -> int:
    return layout.rt60_ms * SAMPLE_RATE // 20_000


def _aligned(reflections: NDArray[np.float32], flight_samples: int) -> NDArray[np.float64]:
    """Reflections of the simulator, without its filter's delay and the time of flight, after a direct sound of 1.0.

    The simulator gives a direct sound the gain 1 / distance. The high-pass removes the offset that images of one sign
    add up to (Allen and Berkley, 1979); it is causal, so nothing is heard before a reflection, and leaves the direct
    sound alone.
    """
    lead = pyroomacoustics.constants.get("frac_delay_length") // 2 + flight_samples
    distance = flight_samples * SPEED_OF_SOUND / SAMPLE_RATE
    high_pass = butter(2, _HIGH_PASS_HZ, "highpass", fs=SAMPLE_RATE, output="sos")
    response: NDArray[np.float64] = sosfilt(high_pass, reflections[lead:].astype(np.float64) * distance)
    response[0] = 1.0
    return response
