"""Octave bands: air after the standard's table, filters that lose nothing, reflections where they belong, materials."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE
from cares.sounds.rooms_acoustics import measured_seconds
from cares.sounds.rooms_bands import BANDS_HZ, air_absorption_db_per_m, direct_taps, render, weights
from cares.sounds.rooms_materials import ground_absorption, indoor_absorption, load_materials, surface_names

LOCATIONS = load_catalog().locations


# ISO 9613-2:1996, table 2: decibels per kilometre in the octaves from 125 Hz to 8 kHz, calculated by ISO 9613-1
@pytest.mark.parametrize(
    ("celsius", "humidity", "expected"),
    [
        (10, 70, [0.4, 1.0, 1.9, 3.7, 9.7, 32.8, 117.0]),
        (20, 70, [0.3, 1.1, 2.8, 5.0, 9.0, 22.9, 76.6]),
        (15, 20, [0.6, 1.2, 2.7, 8.2, 28.2, 88.8, 202.0]),
        (15, 80, [0.3, 1.1, 2.4, 4.1, 8.3, 23.7, 82.8]),
    ],
)
def test_air_absorbs_as_the_standard_says(celsius: float, humidity: float, expected: list[float]) -> None:
    for hz, per_km in zip(BANDS_HZ, expected, strict=False):
        assert 1000 * air_absorption_db_per_m(hz, celsius, humidity) == pytest.approx(per_km, rel=0.06, abs=0.06)


def test_the_bands_add_up_to_everything() -> None:
    share = weights(np.linspace(0, SAMPLE_RATE / 2, 500))
    assert np.allclose(share.sum(0), 1)
    assert np.all(share >= 0)
    assert np.allclose(weights(np.array(BANDS_HZ, np.float64)), np.eye(len(BANDS_HZ)))


@given(places=st.lists(st.integers(0, 9000), min_size=1, max_size=6, unique=True), gain=st.floats(0.1, 1))
@settings(max_examples=20, deadline=None)
def test_equal_bands_are_a_plain_impulse_early_and_late(places: list[int], gain: float) -> None:
    gains = np.full((len(BANDS_HZ), len(places)), gain)
    expected = np.zeros(9000)
    for place in places:
        if place < len(expected):
            expected[place] += gain
    assert np.allclose(render(np.array(places, np.float64), gains, 9000), expected, atol=1e-9)


def test_a_reflection_between_two_samples_keeps_its_time() -> None:
    out = render(np.array([1000.5]), np.ones((len(BANDS_HZ), 1)), 4000)
    assert out[1000] == pytest.approx(out[1001], rel=1e-6)
    assert np.square(out).sum() == pytest.approx(1, abs=0.01)


def test_what_comes_before_the_direct_sound_is_small() -> None:
    gains = np.linspace(1, 0.3, len(BANDS_HZ))[:, None]
    out = render(np.array([300.0]), gains, 2000)
    assert np.argmax(np.abs(out)) == 300
    assert np.abs(out[:40]).max() < 0.003 * out[300]


@pytest.mark.parametrize("distance", [0.5, 1.0, 3.0, 8.0, 40.0])
def test_the_direct_sound_is_causal_and_loses_what_air_takes(distance: float) -> None:
    taps = direct_taps(distance)
    assert np.argmax(np.abs(taps)) == 0
    size = 8192
    spectrum = np.abs(np.fft.rfft(taps, size))
    for hz in (1000, 8000):
        expected = -air_absorption_db_per_m(hz) * max(0.0, distance - 1)
        found = 20 * np.log10(spectrum[round(hz * size / SAMPLE_RATE)])
        assert found == pytest.approx(expected, abs=0.15)


def test_bands_of_a_decay_are_measured_apart() -> None:
    rng, times = np.random.default_rng(1), np.arange(SAMPLE_RATE) / SAMPLE_RATE
    hz = np.fft.rfftfreq(SAMPLE_RATE, 1 / SAMPLE_RATE)
    response = np.zeros(SAMPLE_RATE)
    for centre, seconds in ((500, 0.8), (4000, 0.3)):
        noise = np.fft.rfft(rng.normal(size=SAMPLE_RATE))
        noise[(hz < centre / 2**0.5) | (hz > centre * 2**0.5)] = 0
        response += np.fft.irfft(noise) * 10 ** (-3 * times / seconds)
    found = measured_seconds(response, 400)
    assert found[2] == pytest.approx(0.8, rel=0.1)
    assert found[5] == pytest.approx(0.3, rel=0.1)


@pytest.mark.parametrize("name", sorted(LOCATIONS))
def test_every_location_has_materials(name: str) -> None:
    location = LOCATIONS[name]
    if location.room.kind == "outdoor":
        more, less = ground_absorption(location, 1.5), ground_absorption(location, 0.5)
        assert np.all((less > 0) & (less < more) & (more < 1))
    else:
        assert len(surface_names(location)) == 6
        absorption = indoor_absorption(location, (5.0, 4.0, 3.0))
        assert absorption.shape == (6, len(BANDS_HZ))
        assert np.all((absorption > 0) & (absorption < 1))
        assert np.ptp(absorption.mean(0)) > 0.01


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("floor: carpet_thin", "floor: cheese", "indoors.home_indoor"),
        ("beach: sand", "beach: lava", "outdoors.beach"),
        ("  car:\n    floor: carpet_hairy\n", "  car:\n", "indoors.car.floor"),
        ("0.02, 0.03, 0.03, 0.03, 0.03, 0.02", "0.02, 0.03", "ground.asphalt"),
        ("0.02, 0.03, 0.03, 0.03, 0.03, 0.02", "0.02, 0.03, 0.03, 0.03, 0.03, 2", "ground.asphalt.5"),
        ("outdoors:", "outside: 1\noutdoors:", "outside"),
    ],
)
def test_a_wrong_material_is_named(tmp_path: Path, old: str, new: str, field: str) -> None:
    text = (Path(__file__).parents[2] / "cares/catalog/materials.yaml").read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "materials.yaml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_materials(file)
    assert caught.value.field == field


def test_a_location_without_materials_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "materials.yaml"
    file.write_text("ground: {}\nindoors: {}\noutdoors: {}\n", encoding="utf-8")
    for name, field in (("office", "indoors.office"), ("beach", "outdoors.beach")):
        with pytest.raises(InputError) as caught:
            surface_names(LOCATIONS[name], file)
        assert caught.value.field == field
