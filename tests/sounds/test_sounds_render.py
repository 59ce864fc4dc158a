"""Rendering: takes are functions of seed and id, vary, keep their bounds, and sound as their recipe says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import stft

from cares.catalog.load import load_catalog
from cares.core.pcm import SAMPLE_RATE
from cares.core.rng import KeyedRandom
from cares.sounds.procedural import vocabulary as v
from cares.sounds.procedural.generators import make_tone, smooth_noise, white
from cares.sounds.procedural.numbers import Span
from cares.sounds.procedural.recipes import load_recipes
from cares.sounds.procedural.render import render
from cares.sounds.procedural.shapes import Envelope
from cares.sounds.procedural.shaping import envelope
from cares.sounds.quality import faults
from cares.sounds.signal import Signal

BOOK = load_recipes()


def make(name: str, number: int = 0, seed: int = 1) -> Signal:
    low, high = load_catalog().sounds[name].duration_s
    bounds = round(low * SAMPLE_RATE), round(high * SAMPLE_RATE)
    return render(BOOK.sounds[name].recipe, seed, f"{name}-{number:02d}", *bounds)


def pitch_track(signal: Signal, low: float, high: float) -> Signal:
    """The strongest frequency within a band, in Hz, of each frame that is not faint."""
    hz, _, spectrum = stft(signal, SAMPLE_RATE, nperseg=2048)
    band = (hz >= low) & (hz <= high)
    size = np.abs(spectrum[band])
    loud = size.max(axis=0) > size.max() / 10
    return np.asarray(hz[band][size.argmax(axis=0)][loud])


@pytest.mark.parametrize("name", sorted(BOOK.sounds))
def test_every_recipe_makes_a_usable_take(name: str) -> None:
    low, high = load_catalog().sounds[name].duration_s
    assert faults(make(name), round(low * SAMPLE_RATE), round(high * SAMPLE_RATE)) == ()


def test_a_take_is_the_same_each_time_and_differs_from_others() -> None:
    first = make("knock_on_door")
    assert np.array_equal(first, make("knock_on_door"))
    for other in (make("knock_on_door", number=1), make("knock_on_door", seed=2)):
        assert len(other) != len(first) or np.abs(other - first).max() > 0.1


def test_takes_draw_every_number_of_their_recipe_anew() -> None:
    pitches = {round(float(np.median(pitch_track(make("microwave_beep", n), 1500, 2500)))) for n in range(6)}
    assert len(pitches) >= 4


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(sorted(BOOK.sounds)), st.integers(0, 50), st.integers(0, 2**40))
def test_peak_and_length_hold_for_any_seed(name: str, number: int, seed: int) -> None:
    low, high = load_catalog().sounds[name].duration_s
    signal = make(name, number, seed)
    assert faults(signal, round(low * SAMPLE_RATE), round(high * SAMPLE_RATE)) == ()
    assert np.abs(signal).max() == pytest.approx(10 ** (-3 / 20))


def test_what_would_last_too_long_is_faded_out() -> None:
    recipe = v.Recipe.parse({"layers": [{"source": {"kind": "noise"}, "length_s": 2}]}, "file")
    signal = render(recipe, 1, "x-00", longest=SAMPLE_RATE)
    assert len(signal) == SAMPLE_RATE
    assert np.abs(signal[-20:]).max() < 0.01


def test_a_silent_or_broken_recipe_is_left_to_the_quality_check() -> None:
    recipe = v.Recipe.parse(
        {"layers": [{"source": {"kind": "noise"}, "length_s": 1, "envelope": {"curve": [[0, 0], [1, 0]]}}]}, "file"
    )
    assert [fault.reason for fault in faults(render(recipe, 1, "x-00"), 0, SAMPLE_RATE)] == ["silent"]


def test_a_police_siren_wails_and_an_ambulance_has_two_tones() -> None:
    wail = pitch_track(make("siren_police"), 400, 1800)
    assert wail.max() / wail.min() > 1.7
    assert np.abs(np.diff(np.log2(wail))).max() < 0.3
    tones = pitch_track(make("siren_ambulance"), 380, 640)
    assert set(np.round(tones / 21.5)) <= {*range(19, 22), *range(24, 29)}
    assert tones.max() / tones.min() > 1.2


def test_a_reversing_truck_beeps_at_one_pitch_with_pauses() -> None:
    signal = make("truck_reverse_beep")
    assert np.ptp(pitch_track(signal, 900, 1500)) <= 25
    level = np.abs(signal)[: len(signal) // 441 * 441].reshape(-1, 441).max(axis=1)
    assert (level > 0.3).mean() > 0.3
    assert (level < 0.1).mean() > 0.2


def test_a_plain_tone_is_the_sum_of_its_harmonics() -> None:
    source = v.Tone.parse({"kind": "tone", "hz": 441, "harmonics": 9, "odd": True, "tilt_db": -6}, "file")
    n, random = 4410, KeyedRandom(1, "test")
    time = np.arange(n) / SAMPLE_RATE
    expected = sum(10 ** (-6 * np.log2(k) / 20) * np.sin(2 * np.pi * 441 * k * time) for k in (1, 3, 5, 7, 9))
    assert np.abs(make_tone(source, n, 1.0, random, random) - expected).max() < 1e-9


@pytest.mark.parametrize("hz", [5_000, 17_900])
def test_partials_never_fold_back(hz: int) -> None:
    source = v.Tone.parse({"kind": "tone", "hz": hz, "harmonics": 40, "tilt_db": 0}, "file")
    random = KeyedRandom(1, "test")
    spectrum = np.abs(np.fft.rfft(make_tone(source, SAMPLE_RATE, 1.0, random, random) * np.hanning(SAMPLE_RATE)))
    spectrum[max(0, hz - 5) :: hz] = 0
    for harmonic in range(hz, SAMPLE_RATE // 2, hz):
        spectrum[harmonic - 5 : harmonic + 6] = 0
    assert spectrum.max() < 1.0


def test_noise_is_white_and_repeatable() -> None:
    noise = white(KeyedRandom(1, "a"), 100_000)
    assert np.array_equal(noise, white(KeyedRandom(1, "a"), 100_000))
    assert abs(noise.mean()) < 0.02
    assert noise.std() == pytest.approx(1.0, abs=0.02)
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 0.02


@given(st.integers(1, 5000), st.floats(0.1, 500))
@settings(max_examples=50, deadline=None)
def test_a_slow_curve_stays_within_its_bounds(n: int, rate: float) -> None:
    assert np.abs(smooth_noise(KeyedRandom(1, "s"), n, rate)).max() <= 1.0


@given(st.integers(1, 3000), st.floats(0, 2), st.floats(0.001, 2))
@settings(max_examples=50, deadline=None)
def test_an_envelope_stays_between_0_and_1(n: int, attack: float, decay: float) -> None:
    shape = Envelope(attack_s=Span(attack, attack), decay_s=Span(decay, decay))
    gain = envelope(shape, n)
    assert gain.shape == (n,)
    assert gain.min() >= 0.0
    assert gain.max() <= 1.0


@pytest.mark.parametrize("location", ["beach", "cafe_restaurant", "office"])
def test_an_ambience_keeps_its_level_so_that_it_can_be_repeated(location: str) -> None:
    signal = render(BOOK.ambiences[location].recipe, 1, f"amb-{location}-00")
    assert 10 * SAMPLE_RATE <= len(signal) <= 20 * SAMPLE_RATE
    quarters = [np.sqrt(np.mean(part**2)) for part in np.array_split(signal, 4)]
    assert 20 * np.log10(max(quarters) / min(quarters)) < 4.0
