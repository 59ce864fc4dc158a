"""What a pulled or edited file names stays inside its folder: the error names file, field and value."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from report_world import make_build
from typer.testing import CliRunner

from cares.cli import app
from cares.core.canonical import read_jsonl, write_jsonl
from cares.core.errors import CaresError, InputError
from cares.core.record import Record, read_records
from cares.records.bank import Take
from cares.records.dialogue import Attempt, Dialogue, Topic
from cares.records.item import Counterfactual, Item
from cares.records.names import inside
from cares.records.scene import Scene, Template
from cares.records.speech import SceneAlignment, SceneSpeech
from cares.records.timeline import Clip, MixedScene, Timeline
from cares.records.transcript import Transcript
from cares.repro.doctor import damaged_scenes
from cares.sounds.manifest import locate, read_manifest

PATHS = [
    "../../etc/passwd",
    "/etc/passwd",
    "data/../../secret.wav",
    "data/scenes/..",
    "..\\secret.wav",
    "data\\scenes\\x.wav",
    "C:/secret.wav",
    "~/secret.wav",
    "data/x\0.wav",
    "",
    ".",
]
NAMES = ["../x", "a/b", "..", ".hidden", "-option", "", "a\0b", "a\\b", "a\nb", "x" * 200, "/abs", "~"]
NAMED: list[tuple[type[Record], str]] = [
    (Scene, "scene_id"),
    (Scene, "template_id"),
    (Template, "template_id"),
    (Topic, "scene_id"),
    (Dialogue, "scene_id"),
    (Attempt, "scene_id"),
    (SceneSpeech, "scene_id"),
    (SceneAlignment, "scene_id"),
    (Timeline, "scene_id"),
    (MixedScene, "scene_id"),
    (Item, "scene_id"),
    (Counterfactual, "scene_id"),
    (Transcript, "scene_id"),
    (Take, "take_id"),
]
PLACED: list[tuple[type[Record], str]] = [
    (Take, "path"),
    (Clip, "path"),
    (MixedScene, "path"),
    (Item, "audio"),
    (Counterfactual, "path"),
]


def refused(kind: type[Record], field: str, value: str) -> bool:
    """Whether the field itself is what is wrong, beside those that are missing."""
    try:
        kind.model_validate_json(json.dumps({field: value}))
    except ValueError as error:
        return any(one["loc"][:1] == (field,) for one in error.errors())  # type: ignore[attr-defined]
    return False


@pytest.mark.parametrize(("kind", "field"), NAMED, ids=lambda one: getattr(one, "__name__", one))
def test_a_name_is_one_plain_part_of_a_path(kind: type[Record], field: str) -> None:
    assert [name for name in NAMES if not refused(kind, field, name)] == []
    assert not any(refused(kind, field, name) for name in ("t00003-0", "dog_bark-01", "a.b", "0"))


@pytest.mark.parametrize(("kind", "field"), PLACED, ids=lambda one: getattr(one, "__name__", one))
def test_a_path_of_a_record_stays_in_the_data_set(kind: type[Record], field: str) -> None:
    assert [path for path in PATHS if not refused(kind, field, path)] == []
    assert not any(refused(kind, field, path) for path in ("data/scenes/t00003-0.wav", "data/a b/ü.flac", "x..y.wav"))


def test_the_speech_of_a_scene_has_a_path_inside_or_none() -> None:
    assert [path for path in PATHS if path and not refused(SceneSpeech, "path", path)] == []
    assert not refused(SceneSpeech, "path", "")


@pytest.mark.parametrize("path", PATHS)
def test_inside_tells_what_it_expects(path: str) -> None:
    with pytest.raises(ValueError, match="from the root of the data set"):
        inside(path)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small finished build in a folder, with a secret beside it."""
    (tmp_path / "secret.wav").write_bytes(b"secret")
    root = make_build(tmp_path / "set").root
    (root / "dvc.yaml").touch()
    monkeypatch.chdir(root)
    return root


def spoil(file: Path, **changed: Any) -> None:
    """Change the first line of a file of records."""
    first, *rest = read_jsonl(file)
    write_jsonl(file, [first | changed, *rest])


@pytest.mark.parametrize(
    ("file", "kind", "field"),
    [
        ("data/scenes/scenes.jsonl", MixedScene, "path"),
        ("data/scenes/scenes.jsonl", MixedScene, "scene_id"),
        ("data/bench/items.jsonl", Item, "audio"),
        ("data/timelines.jsonl", Timeline, "scene_id"),
        ("data/sounds/bank.jsonl", Take, "path"),
    ],
)
def test_the_error_names_file_line_field_and_value(root: Path, file: str, kind: type[Record], field: str) -> None:
    spoil(root / file, **{field: "../../secret.wav"})
    expected = rf"{re.escape(file)}: line 1\.{field}: got '\.\./\.\./secret\.wav', expected"
    with pytest.raises(InputError, match=expected):
        read_records(kind, root / file)


def test_no_page_and_no_picture_is_made_from_a_path_that_leaves(root: Path) -> None:
    from cares.report.inputs import read_inputs

    spoil(root / "data/scenes/scenes.jsonl", scene_id="../../evil")
    with pytest.raises(InputError, match=r"scenes\.jsonl: line 1\.scene_id: got '\.\./\.\./evil'"):
        read_inputs(root)


def run(*arguments: str) -> str:
    """What `cares` says when it refuses."""
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code != 0 and result.exception is not None
    assert isinstance(result.exception, CaresError | SystemExit), repr(result.exception)
    return f"{result.exception} {result.output}"


def test_no_command_opens_what_a_pulled_file_names_outside(root: Path) -> None:
    (root / "data/timelines.jsonl").replace(root / "kept")
    lines = list(read_jsonl(root / "kept"))
    clip = {
        "track": "A", "path": "../secret.wav", "pcm_sha256": "0" * 64, "source_start": 0, "n_samples": 1,
        "at_sample": 0, "gain_cdb": 0,
    }  # fmt: skip
    lines[0]["clips"] = [clip]
    write_jsonl(root / "data/timelines.jsonl", lines)
    name = lines[0]["scene_id"]
    said = run("render", name, "--out", "x.wav")
    assert "timelines.jsonl: line 1.clips.0.path: got '../secret.wav'" in said
    spoil(root / "data/bench/items.jsonl", audio="../secret.wav")
    assert "items.jsonl: line 1.audio: got '../secret.wav'" in run(
        "bench", "export", "--format", "inspect", "--out", "e"
    )
    assert "scene_id" in run("show", "../../secret")
    assert not (root / "x.wav").exists() and not (root / "e").exists()


@pytest.mark.parametrize("out", ["data/x.wav", "./data/../data/scenes/x.wav", "link/x.wav"])
def test_a_command_writes_nothing_among_what_the_pipeline_made(root: Path, out: str) -> None:
    (root / "link").symlink_to("data/scenes")
    before = sorted(root.rglob("*"))
    assert "outside data/" in run("render", "t00000-0", "--out", out)
    assert "outside data/" in run("export", "t00000-0", "--format", "jams", "--out", out.replace(".wav", ".jams"))
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize("line", ["../secret.wav", "/etc/passwd", "x/../../secret.wav", ".", ""])
def test_a_list_of_sums_names_files_beside_it(root: Path, line: str) -> None:
    (root / "data/scenes/SHA256SUMS").write_text(f"{'0' * 64}  {line}\n")
    with pytest.raises(
        InputError, match=r"SHA256SUMS: line 1: got .* expected a hash and the name of a file beside it"
    ):
        damaged_scenes(root)


@pytest.mark.parametrize("path", [path for path in PATHS if path not in ("", ".")] + ["link.wav", "folder/x.wav"])
def test_a_manifest_of_recordings_stays_in_its_folder(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    (tmp_path / "secret.wav").write_bytes(b"secret")
    (folder / "link.wav").symlink_to(tmp_path / "secret.wav")
    (folder / "folder").symlink_to(tmp_path)
    (tmp_path / "x.wav").write_bytes(b"x")
    (folder / "manifest.jsonl").write_text(json.dumps({"path": path}) + "\n")
    (row,) = read_manifest(folder, ("path",))
    with pytest.raises(InputError, match=r"manifest\.jsonl: line 1: path: got "):
        locate(folder, row)


@pytest.mark.parametrize("model", ["../../x", "/etc/x", "..", "a/b", "a\0b", "~", "", "-x", "." * 9, "x" * 500, "CON:"])
def test_a_models_name_makes_one_folder(model: str) -> None:
    from cares.bench.run_folder import slug

    name = slug(model)
    assert "/" not in name and name not in ("", ".", "..") and "\0" not in name and len(name) < 120


def test_a_pin_of_the_service_holds_no_path(tmp_path: Path) -> None:
    """Its id is a number and its bytes lie under a hash of it, so nothing that a service says becomes a path."""
    from cares.sounds.freesound.pins import Pin
    from cares.sounds.freesound.source import pin_key

    given = {
        "kind": "event", "name": "../../x", "id": 1, "preview": "preview-hq-ogg", "sha256": "0" * 64,
        "licence": "CC0-1.0", "author": "../../y", "url": "file:///etc/passwd",
    }  # fmt: skip
    assert re.fullmatch("[0-9a-f]{64}", pin_key(Pin.parse(given, "pins.jsonl")))
    with pytest.raises(InputError, match="id"):
        Pin.parse(given | {"id": "../1"}, "pins.jsonl")
    with pytest.raises(InputError, match="preview"):
        Pin.parse(given | {"preview": "../x"}, "pins.jsonl")
