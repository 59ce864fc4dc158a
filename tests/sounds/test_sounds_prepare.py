"""Recordings of every kind become the same take; damaged ones are refused with a reason."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cares.catalog.load import load_catalog
from cares.core.errors import CaresError
from cares.core.pcm import SAMPLE_RATE
from cares.core.record import read_records
from cares.core.store import ItemStore
from cares.sounds.bank import build_bank
from cares.sounds.folder import open_folder
from cares.sounds.licences import spdx
from cares.sounds.params import SoundsParams
from cares.sounds.prepare import Part, prepare
from cares.sounds.quality import UnusableError
from cares.sounds.report import TakeReport
from cares.sounds.signal import Signal
from recordings import CC0, m4a, manifest, ring, wav, write

PARAMS = SoundsParams.parse(
    {
        "source": "folder",
        "takes": {"train": 1, "validation": 1, "test": 1},
        "ambience_takes": {"train": 1, "validation": 1, "test": 1},
    },
    "params.yaml",
)
WHOLE = Part()


def stereo(rate: int = SAMPLE_RATE) -> Signal:
    signal = ring(500, rate=rate)
    return np.asarray(np.stack([signal, 0.5 * signal], 1))


KINDS: dict[str, tuple[Callable[[], bytes], float]] = {
    "8 bit": (lambda: wav(ring(500), subtype="PCM_U8"), 0.02),
    "16 bit": (lambda: wav(ring(500)), 1e-4),
    "24 bit": (lambda: wav(ring(500), subtype="PCM_24"), 1e-6),
    "32 bit": (lambda: wav(ring(500), subtype="PCM_32"), 1e-6),
    "float": (lambda: wav(ring(500), subtype="FLOAT"), 1e-6),
    "double": (lambda: wav(ring(500), subtype="DOUBLE"), 1e-9),
    "stereo": (lambda: wav(stereo()), 1e-4),
    "96 kHz": (lambda: wav(ring(500, rate=96_000), 96_000), 1e-3),
    "48 kHz": (lambda: wav(ring(500, rate=48_000), 48_000), 1e-3),
    "8 kHz": (lambda: wav(ring(500, rate=8_000), 8_000), 0.02),
    "AIFF": (lambda: wav(ring(500), container="AIFF"), 1e-4),
    "FLAC": (lambda: wav(ring(500), container="FLAC"), 1e-4),
    "OGG": (lambda: wav(ring(500), container="OGG", subtype="VORBIS"), 0.05),
    "Opus at 48 kHz": (lambda: wav(ring(500, rate=48_000), 48_000, container="OGG", subtype="OPUS"), 0.1),
    "MP3": (lambda: wav(ring(500), container="MP3", subtype="MPEG_LAYER_III"), 0.1),
    "M4A": (lambda: m4a(ring(500)), 0.1),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_gives_the_same_take(name: str) -> None:
    make, tolerance = KINDS[name]
    signal, edits = prepare(make(), WHOLE, trim=False)
    expected = ring(500)
    offset = max(0, int(np.argmax(np.abs(signal) > 0.1)) - int(np.argmax(np.abs(expected) > 0.1)))
    there = signal[offset : offset + len(expected)]
    assert len(there) > 0.98 * len(expected)
    scale = np.abs(expected).max() / np.abs(there).max()
    middle = slice(2000, len(there) - 2000)
    shift = min(
        float(np.abs(there[2000 + s : len(there) - 2000 + s] * scale - expected[middle]).max()) for s in range(-8, 9)
    )
    assert shift < tolerance + (0.02 if name in ("8 kHz",) else 0)
    assert any("channels" in edit for edit in edits) == (name == "stereo")
    assert any("resampled" in edit for edit in edits) == ("kHz" in name)


def broken_header(data: bytes, size: int) -> bytes:
    at = data.index(b"data") + 4
    return data[:at] + struct.pack("<I", size) + data[at + 4 :]


def with_nan() -> Signal:
    signal = ring(500)
    signal[1000] = np.nan
    return signal


BROKEN: dict[str, tuple[Callable[[], bytes], str]] = {
    "0 bytes": (lambda: b"", "empty"),
    "no sound file": (lambda: b"<html>not found</html>" * 100, "unreadable"),
    "a play list": (lambda: b"#EXTM3U\n#EXTINF:1,\n/etc/passwd\n", "unreadable"),
    "a header alone": (lambda: wav(np.zeros(0)), "empty"),
    "header says more": (lambda: broken_header(wav(ring(500)), 10_000_000), "unreadable"),
    "no samples' chunk": (lambda: wav(ring(500))[:36], "unreadable"),
    "half a FLAC": (lambda: (d := wav(ring(500), container="FLAC"))[: len(d) // 2], "unreadable"),
    "rate of 1 Hz": (lambda: wav(ring(500), 1), "unreadable"),
    "silence": (lambda: wav(np.zeros(40_000)), "silent"),
    "-90 dBFS": (lambda: wav(ring(500, peak=3e-5), subtype="FLOAT"), "silent"),
    "NaN": (lambda: wav(with_nan(), subtype="FLOAT"), "not_finite"),
    "beyond full scale": (lambda: wav(ring(500, peak=3), subtype="FLOAT"), "beyond_full_scale"),
    "clipped": (lambda: wav(np.clip(ring(500, peak=3), -1, 1)), "clipped"),
    "clipped at 96 kHz": (lambda: wav(np.clip(ring(500, rate=96_000, peak=3), -1, 1), 96_000), "clipped"),
    "one channel clipped": (
        lambda: wav(np.stack([np.clip(ring(500, peak=3), -1, 1), np.zeros(len(ring(500)))], 1)), "clipped",
    ),
    "DC": (lambda: wav(ring(500) + 0.05), "dc_offset"),
    "opposite channels": (lambda: wav(np.stack([ring(500), -ring(500)], 1)), "out_of_phase"),
}  # fmt: skip


CONTAINERS = {
    "WAV": "PCM_16", "WAVEX": "PCM_24", "RF64": "PCM_16", "W64": "PCM_16", "AIFF": "PCM_16", "AU": "PCM_16",
    "CAF": "PCM_16",
}  # fmt: skip


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("share", [0.3, 0.5, 0.999])
def test_a_file_whose_end_is_missing_is_refused(container: str, share: float) -> None:
    data = wav(ring(500), subtype=CONTAINERS[container], container=container)
    assert len(prepare(data, WHOLE, trim=False)[0]) == len(ring(500))
    with pytest.raises(UnusableError) as caught:
        prepare(data[: round(share * len(data))], WHOLE, trim=False)
    assert str(caught.value.faults[0]).startswith("unreadable (")
    assert "bytes of samples" in caught.value.faults[0].measured


@pytest.mark.parametrize("container", CONTAINERS)
def test_any_part_of_a_file_ends_in_a_reason(container: str) -> None:
    data = wav(ring(500), subtype=CONTAINERS[container], container=container)
    for length in range(1, 200):
        with pytest.raises(UnusableError):
            prepare(data[:length], WHOLE, trim=False)


def test_an_open_size_of_an_au_stream_is_read() -> None:
    data = wav(ring(500), container="AU")
    signal, _ = prepare(data[:8] + b"\xff" * 4 + data[12:], WHOLE, trim=False)
    assert len(signal) == len(ring(500))


@pytest.mark.parametrize("name", BROKEN)
def test_a_damaged_recording_is_refused_with_its_reason(name: str) -> None:
    make, reason = BROKEN[name]
    with pytest.raises(UnusableError) as caught:
        prepare(make(), WHOLE, trim=True)
    assert caught.value.faults[0].reason == reason


def test_an_open_size_of_a_recorder_that_was_cut_off_is_read() -> None:
    signal, _ = prepare(broken_header(wav(ring(500)), 0xFFFF_FFFF), WHOLE, trim=False)
    assert len(signal) == len(ring(500))


def test_silence_is_taken_off_where_no_times_are_given() -> None:
    sound = np.concatenate([np.zeros(10_000), ring(500), np.zeros(30_000)])
    signal, edits = prepare(wav(sound), WHOLE, trim=True)
    assert 0.3 * SAMPLE_RATE < len(signal) < len(ring(500)) + 0.06 * SAMPLE_RATE
    assert np.argmax(np.abs(signal) > 0.1) < 0.02 * SAMPLE_RATE
    assert [edit.split(" of ")[1] for edit in edits] == ["silence taken off the start", "silence taken off the end"]
    kept, _ = prepare(wav(sound), WHOLE, trim=False)
    assert len(kept) == len(sound)


def test_a_part_is_cut_to_the_sample_and_faded() -> None:
    steady = 0.5 * np.sin(2 * np.pi * 500 / SAMPLE_RATE * np.arange(2 * SAMPLE_RATE))
    signal, edits = prepare(wav(steady), Part(0.5, 1.25), trim=True)
    assert len(signal) == round(0.75 * SAMPLE_RATE)
    assert max(abs(signal[0]), abs(signal[-1])) < 0.02
    assert edits == ("cut: 0.5 s to 1.25 s",)
    with pytest.raises(UnusableError, match="length"):
        prepare(wav(steady), Part(1.5, 2.5), trim=True)
    with pytest.raises(UnusableError, match="length"):
        prepare(wav(steady), Part(2.0, None), trim=True)


def test_a_faulty_recording_ends_the_build_or_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    rows = []
    for number in range(4):
        data = wav(ring(300 + number, 0.9)) if number else b"\0" * 99
        write(folder, f"{number}.wav", data)
        rows.append({"sound": "dog_bark", "path": f"{number}.wav", **CC0})
    write(folder, "long.wav", wav(np.tile(ring(300, 0.9), 10)))
    manifest(folder, [*rows, {"sound": "dog_bark", "path": "long.wav", "start_s": "0", **CC0}])
    source, store = open_folder(folder, load_catalog(), 1), ItemStore("sounds", tmp_path / "store")
    wide = PARAMS.model_copy(update={"takes": PARAMS.takes.model_copy(update={"train": 9, "validation": 9, "test": 9})})
    with pytest.raises(CaresError) as caught:
        build_bank(source, load_catalog(), wide, tmp_path / "out", store, 1)
    assert f"{(folder / 'manifest.csv').as_posix()}: line 2: 0.wav: take dog_bark" in str(caught.value)
    assert "unreadable" in str(caught.value)
    assert "length (9.000 s, expected 0.250 to 3.000 s)" in str(caught.value)
    lenient = wide.model_copy(update={"unusable": "leave_out"})
    takes = build_bank(source, load_catalog(), lenient, tmp_path / "out", store, 1)
    assert [take.split for take in takes] == ["train", "validation", "test"]
    reports = read_records(TakeReport, tmp_path / "out" / "quality.jsonl")
    assert sorted(report.reasons[0] for report in reports if not report.used) == ["length", "unreadable"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("CC0-1.0", "CC0-1.0"),
        (" CC-BY-4.0 ", "CC-BY-4.0"),
        ("http://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
        ("https://creativecommons.org/licenses/by/3.0", "CC-BY-3.0"),
        ("https://creativecommons.org/licenses/by/4.0/deed.en", "CC-BY-4.0"),
        ("http://creativecommons.org/licenses/by-nc/4.0/", None),
        ("http://creativecommons.org/licenses/sampling+/1.0/", None),
        ("https://creativecommons.org/licenses/by/2.0/", None),
        ("https://evil.org/licenses/by/4.0/", None),
        ("CC-BY-SA-4.0", None),
        ("", None),
    ],
)
def test_licences_are_known_however_they_are_written(text: str, meant: str | None) -> None:
    assert spdx(text) == meant
