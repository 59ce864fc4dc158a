"""Freesound: pins and fetching them, against a server on loopback that speaks the same API."""

from __future__ import annotations

import runpy
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from freesound_server import BY, BY_NC, KEY, QUICK, FakeFreesound, connect
from typer.testing import CliRunner

from cares.catalog.load import load_catalog
from cares.core.canonical import write_jsonl
from cares.core.errors import InputError
from cares.core.record import read_records
from cares.core.store import ItemStore
from cares.records.bank import Take
from cares.sounds.freesound import client
from cares.sounds.freesound.client import Freesound, FreesoundError
from cares.sounds.freesound.pin import pin_takes
from cares.sounds.freesound.pins import Pin, read_pins, write_pins
from cares.sounds.freesound.source import fetch_pins, open_pins, pin_key
from cares.sounds.source import Kind
from recordings import ring, wav

REPO = Path(__file__).resolve().parents[2]
CATALOG = load_catalog()
WANTED: dict[Kind, int] = {"event": 3, "ambience": 3}
PARAMS = """\
seed: 3
sounds:
  source: [freesound, procedural]
  takes: {train: 1, validation: 1, test: 1}
  ambience_takes: {train: 1, validation: 1, test: 1}
"""


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("CARES_WORKERS", "1")
    monkeypatch.setattr(client, "PATIENCE", QUICK)
    monkeypatch.delenv("CARES_FREESOUND_KEY", raising=False)


def bark(hz: float, seconds: float = 0.9) -> bytes:
    return wav(ring(hz, seconds), container="OGG", subtype="VORBIS")


def pins_of(fake: FakeFreesound, path: Path, names: tuple[str, ...] = ("dog_bark",)) -> list[Pin]:
    with connect(fake) as service:
        pin_takes([("event", name) for name in names], WANTED, path, CATALOG, service, lambda _: None)
    return read_pins(path, CATALOG)


def test_what_is_found_is_checked_and_pinned(fake: FakeFreesound, tmp_path: Path) -> None:
    fake.add(11, bark(300))
    fake.add(12, bark(310), BY_NC)
    fake.add(13, bark(320), author="author 11")
    fake.add(14, b"broken")
    fake.add(15, wav(np.tile(ring(330), 15), container="OGG", subtype="VORBIS"))
    fake.add(16, fake.files[11])
    fake.add(17, bark(340), BY)
    fake.add(18, bark(350), author="")
    fake.add(19, bark(360))
    fake.add(20, bark(370))
    said: list[str] = []
    with connect(fake) as service:
        added = pin_takes([("event", "dog_bark")], WANTED, tmp_path / "pins.jsonl", CATALOG, service, said.append)
    pins = read_pins(tmp_path / "pins.jsonl", CATALOG)
    assert added == 3
    assert [(pin.id, pin.licence, pin.author) for pin in pins] == [
        (11, "CC0-1.0", "author 11"), (17, "CC-BY-4.0", "author 17"), (19, "CC0-1.0", "author 19")
    ]  # fmt: skip
    assert pins[0].sha256 == sha256(fake.files[11]).hexdigest()
    reasons = "1 length, 1 licence, 1 of the same author, 1 pinned already, 1 unreadable, 1 without author or address"
    assert said == [f"dog_bark: 3 pinned, 3 of 3; not {reasons}"]


def test_a_preview_that_cannot_be_had_is_passed_over(
    fake: FakeFreesound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_LARGEST_BYTES", 200_000)
    for number in range(1, 8):
        fake.add(number, bark(300 + 10 * number))
    fake.missing_previews[1] = 404
    fake.missing_previews[2] = 403
    fake.files[3] = bytes(200_001)
    fake.sounds[4]["previews"] = {}
    said: list[str] = []
    for _ in range(2):
        with connect(fake) as service:
            pin_takes([("event", "dog_bark")], {"event": 3}, tmp_path / "pins.jsonl", CATALOG, service, said.append)
        assert [pin.id for pin in read_pins(tmp_path / "pins.jsonl", CATALOG)] == [5, 6, 7]
    reasons = "1 no longer there, 1 refused with status 403, 1 too large, 1 without address of a preview"
    assert said == [f"dog_bark: 3 pinned, 3 of 3; not {reasons}"]


def test_a_key_that_is_refused_and_a_service_that_stays_away_end_the_search(
    fake: FakeFreesound, tmp_path: Path
) -> None:
    fake.add(1, bark(300))
    for status, message in ((401, "is not accepted"), (503, r"3 attempts")):
        fake.missing_previews[1] = status
        with pytest.raises(FreesoundError, match=message):
            pins_of(fake, tmp_path / "pins.jsonl")


def test_the_search_asks_for_free_licences_and_the_right_length(fake: FakeFreesound, tmp_path: Path) -> None:
    pins_of(fake, tmp_path / "pins.jsonl")
    (search,) = fake.searches()
    assert search["query"].startswith("dog bark -")
    assert search["filter"] == 'license:("Creative Commons 0" OR "Attribution") duration:[0.25 TO 5]'
    assert "previews" in search["fields"]


def test_pins_stay_and_a_second_run_adds_what_is_missing(fake: FakeFreesound, tmp_path: Path) -> None:
    path = tmp_path / "pins.jsonl"
    fake.add(1, bark(300))
    first = pins_of(fake, path)
    assert [pin.id for pin in first] == [1]
    fake.sounds.pop(1)
    for number in (2, 3, 4):
        fake.add(number, bark(300 + number))
    assert [pin.id for pin in pins_of(fake, path)] == [1, 2, 3]
    asked = len(fake.asked)
    pins_of(fake, path)
    assert len(fake.asked) == asked


def three(fake: FakeFreesound, path: Path) -> list[Pin]:
    for number in (1, 2, 3):
        fake.add(number, bark(300 + 10 * number))
    return pins_of(fake, path)


def empty_store(tmp_path: Path) -> ItemStore:
    return ItemStore("freesound", tmp_path / "another store")


def test_pinned_recordings_are_fetched_once(fake: FakeFreesound, tmp_path: Path) -> None:
    path = tmp_path / "pins.jsonl"
    pins, store = three(fake, path), empty_store(tmp_path)
    assert fetch_pins(pins, path, lambda: connect(fake), store) == 3
    assert all((entry := store.get(pin_key(pin))) and entry.blob == fake.files[pin.id] for pin in pins)

    def never() -> Freesound:
        raise AssertionError("nothing is to be fetched")

    assert fetch_pins(pins, path, never, store) == 0


def test_a_fetch_that_ends_early_goes_on_where_it_was(fake: FakeFreesound, tmp_path: Path) -> None:
    path = tmp_path / "pins.jsonl"
    pins, store = three(fake, path), empty_store(tmp_path)
    lost = fake.sounds.pop(2)
    with pytest.raises(FreesoundError, match=r"sounds/2/: no longer there"):
        fetch_pins(pins, path, lambda: connect(fake), store)
    fake.sounds[2] = lost
    fake.asked.clear()
    assert fetch_pins(pins, path, lambda: connect(fake), store) == 2
    assert not any("sounds/1/" in place for place, _, _ in fake.asked)


def test_a_changed_file_and_a_changed_licence_are_errors(fake: FakeFreesound, tmp_path: Path) -> None:
    path = tmp_path / "pins.jsonl"
    pins, store = three(fake, path), empty_store(tmp_path)
    fake.files[1] = bark(999)
    with pytest.raises(InputError, match=r"pins\.jsonl: line 1: sound 1: sha256: got .*cares sounds pin"):
        fetch_pins(pins, path, lambda: connect(fake), store)
    fake.sounds[1]["license"] = BY_NC
    with pytest.raises(InputError, match=r"line 1: sound 1: licence: got '.*by-nc.*', expected CC0-1\.0"):
        fetch_pins(pins, path, lambda: connect(fake), store)
    assert store.get(pin_key(pins[0])) is None


def test_the_key_goes_to_the_api_alone_and_is_never_told(fake: FakeFreesound, tmp_path: Path) -> None:
    path = tmp_path / "pins.jsonl"
    pins = three(fake, path)
    fetch_pins(pins, path, lambda: connect(fake), empty_store(tmp_path))
    for place, given, key in fake.asked:
        assert (key is None) == place.startswith("/apiv2/previews/")
        assert KEY not in str(given)
    with connect(fake, "another-key") as service, pytest.raises(FreesoundError) as caught:
        service.sound(1)
    assert "CARES_FREESOUND_KEY is not accepted" in str(caught.value)
    assert "another-key" not in str(caught.value)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(KEY.encode() in file.read_bytes() for file in files)


GOOD = {
    "kind": "event", "name": "dog_bark", "id": 1, "preview": "preview-hq-ogg", "sha256": "0" * 64,
    "licence": "CC0-1.0", "author": "a", "url": "u",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "dog"}, r"line 1: name: got 'dog'"),
        ({"kind": "ambience"}, r"line 1: name: got 'dog_bark'"),
        ({"licence": "CC-BY-NC-4.0"}, r"line 1: licence: got 'CC-BY-NC-4\.0'"),
        ({"sha256": "xyz"}, r"line 1\.sha256: got 'xyz'"),
        ({"author": ""}, r"line 1\.author"),
        ({"key": "x"}, r"line 1\.key: got 'x', expected no such key"),
        ({"start_s": 2.0, "end_s": 1.0}, r"line 1: end_s: got 1\.0"),
        ({"split": "dev"}, r"line 1\.split: got 'dev'"),
    ],
)
def test_a_wrong_pin_is_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "pins.jsonl"
    write_jsonl(path, [GOOD | change])
    with pytest.raises(InputError, match=message):
        open_pins(path, CATALOG, 1)


def test_a_pin_occurs_once(tmp_path: Path) -> None:
    pin = Pin.parse(GOOD, "test")
    write_pins(tmp_path / "pins.jsonl", [pin, pin])
    with pytest.raises(InputError, match=r"line 2: id: got 1, expected another sound than line 1 has"):
        read_pins(tmp_path / "pins.jsonl", CATALOG)
    assert read_pins(tmp_path / "none.jsonl", CATALOG) == []


def test_the_command_pins_and_the_stage_builds_from_pins(
    fake: FakeFreesound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cares.cli import app
    from cares.sounds.procedural import recipes
    from cares.sounds.procedural.recipes import RecipeBook, load_recipes

    book = load_recipes()
    few = RecipeBook({name: book.sounds[name] for name in ("dog_bark", "mouse_click")}, {})
    monkeypatch.setattr(recipes, "load_recipes", lambda: few)
    (tmp_path / "params.yaml").write_text(PARAMS, encoding="utf-8")
    for number in (1, 2, 3):
        fake.add(number, bark(300 + 10 * number))
    monkeypatch.setenv("CARES_FREESOUND_KEY", KEY)
    monkeypatch.setenv("CARES_FREESOUND_URL", fake.url)
    pinned = CliRunner().invoke(app, ["sounds", "pin", "--sound", "dog_bark"])
    assert pinned.exit_code == 0, pinned.output
    assert "3 recordings pinned in recordings/freesound.jsonl" in pinned.output
    planned = CliRunner().invoke(app, ["sounds", "coverage"])
    assert planned.exit_code == 0
    assert planned.output.startswith("planned from freesound, procedural")
    assert "from freesound: 1 sounds" in planned.output
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "fresh"))
    runpy.run_path(str(REPO / "stages/sounds.py"), run_name="__main__")
    takes = read_records(Take, tmp_path / "data/sounds/bank.jsonl")
    assert {(take.name, take.source) for take in takes} == {("dog_bark", "freesound"), ("mouse_click", "procedural")}
    assert {take.split for take in takes if take.name == "dog_bark"} == {"train", "validation", "test"}
    assert all("preview of sound" in take.edits[0] for take in takes if take.source == "freesound")
    monkeypatch.delenv("CARES_FREESOUND_KEY")
    runpy.run_path(str(REPO / "stages/sounds.py"), run_name="__main__")
    shown = CliRunner().invoke(app, ["sounds", "coverage", "--source", "procedural"])
    assert "from procedural: 2 sounds" in shown.output
    assert KEY not in capsys.readouterr().out + pinned.output


def test_the_stage_without_a_key_says_so_and_keeps_the_old_bank(
    fake: FakeFreesound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "params.yaml").write_text(PARAMS, encoding="utf-8")
    three(fake, tmp_path / "recordings/freesound.jsonl")
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "fresh"))
    with pytest.raises(SystemExit, match=r"error: environment: CARES_FREESOUND_KEY"):
        runpy.run_path(str(REPO / "stages/sounds.py"), run_name="__main__")
    assert not (tmp_path / "data").exists()
