"""Samples before the final rounding as a file: 64-bit float WAV, in which every value is stored without error.

A value has at most 16 bits before the point and EXACT_BITS = 36 after it, and so has any sum of stems that the mix can
hold: 52 bits and a sign, where float64 holds 53. Reading the stems and adding them gives the file of the mix, bit for
bit, and the mix rounded half to even to 16 bits is the finished scene.
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cares.core.atomic import write_bytes
from cares.core.errors import CaresError
from cares.core.pcm import SAMPLE_RATE
from cares.mix.backend import Whole
from cares.mix.engine import EXACT_BITS

_FULL_SCALE_BITS = 15
_IEEE_FLOAT = 3
_MOST = 1 << 53


def exact_signal(values: Whole) -> NDArray[np.float64]:
    """Integers with EXACT_BITS fractional bits as float64 [T], full scale at 1.0.

    Raises:
        CaresError: float64 does not hold a value exactly: it is louder than full scale by 6 dB.
    """
    if len(values) and max(int(values.max()), -int(values.min())) > _MOST:
        raise CaresError("a stem is too loud to be written exactly: more than 6 dB above full scale")
    return np.asarray(np.ldexp(values.astype(np.float64), -(EXACT_BITS + _FULL_SCALE_BITS)), np.float64)


def write_exact(path: Path, values: Whole) -> str:
    """Write a 64-bit float WAV atomically; returns the SHA-256 (hex) of its samples as little-endian float64."""
    signal = exact_signal(values)
    data = signal.astype("<f8").tobytes()
    # written here, for libsndfile puts the time of day into the PEAK chunk of a float WAV
    form = struct.pack("<HHIIHHH", _IEEE_FLOAT, 1, SAMPLE_RATE, 8 * SAMPLE_RATE, 8, 64, 0)
    chunks = _chunk(b"fmt ", form) + _chunk(b"fact", struct.pack("<I", len(signal))) + _chunk(b"data", data)
    write_bytes(path, _chunk(b"RIFF", b"WAVE" + chunks))
    return hashlib.sha256(data).hexdigest()


def _chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data
