"""Whisper from safetensors, and sound in the form it hears: 16 kHz, float32, at most 30 s a window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import soxr
from numpy.typing import NDArray

from cares.core.pcm import SAMPLE_RATE, Samples

if TYPE_CHECKING:
    import torch
    from whisper.model import Whisper

HEARD_RATE = 16_000
WINDOW_SECONDS = 30
FRAMES_PER_S = 100
MARGIN_FRAMES = 100


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


def log_mel(samples: Samples, n_mels: int) -> tuple[torch.Tensor, int]:
    """Log-mel spectrogram [n_mels, 3000] of at most 30 s at 44.1 kHz, zero-padded, and how many frames are sound."""
    from whisper.audio import N_FRAMES, N_SAMPLES, log_mel_spectrogram, pad_or_trim

    sound = as_heard(samples)
    frames = min(-(-len(sound) * FRAMES_PER_S // HEARD_RATE), N_FRAMES)
    return pad_or_trim(log_mel_spectrogram(sound, n_mels, padding=N_SAMPLES), N_FRAMES), frames


@contextmanager
def shorter_window(model: Whisper, frames: int) -> Iterator[None]:
    """Let the encoder look at the first `frames` frames of its window only; the rest is padding.

    Its cost is that of the window, so a short sound costs a fraction. For forced alignment one second of padding is as
    good as all (benchmarks/bench_align.py: starts off by 35 ms in the median against 33 ms). Free decoding needs the
    whole window: in a shorter one the model repeats itself.
    """
    import torch.nn.functional as F

    encoder = model.encoder
    length = min(2 * (-(-frames // 2)), 2 * model.dims.n_audio_ctx)

    def forward(mel: torch.Tensor) -> torch.Tensor:
        heard = F.gelu(encoder.conv2(F.gelu(encoder.conv1(mel[..., :length])))).permute(0, 2, 1)
        heard = heard + encoder.positional_embedding[: heard.shape[1]]
        for block in encoder.blocks:
            heard = block(heard)
        normed: torch.Tensor = encoder.ln_post(heard)
        return normed

    whole, encoder.forward = encoder.forward, forward
    try:
        yield
    finally:
        encoder.forward = whole


def to_sample(seconds: float, n_samples: int) -> int:
    """A time of the recogniser (multiples of 10 ms) as a 44.1 kHz sample, kept inside the file."""
    return min(max(round(seconds * SAMPLE_RATE), 0), n_samples)
