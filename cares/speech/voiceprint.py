"""Voiceprints: 256 numbers that say whose voice a sound is, near each other for one speaker.

The encoder is the GE2E network of Wan, Wang, Papir and Lopez Moreno, "Generalized end-to-end loss for speaker
verification" (ICASSP 2018), with the weights that Resemblyzer publishes: three LSTM layers of 256 over mel spectra of
40 channels, a linear layer, the last frame's output at length 1. As its training asks, the spectra are of power, not
its logarithm, at 16 kHz with 25 ms windows every 10 ms, and a sound is seen through windows of 1.6 s.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import soxr
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE, Samples, samples_digest
from cares.core.store import ItemStore, item_key, source_digest
from cares.models.ensure import ensure, model_digest

if TYPE_CHECKING:
    import torch

RATE = 16_000
WINDOW, HOP, CHANNELS = 400, 160, 40
PARTIAL_FRAMES, PARTIAL_STEP = 160, 80
# a last window is used from three quarters of its length on, as in Resemblyzer
LEAST_COVERAGE = 0.75
# quieter sounds are raised to this level, louder ones left
LEVEL_DB = -30.0
SIZE = 256
Print = NDArray[np.float32]


class Voiceprinter(Protocol):
    """The part of `SpeakerEncoder` that is used elsewhere."""

    def voiceprint(self, samples: Samples) -> Print:
        """The voiceprint [256] of int16 samples [T] at 44,100 Hz, of length 1."""


class SpeakerEncoder:
    """Voiceprints by the GE2E network, kept in the item store under their sound.

    Args:
        model_id: a model of kind `speaker` in the registry.
        store: where they are kept; by default the item store's family "voiceprint".
    """

    def __init__(self, model_id: str, store: ItemStore | None = None) -> None:
        self.model_id = model_id
        self._store = store or ItemStore("voiceprint")

    def voiceprint(self, samples: Samples) -> Print:
        """See `Voiceprinter.voiceprint`. Shorter sounds are padded to a window of 1.6 s; 1 s is little to go by."""
        key = item_key(
            pcm=samples_digest(samples), model=self._model_digest, code=source_digest("cares.speech.voiceprint")
        )
        kept = self._store.get(key)
        if kept is None:
            kept = self._store.put(key, None, self._encoded(samples).astype("<f4").tobytes())
        return np.frombuffer(kept.blob, "<f4")

    @cached_property
    def _model_digest(self) -> str:
        return model_digest(self.model_id)

    @cached_property
    def _network(self) -> tuple[torch.nn.LSTM, torch.nn.Linear]:
        return load_network(ensure(self.model_id))

    def _encoded(self, samples: Samples) -> Print:
        import torch

        lstm, linear = self._network
        windows = torch.from_numpy(partials(mel_power(at_level(samples))))
        with torch.no_grad():
            _, (hidden, _) = lstm(windows)
            raw = torch.relu(linear(hidden[-1]))
            each = raw / raw.norm(dim=1, keepdim=True).clamp_min(1e-9)
            mean = each.mean(dim=0)
            unit: Print = (mean / mean.norm().clamp_min(1e-9)).numpy()
        return unit


def load_network(folder: Path) -> tuple[torch.nn.LSTM, torch.nn.Linear]:
    """The LSTM and the linear layer of a ready folder (see `cares.models.ge2e`), in float32."""
    import torch
    from safetensors.torch import load_file

    state = load_file(folder / "model.safetensors")
    lstm = torch.nn.LSTM(CHANNELS, SIZE, num_layers=3, batch_first=True)
    linear = torch.nn.Linear(SIZE, SIZE)
    for name, part in (("lstm.", lstm), ("linear.", linear)):
        part.load_state_dict({key.removeprefix(name): value for key, value in state.items() if key.startswith(name)})
        part.requires_grad_(False).eval()
    return lstm, linear


def at_level(samples: Samples) -> NDArray[np.float32]:
    """int16 [T] at 44,100 Hz as float32 at 16 kHz, raised to a root mean square of -30 dBFS if it is below."""
    sound: NDArray[np.float32] = soxr.resample(samples.astype(np.float32) / 32768, SAMPLE_RATE, RATE, quality="HQ")
    level = float(np.sqrt(np.mean(sound.astype(np.float64) ** 2))) if len(sound) else 0.0
    gain = 10 ** (LEVEL_DB / 20) / level if level > 0 else 1.0
    return sound * np.float32(max(gain, 1.0))


def mel_power(sound: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mel power spectra [1 + T // 160, 40] of float32 [T] at 16 kHz, frames centred, zeros around the sound."""
    padded = np.pad(sound, WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    power = np.abs(np.fft.rfft(frames * hann, axis=1)) ** 2
    spectra: NDArray[np.float32] = (power @ mel_filters().T).astype(np.float32)
    return spectra


def mel_filters() -> NDArray[np.float64]:
    """Triangles [40, 201] of equal area on Slaney's mel scale (Auditory Toolbox, 1998), linear to 1 kHz, then log."""
    edges = _to_hertz(np.linspace(0.0, _to_mel(RATE / 2), CHANNELS + 2))
    bins = np.linspace(0.0, RATE / 2, WINDOW // 2 + 1)
    rising = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    triangles: NDArray[np.float64] = np.maximum(0.0, np.minimum(rising, falling))
    return triangles * (2.0 / (edges[2:] - edges[:-2]))[:, None]


def partials(spectra: NDArray[np.float32]) -> NDArray[np.float32]:
    """Windows [N, 160, 40] of spectra [F, 40], half overlapping; at least one, padded with zeros at the end."""
    count = len(spectra)
    starts = [0]
    while starts[-1] + PARTIAL_STEP + LEAST_COVERAGE * PARTIAL_FRAMES <= count:
        starts.append(starts[-1] + PARTIAL_STEP)
    padded = np.pad(spectra, ((0, max(0, starts[-1] + PARTIAL_FRAMES - count)), (0, 0)))
    return np.stack([padded[start : start + PARTIAL_FRAMES] for start in starts])


def _to_mel(hertz: float) -> float:
    return 15.0 + 27.0 * float(np.log(hertz / 1000.0) / np.log(6.4)) if hertz >= 1000.0 else hertz * 3.0 / 200.0


def _to_hertz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    hertz: NDArray[np.float64] = np.where(mel >= 15.0, 1000.0 * 6.4 ** ((mel - 15.0) / 27.0), mel * 200.0 / 3.0)
    return hertz
