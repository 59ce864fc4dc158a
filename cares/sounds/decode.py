"""Samples of any recording that libsndfile reads (WAV, AIFF, FLAC, OGG, MP3, ...), else ffmpeg (M4A, WMA, ...)."""

from __future__ import annotations

import io
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import imageio_ffmpeg
import numpy as np
import soundfile
from numpy.typing import NDArray

from cares.sounds.declared_size import missing_bytes
from cares.sounds.quality import Fault, UnusableError

RATES = (4_000, 384_000)
_LOSSY = ("MPEG", "OGG", "MP3")
_LOSSY_CODECS = ("VORBIS", "OPUS", "MPEG_LAYER_I", "MPEG_LAYER_II", "MPEG_LAYER_III")
# formats that are one file; a play list would let a recording name other files
_FFMPEG_FORMATS = "mov,aac,asf,matroska,ac3,amr,ape,caf,tta,wv,dsf,mp3,ogg,flac,wav,aiff"
_TIMEOUT_S = 300


class Recording(NamedTuple):
    """Samples float64 [T, C], full scale 1.0, at `rate` hertz; whether they were coded with loss, and by what."""

    channels: NDArray[np.float64]
    rate: int
    lossy: bool
    coding: str


def decode(data: bytes) -> Recording:
    """The samples of a sound file's bytes.

    Raises:
        UnusableError: no decoder reads it, it is shorter than its header says, or its rate is out of range.
    """
    if not data:
        raise UnusableError(Fault("empty", "a file of 0 bytes", "a sound file"))
    if short := missing_bytes(data):
        raise UnusableError(Fault("unreadable", short, "as many bytes as the header says"))
    try:
        found = _by_libsndfile(data)
    except soundfile.SoundFileError as error:
        found = _by_ffmpeg(data, str(error).rstrip("."))
    if not RATES[0] <= found.rate <= RATES[1]:
        raise UnusableError(Fault("unreadable", f"a rate of {found.rate} Hz", f"{RATES[0]} to {RATES[1]} Hz"))
    return found


def versions() -> list[str]:
    """The decoders' versions: part of the key of what they made."""
    return [soundfile.__libsndfile_version__, ffmpeg_version()]


@cache
def ffmpeg_version() -> str:
    """The version of the ffmpeg that comes with imageio-ffmpeg."""
    return str(imageio_ffmpeg.get_ffmpeg_version())


def _by_libsndfile(data: bytes) -> Recording:
    with soundfile.SoundFile(io.BytesIO(data)) as sound:
        channels: NDArray[np.float64] = sound.read(dtype="float64", always_2d=True)
        lossy = sound.format in _LOSSY or sound.subtype in _LOSSY_CODECS
        # a decoder that meets damage in the middle of a lossless file stops there without an error
        if not lossy and len(channels) < sound.frames:
            measured = f"{len(channels)} of {sound.frames} samples"
            raise UnusableError(Fault("unreadable", measured, "as many samples as the header says"))
        return Recording(channels, sound.samplerate, lossy, f"{sound.format} {sound.subtype}")


def _by_ffmpeg(data: bytes, reason: str) -> Recording:
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "given"), Path(folder, "made.wav")
        given.write_bytes(data)
        command = [
            imageio_ffmpeg.get_ffmpeg_exe(), "-nostdin", "-v", "error", "-xerror", "-protocol_whitelist", "file",
            "-format_whitelist", _FFMPEG_FORMATS, "-threads", "1", "-i", str(given), "-map", "0:a:0", "-vn",
            "-bitexact", "-c:a", "pcm_f32le", "-f", "wav", str(made),
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            raise UnusableError(Fault("unreadable", f"ffmpeg took over {_TIMEOUT_S} s", "a sound file")) from None
        if done.returncode != 0:
            raise UnusableError(Fault("unreadable", reason, "a sound file that libsndfile or ffmpeg reads"))
        with soundfile.SoundFile(made) as sound:
            channels: NDArray[np.float64] = sound.read(dtype="float64", always_2d=True)
            return Recording(channels, sound.samplerate, True, "decoded by ffmpeg")
