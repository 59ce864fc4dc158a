"""Measured responses: any rate and length, their delay found, and each room in one split."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE
from cares.sounds.room_params import RoomsParams
from cares.sounds.rooms import BuiltRoom, room_metrics, write_rooms
from cares.sounds.rooms_measured import align, measured_rooms
from cares.sounds.rooms_sources import make_rooms
from cares.sounds.signal import Signal
from recordings import CC0, manifest, wav, write

LOCATIONS = list(load_catalog().locations.values())
PARAMS = RoomsParams.parse(
    {"source": "measured", "per_split": 1, "event_positions": 2, "max_seconds": 1.5}, "params.yaml", "rooms"
)
UNIT = 1 << 20


def decay(seconds: float, delay: int = 0, length: float = 1.0, rate: int = SAMPLE_RATE, seed: int = 0) -> Signal:
    """A direct sound after `delay` samples, and noise that decays by 60 dB in `seconds`."""
    n = round(length * rate)
    noise = np.random.default_rng(seed).normal(size=n) * 0.05 * 10 ** (-3 * np.arange(n) / rate / seconds)
    noise[0] = 0.9
    return np.concatenate([np.zeros(delay), noise])


def rooms(folder: Path, files: list[bytes], **fields: str) -> list[BuiltRoom]:
    """Rooms of the office, one a file."""
    rows = []
    for number, data in enumerate(files):
        write(folder, f"{number}.wav", data)
        rows.append({"location": "office", "room": f"r{number}", "path": f"{number}.wav", **CC0, **fields})
    manifest(folder, rows)
    return measured_rooms(folder, LOCATIONS, PARAMS, 1).get("office", [])


def test_the_delay_is_removed_and_the_decay_kept(tmp_path: Path) -> None:
    files = [wav(decay(0.5, 100 * number + 37, seed=number)) for number in range(3)]
    built = rooms(tmp_path, files)
    assert [each.room.room_id for each in built] == ["office-train", "office-validation", "office-test"]
    for each in built:
        assert [response.role for response in each.room.responses] == ["A", "B", "event"]
        assert each.taps[0] == UNIT
        assert each.room.source == "measured"
        assert each.room.rt60_measured_ms == pytest.approx(500, rel=0.12)
        assert each.room.edits == ("delay before the direct sound removed",)
    metrics = room_metrics(built)
    assert metrics["locations"]["office"]["direct_to_reverberant_voices_db"] > -10
    write_rooms(built, tmp_path / "out")
    assert len(np.load(tmp_path / "out" / "responses.npy")) == sum(len(each.taps) for each in built)


KINDS: dict[str, tuple[Callable[[int], bytes], Callable[[BuiltRoom], bool]]] = {
    "one sample": (lambda n: wav(np.array([0.5 + 0.01 * n])), lambda room: room.taps.tolist() == [UNIT]),
    "10 s": (lambda n: wav(decay(4.0, length=10.0, seed=n)), lambda room: 65_700 < len(room.taps) <= 66_150),
    "stereo": (
        lambda n: wav(np.stack([decay(0.4, seed=n), decay(0.9, seed=n + 9)], 1)),
        lambda room: "first channel taken" in room.room.edits,
    ),
    "96 kHz": (
        lambda n: wav(decay(0.4, 500, rate=96_000, seed=n), 96_000),
        lambda room: "resampled from 96000 Hz" in room.room.edits and 300 < (room.room.rt60_measured_ms or 0) < 500,
    ),
    "16 kHz float": (
        lambda n: wav(decay(0.4, 80, rate=16_000, seed=n) * 30, 16_000, "FLOAT"),
        lambda room: bool(room.taps[:44].max() == UNIT),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_responses_of_every_kind(tmp_path: Path, name: str) -> None:
    make, right = KINDS[name]
    built = rooms(tmp_path, [make(number) for number in range(3)])
    assert len(built) == 3
    assert all(right(each) for each in built)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (wav(np.zeros(1000)), "silent"),
        (wav(np.zeros(0)), "empty"),
        (b"no sound", "unreadable"),
        (wav(np.array([0.5, np.nan, 0.1]), subtype="FLOAT"), "not_finite"),
        (wav(np.ones(31 * 8000), 8000), "length"),
    ],
)
def test_an_unusable_response_is_named(tmp_path: Path, data: bytes, reason: str) -> None:
    message = rf"manifest\.csv: line 2: path: got '0\.wav', expected an impulse response, but it is {reason}"
    with pytest.raises(InputError, match=message):
        rooms(tmp_path, [data, wav(decay(0.4, seed=1)), wav(decay(0.4, seed=2))])


@given(delay=st.integers(0, 3000), sign=st.sampled_from([1, -1]), scale=st.floats(1e-3, 5))
@settings(max_examples=40, deadline=None)
def test_the_direct_sound_is_found_at_any_delay_level_and_polarity(delay: int, sign: int, scale: float) -> None:
    response = decay(0.4, delay)
    response[:delay] = np.random.default_rng(delay).normal(size=delay) * 0.002
    aligned = align(sign * scale * response)
    assert aligned[0] == sign
    assert np.allclose(aligned, sign * response[delay:] / 0.9)


def test_a_direct_sound_weaker_than_a_reflection_is_found() -> None:
    response = np.zeros(2000)
    response[[100, 700]] = 0.2, 0.9
    aligned = align(response)
    assert (aligned[0], len(aligned)) == (1.0, 1900)
    assert aligned[600] == pytest.approx(4.5)


def test_roles_and_locations_share_rooms_but_splits_do_not(tmp_path: Path) -> None:
    rows = []
    for room in range(3):
        for role in ("A", "B", "event", "event"):
            name = f"{room}{len(rows)}.wav"
            write(tmp_path, name, wav(decay(0.4, seed=len(rows))))
            rows.append({"location": "office", "room": f"r{room}", "role": role, "path": name, **CC0})
        shared = {"location": "airport", "room": f"r{room}", "role": "", "path": rows[-1]["path"], **CC0}
        rows.append(shared)
    manifest(tmp_path, rows)
    found = measured_rooms(tmp_path, LOCATIONS, PARAMS, 4)
    assert {name: len(built) for name, built in found.items()} == {"office": 3, "airport": 3}
    office = found["office"][0]
    assert [(r.role, r.index) for r in office.room.responses] == [("A", 0), ("B", 0), ("event", 0), ("event", 1)]
    assert len({r.offset for r in office.room.responses}) == 4
    last = {each.room.split: each.taps[-each.room.responses[-1].n_samples :].tobytes() for each in found["office"]}
    assert last == {each.room.split: each.taps.tobytes() for each in found["airport"]}


def test_simulated_rooms_fill_the_gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("CARES_WORKERS", "1")
    folder = tmp_path / "recordings/rooms"
    rooms(folder, [wav(decay(0.4, seed=number)) for number in range(3)])
    two = [each for each in LOCATIONS if each.id in ("office", "beach")]
    with pytest.raises(InputError, match=r"rooms\.source: got \['measured'\], expected rooms for beach"):
        make_rooms(two, PARAMS, 1, tmp_path)
    both = PARAMS.model_copy(update={"source": ("measured", "image_source")})
    built = make_rooms(two, both, 1, tmp_path)
    assert [(each.room.location, each.room.source) for each in built] == [
        *[("beach", "image_source")] * 3, *[("office", "measured")] * 3
    ]  # fmt: skip
    assert room_metrics(built)["rooms_by_source"] == {"image_source": 3, "measured": 3}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"location": "moon"}, r"line 2: location: got 'moon', expected one of home_indoor"),
        ({"room": ""}, r"line 2: room: got '', expected a value"),
        ({"role": "C"}, r"line 2: role: got 'C', expected one of A, B, event"),
        ({"role": "A"}, r"line \d: role: got 'A', expected a response for B in the room too"),
        ({"path": "../0.wav"}, r"line 2: path: got '\.\./0\.wav', expected a path that does not leave"),
        (
            {"path": "0.wav"},
            r"line 3: path: got '0\.wav', expected another response than that of another room in line 2",
        ),
        ({"licence": "free"}, r"line 2: licence: got 'free', expected one of CC0"),
        ({"author": ""}, r"line 2: author: got '', expected a value"),
        ({"licence": "CC-BY-4.0"}, r"line 2: url: got '', expected where it is from"),
        ({"start_s": "2", "end_s": "1"}, r"line 2: end_s: got '1', expected a time after"),
        ({"depth": "1"}, r"line 1: got 'depth', expected one of the fields location, room"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, fields: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rooms(tmp_path, [wav(decay(0.4, seed=number)) for number in range(3)], **fields)


def test_a_room_has_one_split(tmp_path: Path) -> None:
    rows = []
    for number, split in enumerate(("train", "test")):
        write(tmp_path, f"{number}.wav", wav(decay(0.4, seed=number)))
        rows.append({"location": "office", "room": "r", "path": f"{number}.wav", "split": split, **CC0})
    manifest(tmp_path, rows)
    with pytest.raises(InputError, match=r"line 3: split: got 'test', expected train, as line 2 has for the same room"):
        measured_rooms(tmp_path, LOCATIONS, PARAMS, 1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"licence": "CC-BY-4.0", "url": "https://x.org/a"},
            r"line 3: licence: got 'CC-BY-4\.0', expected CC0-1\.0, as line 2",
        ),
        ({"url": "https://x.org/a"}, r"line 3: url: got 'https://x\.org/a', expected none, as line 2"),
        ({"path": "0.wav", "role": "B"}, r"line 3: path: got '0\.wav', expected another response than that of line 2"),
    ],
)
def test_a_room_has_one_licence_and_address_and_no_response_twice(
    tmp_path: Path, fields: dict[str, str], message: str
) -> None:
    rows = [{"location": "office", "room": "r", "path": f"{number}.wav", **CC0} for number in range(2)]
    for number in range(2):
        write(tmp_path, f"{number}.wav", wav(decay(0.4, seed=number)))
    manifest(tmp_path, [rows[0], rows[1] | fields])
    with pytest.raises(InputError, match=message):
        measured_rooms(tmp_path, LOCATIONS, PARAMS, 1)


def test_one_file_may_hold_several_responses_and_serve_several_locations(tmp_path: Path) -> None:
    rows = []
    for room in range(3):
        parts = np.concatenate([decay(0.4, seed=2 * room), decay(0.4, seed=2 * room + 1)])
        write(tmp_path, f"{room}.wav", wav(parts))
        for location in ("office", "airport"):
            common = {"location": location, "room": f"r{room}", "path": f"{room}.wav", **CC0}
            rows += [common | {"start_s": "0", "end_s": "1"}, common | {"start_s": "1", "end_s": "2"}]
    manifest(tmp_path, rows)
    found = measured_rooms(tmp_path, LOCATIONS, PARAMS, 1)
    assert {name: len(built) for name, built in found.items()} == {"office": 3, "airport": 3}


def test_rooms_come_with_their_attribution(tmp_path: Path) -> None:
    by = {"licence": "CC-BY-4.0", "author": "Bé, C.", "url": "https://example.org/r"}
    rows = []
    for room in range(3):
        for part, edits in enumerate(("denoised", "cut; denoised")):
            write(tmp_path, f"{room}{part}.wav", wav(decay(0.4, seed=2 * room + part)))
            row = {"location": "office", "room": f"r{room}", "path": f"{room}{part}.wav", "edits": edits}
            rows.append(row | by)
    manifest(tmp_path, rows)
    write_rooms(measured_rooms(tmp_path, LOCATIONS, PARAMS, 1)["office"], tmp_path / "out")
    lines = (tmp_path / "out/ATTRIBUTION.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "room_id,source,licence,author,url,edits"
    assert lines[1:] == [
        f'office-{split},measured,CC-BY-4.0,"Bé, C.",https://example.org/r,denoised; cut'
        for split in ("test", "train", "validation")
    ]


def test_too_few_rooms_are_none(tmp_path: Path) -> None:
    assert rooms(tmp_path, [wav(decay(0.4, seed=number)) for number in range(2)]) == []
