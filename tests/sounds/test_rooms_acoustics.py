"""Acoustics of the simulated rooms: delays, reflections, decay, and the tail's end."""

from __future__ import annotations

import math

import numpy as np
import pyroomacoustics
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import butter, sosfilt

from cares.catalog.load import load_catalog
from cares.core.pcm import SAMPLE_RATE
from cares.sounds import rooms_acoustics
from cares.sounds.rooms_acoustics import eyring_absorption, quantised, simulate
from cares.sounds.rooms_bands import MID_BANDS
from cares.sounds.rooms_decay import decay_seconds
from cares.sounds.rooms_geometry import SPEED_OF_SOUND, draw_layout
from cares.sounds.rooms_materials import ground_absorption

LOCATIONS = load_catalog().locations
UNIT = 1 << 20


@pytest.mark.parametrize("flight", [129, 400])
def test_the_simulator_delays_as_much_as_is_removed(flight: int) -> None:
    distance = flight * SPEED_OF_SOUND / SAMPLE_RATE
    room = pyroomacoustics.AnechoicRoom(3, fs=SAMPLE_RATE)
    room.add_source([0.0, 0.0, 0.0])
    room.add_microphone([distance, 0.0, 0.0])
    pyroomacoustics.constants.set("rir_hpf_enable", False)
    room.compute_rir()
    response = room.rir[0][0]
    lead = pyroomacoustics.constants.get("frac_delay_length") // 2 + flight
    assert int(np.argmax(np.abs(response))) == lead
    assert response[lead] * distance == pytest.approx(1.0, abs=1e-3)


def test_outdoors_the_ground_reflects_where_and_as_much_as_it_should() -> None:
    layout = draw_layout(LOCATIONS["beach"], "beach-train", 2, 5)
    simulated = simulate(layout, LOCATIONS["beach"], 1.0)
    assert simulated is not None
    absorbed = ground_absorption(LOCATIONS["beach"], layout.ground_exponent)
    assert absorbed[0] < absorbed[-1]
    for source, response in zip(layout.sources, simulated.responses, strict=True):
        direct = math.dist(source.place, layout.listener)
        mirrored = (*source.place[:2], -source.place[2])
        path = math.dist(mirrored, layout.listener)
        arrival = (path - direct) / SPEED_OF_SOUND * SAMPLE_RATE
        peak = 64 + int(np.argmax(np.abs(response[64:])))
        assert abs(peak - arrival) <= 1
        heard = math.sqrt(float(np.square(response[peak - 40 : peak + 41]).sum()))
        weakest, strongest = (math.sqrt(1 - absorbed[band]) * direct / path for band in (-1, 0))
        assert 0.9 * weakest < heard < strongest
        assert np.abs(response[peak + 400 :]).max(initial=0.0) < 0.03


@pytest.mark.parametrize("name", ["car", "shopping_mall", "train_station"])
def test_measured_reverberation_is_the_aimed_one(name: str) -> None:
    layout = draw_layout(LOCATIONS[name], f"{name}-test", 3, 11)
    simulated = simulate(layout, LOCATIONS[name], 2.5)
    assert simulated is not None
    measured = float(np.mean([simulated.bands_seconds[band] for band in MID_BANDS]))
    assert measured == pytest.approx(layout.rt60_ms / 1000, rel=0.05)
    assert len({round(seconds, 3) for seconds in simulated.bands_seconds}) > 3


def test_a_room_of_one_kind_of_wall_is_that_of_the_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = draw_layout(LOCATIONS["office"], "office-test", 1, 2)
    monkeypatch.setattr(rooms_acoustics, "indoor_absorption", lambda *_: np.full((6, 8), 0.4))
    monkeypatch.setattr(rooms_acoustics, "AIR_PER_M", np.zeros(8))
    monkeypatch.setattr(rooms_acoustics, "_fit", lambda *_: 1.0)
    monkeypatch.setattr(rooms_acoustics, "_ROUNDS", 1)
    simulated = simulate(layout, LOCATIONS["office"], 1.0)
    assert simulated is not None
    pyroomacoustics.constants.set("rir_hpf_enable", False)
    room = pyroomacoustics.ShoeBox(
        layout.size_m, fs=SAMPLE_RATE, materials=pyroomacoustics.Material(0.4), max_order=12
    )  # fmt: skip
    room.add_source(layout.sources[0].place)
    room.add_microphone(layout.listener)
    room.compute_rir()
    lead = pyroomacoustics.constants.get("frac_delay_length") // 2 + layout.sources[0].flight_samples
    theirs = room.rir[0][0][lead:] * layout.sources[0].flight_samples * SPEED_OF_SOUND / SAMPLE_RATE
    ours = simulated.responses[0]
    n = min(1500, len(ours), len(theirs))
    high_pass = butter(2, 40.0, "highpass", fs=SAMPLE_RATE, output="sos")
    theirs[0] -= 1
    difference = ours[64:n] - sosfilt(high_pass, theirs)[64:n]
    assert np.square(difference).sum() < 0.01 * np.square(ours[64:n]).sum()


@given(seconds=st.floats(0.05, 2.4), decibels=st.floats(30, 60))
@settings(max_examples=40, deadline=None)
def test_decay_of_an_exponential_even_when_it_is_cut(seconds: float, decibels: float) -> None:
    times = np.arange(round(seconds * decibels / 60 * SAMPLE_RATE)) / SAMPLE_RATE
    energy = 10 ** (-6 * times / seconds)
    assert decay_seconds(energy, 0) == pytest.approx(seconds, rel=0.02)


def test_decay_of_too_little_is_not_a_number_of_seconds() -> None:
    assert math.isinf(decay_seconds(np.ones(1000), 0))
    assert decay_seconds(np.zeros(1000), 0) == 0
    assert decay_seconds(np.eye(1, 1000)[0], 0) == 0


@given(name=st.sampled_from(sorted(LOCATIONS)), seconds=st.floats(0.02, 3))
@settings(max_examples=40, deadline=None)
def test_eyring_stays_within_reach_where_sabine_does_not(name: str, seconds: float) -> None:
    layout = draw_layout(LOCATIONS[name], f"{name}-train", 1, 0)
    assert 0 < eyring_absorption(layout, seconds) <= 1


@pytest.mark.parametrize("max_seconds", [0.05, 0.3, 1.0])
def test_the_tail_is_faded_and_cut(max_seconds: float) -> None:
    times = np.arange(2 * SAMPLE_RATE) / SAMPLE_RATE
    response = np.cos(times * 5000) * 10 ** (-3 * times / 0.4)
    response[0] = 1.0
    taps = quantised(response, max_seconds)
    assert taps.dtype == np.int32
    assert taps[0] == UNIT
    assert len(taps) <= max_seconds * SAMPLE_RATE
    assert np.abs(taps[-20:]).max() < UNIT / 1000
    if max_seconds > 0.4:
        exact = np.rint(response * UNIT)
        lost = exact - np.pad(taps, (0, len(exact) - len(taps)))
        assert np.square(lost).sum() <= 1.01e-6 * np.square(exact).sum()
