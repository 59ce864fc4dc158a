"""Sound files and manifests that the tests of recorded sources write."""

from __future__ import annotations

import csv
import io
import subprocess
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import soundfile

from cares.core.pcm import SAMPLE_RATE
from cares.sounds.signal import Signal

CC0 = {"licence": "CC0-1.0", "author": "A. Person"}


def ring(hz: float, seconds: float = 0.6, rate: int = SAMPLE_RATE, peak: float = 0.5) -> Signal:
    """A struck tone, float64 [T], at full level from its first milliseconds on."""
    time = np.arange(round(seconds * rate)) / rate
    return np.asarray(peak * np.sin(2 * np.pi * hz * time) * np.exp(-3 * time), np.float64)


def wav(signal: Any, rate: int = SAMPLE_RATE, subtype: str = "PCM_16", container: str = "WAV") -> bytes:
    """A sound file's bytes."""
    stream = io.BytesIO()
    soundfile.write(stream, signal, rate, subtype=subtype, format=container)
    return stream.getvalue()


def m4a(signal: Signal) -> bytes:
    """AAC in an MP4 file, by ffmpeg."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "wav", "-i", "pipe:0"]
    command += ["-c:a", "aac", "-b:a", "192k", "-movflags", "frag_keyframe+empty_moov", "-f", "mp4", "pipe:1"]
    return subprocess.run(command, input=wav(signal), capture_output=True, check=True).stdout


def write(folder: Path, name: str, data: bytes) -> Path:
    """Write a file below `folder`."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def manifest(folder: Path, rows: list[dict[str, str]], encoding: str = "utf-8", end: str = "\n") -> Path:
    """Write manifest.csv with a column for every key that a row has."""
    folder.mkdir(parents=True, exist_ok=True)
    fields = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fields, lineterminator=end, restval="")
    writer.writeheader()
    writer.writerows(rows)
    path = folder / "manifest.csv"
    path.write_bytes(text.getvalue().encode(encoding))
    return path
