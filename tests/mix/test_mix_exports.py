"""Annotations for other tools, and the commands that write them and the sound."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from mix_world import World
from typer.testing import CliRunner

from cares.cli import app
from cares.core.errors import CaresError
from cares.core.pcm import read_samples
from cares.core.record import write_records
from cares.mix.backend import NumpyBackend
from cares.mix.exact import exact_signal, write_exact
from cares.mix.exports import to_audacity, to_jams, turns
from cares.mix.render import render, stem_names
from cares.records.timeline import Timeline

RATE = 44_100


def test_jams_has_the_published_structure(timelines: list[Timeline]) -> None:
    """The required keys and types of jams_schema.json and of the namespaces tag_open, segment_open and lyrics."""
    for timeline in timelines:
        jam: Any = json.loads(json.dumps(to_jams(timeline)))
        assert set(jam) == {"annotations", "file_metadata", "sandbox"}
        metadata = jam["file_metadata"]
        assert metadata["duration"] == pytest.approx(timeline.n_samples / RATE, abs=1e-6)
        assert re.fullmatch(r"\d\.\d\.\d", metadata["jams_version"])
        assert all(isinstance(metadata[name], str) for name in ("title", "artist", "release"))
        for annotation in jam["annotations"]:
            assert annotation["namespace"] in ("tag_open", "segment_open", "lyrics")
            assert set(annotation["annotation_metadata"]["curator"]) == {"name", "email"}
            assert isinstance(annotation["annotation_metadata"]["annotator"], dict)
            assert isinstance(annotation["sandbox"], dict)
            for observation in annotation["data"]:
                assert set(observation) == {"time", "duration", "value", "confidence"}
                assert 0 <= observation["time"] <= observation["time"] + observation["duration"]
                assert observation["time"] + observation["duration"] <= metadata["duration"] + 1e-6
                assert isinstance(observation["value"], str)
        sounds, reactions, spoken, gaps, words = jam["annotations"]
        assert [o["value"] for o in sounds["data"]] == [event.sound for event in timeline.events]
        assert [o["value"] for o in reactions["data"]] == [event.reaction for event in timeline.events]
        assert [round(o["time"] * RATE) for o in sounds["data"]] == [event.start_sample for event in timeline.events]
        assert sounds["sandbox"]["events"][0]["start_sample"] == timeline.events[0].start_sample
        assert [o["value"] for o in words["data"]] == [word.word for word in timeline.words]
        assert len(gaps["data"]) == len(timeline.gaps)
        assert len(spoken["data"]) == len(turns(timeline))


def test_jams_durations_are_those_of_the_samples(timelines: list[Timeline]) -> None:
    for timeline in timelines:
        gaps = to_jams(timeline)["annotations"][3]["data"]
        for gap, observation in zip(timeline.gaps, gaps, strict=True):
            assert observation["duration"] == round((gap.end_sample - gap.start_sample) / RATE, 6)
            assert len(str(observation["duration"]).split(".")[1]) <= 6


def test_jams_package_reads_it(timelines: list[Timeline], tmp_path: Path) -> None:
    jams = pytest.importorskip("jams", reason="the jams package is not installed")
    for timeline in timelines:
        path = tmp_path / f"{timeline.scene_id}.jams"
        path.write_text(json.dumps(to_jams(timeline)), encoding="utf-8")
        assert jams.load(str(path), validate=True, strict=True).validate(strict=True)


def test_audacity_labels(timelines: list[Timeline]) -> None:
    for timeline in timelines:
        text = to_audacity(timeline)
        rows = [line.split("\t") for line in text.splitlines()]
        assert text.endswith("\n")
        assert all(len(row) == 3 for row in rows)
        assert all(re.fullmatch(r"\d+\.\d{6}", cell) for row in rows for cell in row[:2])
        assert rows == sorted(rows, key=lambda row: float(row[0]))
        assert len(rows) == len(turns(timeline)) + len(timeline.events) + len(timeline.gaps)
        for event in timeline.events:
            row = next(row for row in rows if row[2].startswith(f"{event.reaction}: {event.sound} "))
            assert round(float(row[0]) * RATE) == event.start_sample
            assert round(float(row[1]) * RATE) == event.end_sample


@pytest.fixture
def project(world: World, timelines: list[Timeline], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A repository whose timelines can be rendered; returns a folder to write to."""
    write_records(world.root / "data/timelines.jsonl", timelines)
    (world.root / "params.yaml").write_text("seed: 1\n", encoding="utf-8")
    (world.root / "dvc.yaml").write_text("stages: {}\n", encoding="utf-8")
    monkeypatch.chdir(world.root)
    monkeypatch.setenv("CARES_DEVICE", "cpu")
    return tmp_path


def call(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_render_a_scene_and_counterfactuals(project: Path, world: World, timelines: list[Timeline]) -> None:
    out = project / "out file.wav"
    assert "with numpy" in call("render", "t00000-0", "--out", str(out))
    assert np.array_equal(read_samples(out), render("t00000-0", timelines, world.root, NumpyBackend()))
    text = call("render", "t00000-0", "--mute", "0", "--mute", "2", "--out", str(out))
    assert "without event 0, event 2" in text
    assert np.array_equal(read_samples(out), render("t00000-0", timelines, world.root, NumpyBackend(), muted=[0, 2]))
    assert "with torch" in call("render", "t00000-0", "--mute", "1", "--backend", "torch", "--out", str(out))
    assert np.array_equal(read_samples(out), render("t00000-0", timelines, world.root, NumpyBackend(), muted=[1]))


@pytest.mark.parametrize("exact", [False, True])
def test_a_file_that_was_not_pulled_names_what_brings_it(
    project: Path, world: World, timelines: list[Timeline], monkeypatch: pytest.MonkeyPatch, exact: bool
) -> None:
    part = project / "part"
    write_records(part / "data/timelines.jsonl", timelines)
    (part / "dvc.yaml").write_text("stages: {}\n", encoding="utf-8")
    monkeypatch.chdir(part)
    options = ["--out", str(project / "x.wav"), *(["--exact"] if exact else [])]
    with pytest.raises(CaresError, match=r"no such file.*\. Run: cares pull$"):
        call("render", "t00000-0", *options)
    (part / "data/timelines.jsonl").unlink()
    with pytest.raises(CaresError, match=r"dvc repro, or bring it: cares pull$"):
        call("export", "t00000-0", "--out", str(project / "x.jams"))


def test_exact_stems_on_disk_add_up(project: Path, world: World, timelines: list[Timeline]) -> None:
    (timeline,) = (timeline for timeline in timelines if timeline.scene_id == "t00000-0")
    signals = {}
    for name in [None, *stem_names(timeline)]:
        out = project / "stem.wav"
        call("render", "t00000-0", "--exact", *(["--stem", name] if name else []), "--out", str(out))
        assert soundfile.info(out).subtype == "DOUBLE"
        signals[name], rate = soundfile.read(out)
        assert rate == RATE
    mix = signals.pop(None)
    assert np.array_equal(sum(signals.values()), mix)
    assert np.array_equal(np.rint(mix * 32768), render("t00000-0", timelines, world.root, NumpyBackend()))


def test_exact_files_hold_no_time_of_day(tmp_path: Path) -> None:
    values = np.array([1, -1, 2**40, -(2**50)])
    write_exact(tmp_path / "a.wav", values)
    signal, _ = soundfile.read(tmp_path / "a.wav")
    assert (signal * 2.0**51).astype(np.int64).tolist() == values.tolist()
    assert b"PEAK" not in (tmp_path / "a.wav").read_bytes()
    with pytest.raises(CaresError, match="too loud"):
        exact_signal(np.array([(1 << 53) + 1]))


def test_export_writes_both_formats(project: Path) -> None:
    assert "3 sounds" in call("export", "t00000-0", "--out", str(project / "a.jams"))
    assert json.loads((project / "a.jams").read_text(encoding="utf-8"))["sandbox"]["scene_id"] == "t00000-0"
    call("export", "t00000-0", "--format", "audacity", "--out", str(project / "a.txt"))
    assert "gap: decoy" in (project / "a.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["render", "t00000-0", "--out", "x.mp3"], r"--out.*\.wav or \.flac"),
        (["render", "t00000-0", "--exact", "--out", "x.flac"], r"--out.*\.wav"),
        (["render", "t00000-0", "--out", "data/x.wav"], "outside data/"),
        (["render", "t00000-0", "--mute", "7", "--out", "x.wav"], "no event 7"),
        (["render", "t00000-0", "--stem", "voice", "--out", "x.wav"], "no stem 'voice'"),
        (["render", "t0000", "--out", "x.wav"], "no scene"),
        (["export", "t00000-0", "--out", "x.txt"], r"\.jams or \.json"),
        (["export", "t00000-0", "--format", "audacity", "--out", "x.jams"], r"\.txt"),
    ],
)
def test_wrong_arguments_are_errors_and_write_nothing(project: Path, arguments: list[str], message: str) -> None:
    before = sorted(Path().iterdir())
    with pytest.raises(CaresError, match=message):
        call(*arguments)
    assert sorted(Path().iterdir()) == before
