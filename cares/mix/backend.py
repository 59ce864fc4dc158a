"""Where the mix's arrays live and who transforms them: numpy on the CPU, torch on the CPU or a CUDA device.

Both give the same integers (see `cares.mix.convolve`); which one runs is a matter of the machine, never of params.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from cares.core.errors import CaresError, InputError

Whole = NDArray[np.int64]


class Backend(Protocol):
    """Where arrays live and who transforms them; arrays are int64 unless said.

    batch_samples: how many samples are transformed at once; window_samples: how many of a scene are summed at once.
    Both bound the memory and change no result.
    """

    name: str
    batch_samples: int
    window_samples: int

    def put(self, values: NDArray[Any]) -> Any:
        """The values as an array of this backend, of the same integer type."""

    def zeros(self, n: int) -> Any:
        """n zeros, int64."""

    def wide(self, values: Any) -> Any:
        """A new int64 array of the values."""

    def narrow(self, values: Any) -> Any:
        """The values as int32 where all of them fit, else as they are."""

    def get(self, values: Any) -> NDArray[Any]:
        """A numpy array of the values, of the same integer type."""

    def halves(self, rows: Sequence[Any]) -> list[tuple[int, int]]:
        """Of each array the sums over its even and over its odd places, modulo 2 ** 64."""

    def forward(self, rows: Sequence[Any], size: int) -> Any:
        """Spectra [B, size // 2 + 1], complex128, of integer arrays of at most `size` values, zero-padded."""

    def stack(self, spectra: Sequence[Any]) -> Any:
        """Spectra [B, K] from B spectra [K]."""

    def inverse(self, spectra: Any, size: int) -> tuple[Any, float]:
        """The rounded int64 [B, size] of inverse transforms, and the largest distance to an integer before rounding."""


class NumpyBackend:
    """scipy's pocketfft on the CPU, one thread."""

    name = "numpy"
    batch_samples = 1 << 16  # what a core's cache holds
    window_samples = 1 << 18

    def put(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(values)

    def zeros(self, n: int) -> Whole:
        return np.zeros(n, np.int64)

    def wide(self, values: NDArray[Any]) -> Whole:
        return values.astype(np.int64)

    def narrow(self, values: NDArray[Any]) -> NDArray[Any]:
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        return values.astype(np.int32) if low >= -(2**31) and high < 2**31 else values

    def get(self, values: NDArray[Any]) -> NDArray[Any]:
        return values

    def halves(self, rows: Sequence[NDArray[Any]]) -> list[tuple[int, int]]:
        sums = [(int(row.sum()), int(row[::2].sum())) for row in rows]
        return [(even, total - even) for total, even in sums]

    def forward(self, rows: Sequence[NDArray[Any]], size: int) -> Any:
        blocks = np.zeros((len(rows), size))
        for block, row in zip(blocks, rows, strict=True):
            block[: len(row)] = row
        return scipy.fft.rfft(blocks, axis=1, overwrite_x=True)

    def stack(self, spectra: Sequence[Any]) -> Any:
        return np.stack(spectra)

    def inverse(self, spectra: Any, size: int) -> tuple[Whole, float]:
        real = scipy.fft.irfft(spectra, size, axis=1, overwrite_x=True)
        rounded = np.rint(real)
        real -= rounded
        return rounded.astype(np.int64), max(float(real.max()), -float(real.min()))


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
        # a GPU is fed much at once: few, large steps
        self.batch_samples = 1 << (25 if device == "cuda" else 20)
        self.window_samples = 1 << (24 if device == "cuda" else 18)

    def put(self, values: NDArray[Any]) -> Any:
        return self._torch.from_numpy(np.ascontiguousarray(values).copy()).to(self._device)

    def zeros(self, n: int) -> Any:
        return self._torch.zeros(n, dtype=self._torch.int64, device=self._device)

    def wide(self, values: Any) -> Any:
        return values.to(self._torch.int64, copy=True)

    def narrow(self, values: Any) -> Any:
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        return values.to(self._torch.int32) if low >= -(2**31) and high < 2**31 else values

    def get(self, values: Any) -> NDArray[Any]:
        return values.cpu().numpy()  # type: ignore[no-any-return]

    def halves(self, rows: Sequence[Any]) -> list[tuple[int, int]]:
        # one transfer for all: a GPU would wait for each
        sums = self._torch.stack([part.sum() for row in rows for part in (row, row[::2])]).tolist()
        return [(even, total - even) for total, even in zip(sums[::2], sums[1::2], strict=True)]

    def forward(self, rows: Sequence[Any], size: int) -> Any:
        blocks = self._torch.zeros((len(rows), size), dtype=self._torch.float64, device=self._device)
        for place, row in enumerate(rows):
            blocks[place, : len(row)] = row
        return self._torch.fft.rfft(blocks, dim=1)

    def stack(self, spectra: Sequence[Any]) -> Any:
        return self._torch.stack(list(spectra))

    def inverse(self, spectra: Any, size: int) -> tuple[Any, float]:
        real = self._torch.fft.irfft(spectra, size, dim=1)
        rounded = real.round()
        real -= rounded
        return rounded.to(self._torch.int64), float(real.abs().max())


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
