"""Convolution gives the exact integers, whoever computes it and in whatever blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.core.errors import CaresError
from cares.mix.backend import NumpyBackend, backend_from_environment, cuda_available, make_backend
from cares.mix.convolve import MAX_ERROR, convolve, plan_blocks


def response(length: int, seed: int = 1) -> np.ndarray:
    """A direct sound of 1.0 and a noise tail, 20 fractional bits."""
    taps = np.random.default_rng(seed).normal(size=length) * np.exp(-np.arange(length) / (length / 6)) * 0.1
    taps[0] = 1.0
    return np.round(taps * 2**20).astype(np.int64)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 700), st.integers(1, 300), st.integers(0, 10**6))
def test_equals_direct_convolution(n: int, m: int, seed: int) -> None:
    samples = np.random.default_rng(seed).integers(-32768, 32768, n)
    taps = response(m, seed)
    assert np.array_equal(convolve(samples, taps, NumpyBackend()), np.convolve(samples, taps))


@pytest.mark.parametrize("size", [1 << 10, 1 << 12, 1 << 15])
@pytest.mark.parametrize("name", ["numpy", "torch-cpu"])
def test_backends_and_block_sizes_agree(name: str, size: int) -> None:
    rng = np.random.default_rng(0)
    speech = (rng.laplace(size=40_000) * 2500).clip(-32768, 32767).round().astype(np.int64)
    taps = response(4_000)
    backend = make_backend(name)
    expected = convolve(speech, taps, NumpyBackend())
    assert np.array_equal(backend.get(convolve(backend.put(speech), taps, backend, size)), expected)


def fftless(samples: np.ndarray, taps: np.ndarray) -> np.ndarray:
    """A convolution in two exact halves of 10 bits, whose float64 errors are far too small to matter."""
    high, low = samples >> 8, samples & 255
    split = [np.rint(scipy.signal.fftconvolve(part.astype(float), taps.astype(float))) for part in (high, low)]
    return split[0].astype(np.int64) * 256 + split[1].astype(np.int64)


def test_loud_noise_takes_smaller_steps() -> None:
    rng = np.random.default_rng(0)
    taps = rng.integers(-(2**19), 2**19, 44_100)
    loud = rng.integers(-32768, 32768, 200_000)
    soft = loud // 3000
    more, less = plan_blocks(loud, taps, NumpyBackend()), plan_blocks(soft, taps, NumpyBackend())
    assert (more.size, more.group) < (less.size, less.group)
    assert more.bound < MAX_ERROR
    assert np.array_equal(convolve(loud[:50_000], taps, NumpyBackend()), fftless(loud[:50_000], taps))


def test_response_beyond_the_bound_is_an_error() -> None:
    taps = np.full(5_000, 2**40, np.int64)
    with pytest.raises(CaresError, match="bound"):
        convolve(np.full(5_000, 32767, np.int64), taps, NumpyBackend())


class Broken(NumpyBackend):
    """Transforms that are off by `error` in one place."""

    def __init__(self, distance: float, error: int) -> None:
        self.distance, self.error = distance, error

    def inverse(self, spectra: Any, size: int) -> tuple[Any, float]:
        whole, distance = super().inverse(spectra, size)
        whole[0, 7] += self.error
        return whole, self.distance or distance


def test_result_far_from_an_integer_is_an_error() -> None:
    for distance in (0.3, np.nan):
        with pytest.raises(CaresError, match="from an integer"):
            convolve(np.arange(100), response(50), Broken(distance, 0))


@pytest.mark.parametrize("error", [1, -1, 2**20])
def test_wrong_integer_is_an_error(error: int) -> None:
    with pytest.raises(CaresError, match="sum"):
        convolve(np.arange(100), response(50), Broken(0.0, error))
    assert len(convolve(np.arange(100), response(50), Broken(0.0, 0))) == 149


def test_silence_and_nothing() -> None:
    assert not convolve(np.zeros(100, np.int64), response(50), NumpyBackend()).any()
    assert len(convolve(np.zeros(100, np.int64), response(50), NumpyBackend())) == 149


def test_device_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_DEVICE", "cpu")
    assert backend_from_environment() == "numpy"
    monkeypatch.setenv("CARES_DEVICE", "gpu")
    with pytest.raises(CaresError, match=r"CARES_DEVICE.*auto, cpu or cuda"):
        backend_from_environment()
    if not cuda_available():
        with pytest.raises(CaresError, match="no CUDA device"):
            make_backend("torch-cuda")
    with pytest.raises(CaresError, match="numpy or torch"):
        make_backend("jax")


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(10, 15), st.sampled_from(["noise", "loudest", "tone", "square"]))
def test_measured_error_is_far_below_the_bound(seed: int, exponent: int, kind: str) -> None:
    """The bound holds for the loudest input there is, and is not tight: a hundred times above what is measured."""
    rng = np.random.default_rng(seed)
    time = np.arange(60_000)
    signal = {
        "noise": rng.integers(-32768, 32768, len(time)),
        "loudest": np.full(len(time), -32768),
        "tone": np.round(32767 * np.sin(time * rng.uniform(0.001, 3))).astype(np.int64),
        "square": np.where(time % 64 < 32, 32767, -32768),
    }[kind]
    taps = rng.integers(-(2**15), 2**15, 5_000)
    backend = Measuring()
    plan = plan_blocks(signal, taps, backend, 1 << exponent)
    assert np.array_equal(convolve(signal, taps, backend, 1 << exponent), fftless(signal, taps))
    assert 0 <= backend.largest < plan.bound / 100 < MAX_ERROR


class Measuring(NumpyBackend):
    """Remembers the largest distance to an integer."""

    def __init__(self) -> None:
        self.largest = 0.0

    def inverse(self, spectra: Any, size: int) -> tuple[Any, float]:
        whole, distance = super().inverse(spectra, size)
        self.largest = max(self.largest, distance)
        return whole, distance
