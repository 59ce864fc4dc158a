"""16-bit sound files. Samples are int16 numpy arrays of shape [T]; time is in samples at 44,100 Hz unless said."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from cares.core.atomic import write_bytes
from cares.core.errors import InputError

SAMPLE_RATE = 44_100
Samples = NDArray[np.int16]


def encode(samples: Samples, sample_rate: int = SAMPLE_RATE, container: str = "FLAC") -> bytes:
    """One channel of 16-bit samples [T] as the bytes of a FLAC or WAV file."""
    if samples.dtype != np.int16 or samples.ndim != 1:
        raise TypeError(f"encode wants int16 [T], got {samples.dtype} {samples.shape}")
    stream = io.BytesIO()
    soundfile.write(stream, samples, sample_rate, format=container, subtype="PCM_16")
    return stream.getvalue()


def write_samples(path: Path, samples: Samples, sample_rate: int = SAMPLE_RATE) -> None:
    """Write int16 samples [T] atomically; the suffix (.wav, .flac) chooses the container."""
    write_bytes(path, encode(samples, sample_rate, path.suffix[1:].upper()))


def read_samples(path: Path, start_sample: int = 0, n_samples: int = -1) -> Samples:
    """Read int16 samples [T] of one of our own files; InputError unless it is 44.1 kHz mono 16-bit and long enough."""
    if not path.is_file():
        raise InputError(path, "", "no such file", "a 16-bit sound file")
    try:
        with soundfile.SoundFile(path) as sound:
            found = (sound.samplerate, sound.channels, sound.subtype)
            if found != (SAMPLE_RATE, 1, "PCM_16"):
                raise InputError(path, "format", found, "44100 Hz, one channel, PCM_16")
            sound.seek(start_sample)
            samples: Samples = sound.read(n_samples, dtype="int16")
    except soundfile.SoundFileError as error:
        raise InputError(path, "", str(error), "a readable sound file") from None
    if n_samples >= 0 and len(samples) != n_samples:
        raise InputError(path, "length", start_sample + len(samples), f"at least {start_sample + n_samples} samples")
    return samples


def samples_digest(samples: Samples) -> str:
    """SHA-256 (hex) of the samples as little-endian 16-bit integers: the sound's identity, whatever the container."""
    return hashlib.sha256(samples.astype("<i2").tobytes()).hexdigest()
