"""Where the mix's arrays live and who transforms them: numpy on the CPU, torch on the CPU or a CUDA device.

Both give the same integers (see `cares.mix.convolve`); which one runs is a matter of the machine, never of params.
"""

from __future__ import annotations

import os
from typing import Any, Protocol

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from cares.core.errors import CaresError, InputError

Whole = NDArray[np.int64]


class Backend(Protocol):
    """Where arrays live and who transforms them; arrays are int64 unless said."""

    name: str

    def put(self, values: NDArray[Any]) -> Any:
        """The values as an int64 array of this backend."""

    def zeros(self, n: int) -> Any:
        """n zeros."""

    def get(self, values: Any) -> Whole:
        """A numpy int64 array of the values."""

    def products(self, blocks: Any, taps: Any, size: int) -> tuple[Any, float]:
        """Cyclic convolutions of length `size` of blocks [B, size] (zero-padded) with taps [m <= size].

        Returns the rounded int64 [B, size] and the largest distance of a float64 result to its integer.
        """


class NumpyBackend:
    """scipy's pocketfft on the CPU, one thread."""

    name = "numpy"

    def put(self, values: NDArray[Any]) -> Whole:
        return np.asarray(values).astype(np.int64)

    def zeros(self, n: int) -> Whole:
        return np.zeros(n, np.int64)

    def get(self, values: Whole) -> Whole:
        return values

    def products(self, blocks: Whole, taps: Whole, size: int) -> tuple[Whole, float]:
        spectrum = scipy.fft.rfft(blocks.astype(np.float64), axis=1)
        spectrum *= scipy.fft.rfft(taps.astype(np.float64), size)
        real = scipy.fft.irfft(spectrum, size, axis=1)
        whole = np.rint(real)
        return whole.astype(np.int64), float(np.abs(real - whole).max())


class TorchBackend:
    """torch.fft on the CPU or a CUDA device.

    Args:
        device: "cpu" or "cuda".
    """

    def __init__(self, device: str) -> None:
        import torch

        if device == "cuda" and not torch.cuda.is_available():
            raise CaresError("CARES_DEVICE: cuda was asked for, but torch finds no CUDA device")
        self._torch = torch
        self._device = torch.device(device)
        self.name = f"torch-{device}"

    def put(self, values: NDArray[Any]) -> Any:
        return self._torch.from_numpy(np.array(values, np.int64)).to(self._device)

    def zeros(self, n: int) -> Any:
        return self._torch.zeros(n, dtype=self._torch.int64, device=self._device)

    def get(self, values: Any) -> Whole:
        return values.cpu().numpy()  # type: ignore[no-any-return]

    def products(self, blocks: Any, taps: Any, size: int) -> tuple[Any, float]:
        fft = self._torch.fft
        spectrum = fft.rfft(blocks.to(self._torch.float64), dim=1) * fft.rfft(taps.to(self._torch.float64), size)
        real = fft.irfft(spectrum, size, dim=1)
        whole = real.round()
        return whole.to(self._torch.int64), float((real - whole).abs().max())


def cuda_available() -> bool:
    """Whether torch can be imported and sees a CUDA device."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def backend_from_environment() -> str:
    """The backend that CARES_DEVICE asks for: "cpu", "cuda", or "auto" (the default), which takes CUDA if any."""
    device = os.environ.get("CARES_DEVICE", "auto")
    if device not in ("auto", "cpu", "cuda"):
        raise InputError("environment", "CARES_DEVICE", device, "auto, cpu or cuda")
    return "torch-cuda" if device == "cuda" or (device == "auto" and cuda_available()) else "numpy"


def make_backend(name: str) -> Backend:
    """The backend called "numpy", "torch", "torch-cpu" or "torch-cuda"; "torch" takes CUDA where there is one."""
    if name == "numpy":
        return NumpyBackend()
    if name not in ("torch", "torch-cpu", "torch-cuda"):
        raise CaresError(f"backend: got {name!r}, expected numpy or torch")
    if name == "torch":
        name = "torch-cuda" if cuda_available() else "torch-cpu"
    return TorchBackend(name.removeprefix("torch-"))
