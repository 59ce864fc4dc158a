"""Rooms: true word times, aimed reverberation, disjoint splits, and the same bytes whatever runs them."""

from __future__ import annotations

import math
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyroomacoustics
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.catalog.load import load_catalog
from cares.catalog.types import Location
from cares.core.errors import InputError
from cares.core.pcm import SAMPLE_RATE
from cares.core.record import read_records
from cares.records.bank import Room
from cares.sounds.room_params import RoomsParams
from cares.sounds.rooms import build_rooms, plan_rooms, room_metrics, write_rooms
from cares.sounds.rooms_bands import direct_taps
from cares.sounds.rooms_geometry import SPEED_OF_SOUND, draw_layout

REPO = Path(__file__).resolve().parents[2]
LOCATIONS = load_catalog().locations
GIVEN = {"source": "image_source", "per_split": 1, "event_positions": 2, "max_seconds": 1.0}
PARAMS = RoomsParams.parse(GIVEN, "params.yaml", "rooms")
UNIT = 1 << 20


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("CARES_WORKERS", "1")


def _changed(name: str, **recipe: object) -> Location:
    location = LOCATIONS[name]
    return location.model_copy(update={"room": location.room.model_copy(update=recipe)})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"rays": 100}, "rooms.rays"),
        ({"source": "ray_tracing"}, "rooms.source.0"),
        ({"source": ["measured", "measured"]}, "rooms.source"),
        ({"folder": "/rooms"}, "rooms.folder"),
        ({"event_distance_m": [2.0]}, "rooms.event_distance_m.1"),
        ({"event_distance_m": [0.0, 2.0]}, "rooms.event_distance_m.0"),
        ({"per_split": 0}, "rooms.per_split"),
        ({"event_positions": 0}, "rooms.event_positions"),
        ({"max_seconds": 3.5}, "rooms.max_seconds"),
        ({"max_seconds": float("nan")}, "rooms.max_seconds"),
    ],
)
def test_bad_parameters_are_named(change: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        RoomsParams.parse(GIVEN | change, "params.yaml", "rooms")
    assert caught.value.field == field


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(sorted(LOCATIONS)), seed=st.integers(0, 2**32))
def test_sources_stand_inside_at_their_distance(name: str, seed: int) -> None:
    layout = draw_layout(LOCATIONS[name], f"{name}-train", 3, seed)
    assert [(source.role, source.index) for source in layout.sources] == [
        ("A", 0), ("B", 0), ("event", 0), ("event", 1), ("event", 2)
    ]  # fmt: skip
    for place in (layout.listener, *(source.place for source in layout.sources)):
        assert all(0.15 < x < side - 0.15 for x, side in zip(place, layout.size_m, strict=True))
    for source in layout.sources:
        distance = math.dist(source.place, layout.listener)
        assert abs(distance - source.flight_samples * SPEED_OF_SOUND / SAMPLE_RATE) < 2e-4
        if source.role != "event":
            assert 0.999 < distance < 1.501
        elif name != "car":
            assert 1.2 < distance < 8.001
    assert draw_layout(LOCATIONS[name], f"{name}-train", 3, seed) == layout


def test_every_response_starts_with_its_direct_sound() -> None:
    built = build_rooms([LOCATIONS["car"], LOCATIONS["beach"], LOCATIONS["rural"]], PARAMS, 3)
    for each in built:
        for response in each.room.responses:
            taps = each.taps[response.offset : response.offset + response.n_samples]
            assert response.distance_mm is not None and response.air_cdb is not None
            assert 0.8 * UNIT < taps[0] < 1.03 * UNIT
            direct = direct_taps(response.distance_mm / 1000)
            assert direct.sum() == pytest.approx(1, abs=0.01)
            assert abs(taps[0] / UNIT - direct[0]) < 0.03
            assert taps[-1] != 0
            assert len(taps) <= SAMPLE_RATE
            if response.role != "event":
                assert np.abs(taps[64:]).max() < UNIT
        assert sum(response.n_samples for response in each.room.responses) == len(each.taps)


def test_a_response_says_where_it_is_from_and_what_that_does() -> None:
    (room, *_) = (each.room for each in build_rooms([LOCATIONS["rural"]], PARAMS, 3))
    by_distance = sorted(room.responses, key=lambda response: response.distance_mm or 0)
    assert room.listener_mm is not None
    for response in by_distance:
        assert response.place_mm is not None and response.distance_mm is not None
        assert math.dist(response.place_mm, room.listener_mm) == pytest.approx(response.distance_mm, abs=2)
        level = -2000 * math.log10(response.distance_mm / 1000)
        assert response.level_cdb == pytest.approx(level, abs=1)
    for name in ("level_cdb", "air_cdb"):
        figures = [getattr(response, name) for response in by_distance]
        assert figures == sorted(figures, reverse=True)
        assert figures[-1] < figures[0] <= 0
    ratios = [response.direct_to_reverberant_cdb or 0 for response in by_distance]
    assert ratios[0] > ratios[-1]
    assert room.materials == ("grass",)


def test_splits_have_rooms_of_their_own_and_more_rooms_leave_the_first_alone() -> None:
    office = [LOCATIONS["office"]]
    once, twice = plan_rooms(office, 1), plan_rooms(office, 2)
    assert [plan.room_id for plan in once] == ["office-train", "office-validation", "office-test"]
    assert {plan.room_id for plan in once} < {plan.room_id for plan in twice}
    assert len({plan.room_id for plan in twice}) == 6
    built = build_rooms([LOCATIONS["car"]], PARAMS, 1)
    assert len({each.room.size_mm for each in built}) == 3
    assert len({each.taps.tobytes() for each in built}) == 3


def test_written_files_hold_what_was_built(tmp_path: Path) -> None:
    built = build_rooms([LOCATIONS["car"], LOCATIONS["rural"]], PARAMS, 1)
    write_rooms(built, tmp_path / "rooms")
    rooms = read_records(Room, tmp_path / "rooms/rooms.jsonl")
    taps = np.load(tmp_path / "rooms/responses.npy", allow_pickle=False)
    assert taps.dtype == np.int32
    assert taps.ndim == 1
    end = 0
    for room, each in zip(rooms, built, strict=True):
        for response, local in zip(room.responses, each.room.responses, strict=True):
            assert response.offset == end
            end += response.n_samples
            expected = each.taps[local.offset : local.offset + local.n_samples]
            assert np.array_equal(taps[response.offset : end], expected)
    assert end == len(taps)
    assert {room.location: room.rt60_ms > 0 for room in rooms} == {"car": True, "rural": False}
    metrics = room_metrics(built)
    assert (metrics["rooms"], metrics["rooms_by_source"]) == (6, {"image_source": 6})
    assert len(metrics["locations"]["car"]["rt60_bands_ms"]) == 7
    assert "rt60_measured_ms" in metrics["locations"]["car"]
    assert "rt60_measured_ms" not in metrics["locations"]["rural"]


def test_global_random_state_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = []
    for seed in (1, 2):
        monkeypatch.setenv("CARES_STORE", str(tmp_path / f"store{seed}"))
        np.random.seed(seed)
        digests.append([each.taps.tobytes() for each in build_rooms([LOCATIONS["car"]], PARAMS, 9)])
    assert digests[0] == digests[1]


def test_stored_rooms_are_the_built_ones() -> None:
    first, second = (build_rooms([LOCATIONS["car"]], PARAMS, 4) for _ in range(2))
    assert [(each.room, each.taps.tobytes()) for each in first] == [(each.room, each.taps.tobytes()) for each in second]


_SCRIPT = """
import sys
from pathlib import Path
from cares.catalog.load import load_catalog
from cares.sounds.room_params import RoomsParams
from cares.sounds.rooms import build_rooms, write_rooms
locations = load_catalog().locations
params = RoomsParams(source="image_source", per_split=1, event_positions=2, max_seconds=1.0)
write_rooms(build_rooms([locations[name] for name in sys.argv[2:]], params, 1), Path(sys.argv[1]))
"""


def test_workers_and_threads_leave_the_bytes_alone(tmp_path: Path) -> None:
    names = ("car", "beach")
    environment = os.environ | {"CARES_WORKERS": "2", "CARES_STORE": str(tmp_path / "other"), "PYTHONPATH": str(REPO)}
    environment |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PRA_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _SCRIPT, str(tmp_path / "there"), *names]
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        pyroomacoustics.constants.set("num_threads", 3)
        write_rooms(build_rooms([LOCATIONS[name] for name in names], PARAMS, 1), tmp_path / "here")
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    for name in ("rooms.jsonl", "responses.npy"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


def test_a_room_that_cannot_be_is_an_error_with_its_name() -> None:
    with pytest.raises(InputError, match=r"locations.yaml: car.room.rt60_s.*"):
        build_rooms([_changed("car", rt60_s=(0.001, 0.001))], PARAMS, 1)
    with pytest.raises(InputError, match=r"locations.yaml: car.room: "):
        build_rooms([_changed("car", length_m=(1.0, 1.0), width_m=(1.0, 1.0))], PARAMS, 1)


def test_the_stage_stops_at_a_wrong_parameter_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text("seed: 1\nrooms: {source: image_source, per_split: 1, event_positions: 3}\n")
    with pytest.raises(SystemExit, match=r"params.yaml: rooms.max_seconds"):
        runpy.run_path(str(REPO / "stages/rooms.py"), run_name="__main__")
    assert not Path("data").exists()
    assert not Path("metrics").exists()
