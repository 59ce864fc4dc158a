"""Whisper from safetensors, and sound in the form it hears: 16 kHz, float32, at most 30 s a window."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import soxr
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE, Samples

if TYPE_CHECKING:
    from whisper.model import Whisper

HEARD_RATE = 16_000
WINDOW_SECONDS = 30


def load_whisper(folder: Path) -> Whisper:
    """The model of a ready folder (see `cares.models.whisper_ct2`) in float32; no pickle is read."""
    import torch
    from safetensors.torch import load_file
    from whisper.model import ModelDimensions, Whisper

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model = Whisper(ModelDimensions(**config["dims"]))
    state = load_file(folder / "model.safetensors")
    model.load_state_dict({name: value.to(torch.float32) for name, value in state.items()}, strict=True)
    heads = torch.zeros(model.dims.n_text_layer, model.dims.n_text_head, dtype=torch.bool)
    for layer, head in config["alignment_heads"]:
        heads[layer, head] = True
    model.register_buffer("alignment_heads", heads.to_sparse(), persistent=False)
    model.requires_grad_(False)
    return model.eval()


def as_heard(samples: Samples) -> NDArray[np.float32]:
    """44.1 kHz int16 samples [T] as 16 kHz float32 [ceil(T * 160 / 441)] in [-1, 1), by soxr's high-quality filter."""
    if samples.dtype != np.int16 or samples.ndim != 1:
        raise TypeError(f"wanted int16 [T], got {samples.dtype} {samples.shape}")
    scaled = samples.astype(np.float32) / np.float32(32768)
    resampled: NDArray[np.float32] = soxr.resample(scaled, SAMPLE_RATE, HEARD_RATE, quality="HQ")
    return resampled


def to_sample(seconds: float, n_samples: int) -> int:
    """A time of the recogniser (multiples of 10 ms) as a 44.1 kHz sample, kept inside the file."""
    return min(max(round(seconds * SAMPLE_RATE), 0), n_samples)
