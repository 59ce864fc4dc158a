"""Stages timeline, mix and audit as they are run: files, metrics, resuming, and what fails."""

from __future__ import annotations

import csv
import dataclasses
import errno
import hashlib
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from mix_world import MIX, SEED, TIMELINE, World, make_world

from cares.core import atomic
from cares.core.errors import InputError
from cares.core.pcm import read_samples
from cares.core.record import read_records, write_records
from cares.mix import scenes
from cares.mix.render import render
from cares.mix.scenes import MixItem, batch_size, join_timelines, mix_scenes
from cares.records.dialogue import Dialogue
from cares.records.scene import REACTIONS, Scene
from cares.records.speech import SceneSpeech
from cares.records.timeline import MixedScene, Timeline

REPO = Path(__file__).parents[2]
AUDIT = {"folds": 5, "repeats": 1, "bootstrap": 200, "context_ms": 1000, "regularisation": 1.0, "trees": 0}


def write_project(world: World, **mix: object) -> None:
    """All files that the stages read, below the world's folder."""
    root = world.root
    write_records(root / "data/allocation/scenes.jsonl", [item.scene for item in world.inputs])
    write_records(root / "data/dialogues/accepted.jsonl", [item.dialogue for item in world.inputs])
    write_records(root / "data/speech/speech.jsonl", [item.speech for item in world.inputs])
    write_records(root / "data/alignment.jsonl", [item.alignment for item in world.inputs if not item.speech.failure])
    write_records(root / "data/sounds/bank.jsonl", world.bank.takes)
    write_records(root / "data/rooms/rooms.jsonl", world.bank.rooms)
    sections = {"seed": SEED, "timeline": TIMELINE.to_json(), "mix": MIX.to_json() | mix, "audit": AUDIT}
    (root / "params.yaml").write_text(yaml.safe_dump(sections), encoding="utf-8")


def start(root: Path, stage: str, workers: int = 1) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPO), "CARES_STORE": str(root / ".store"), "CARES_DEVICE": "cpu"}
    return subprocess.Popen(
        [sys.executable, str(REPO / "stages" / f"{stage}.py")],
        cwd=root,
        env={**environment, "CARES_WORKERS": str(workers)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(root: Path, stage: str, workers: int = 1) -> subprocess.CompletedProcess[str]:
    process = start(root, stage, workers)
    out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def sums(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def joined(project: Path) -> list[MixItem]:
    return list(
        join_timelines(
            read_records(Timeline, project / "data/timelines.jsonl"),
            read_records(Scene, project / "data/allocation/scenes.jsonl"),
            read_records(Dialogue, project / "data/dialogues/accepted.jsonl"),
            read_records(SceneSpeech, project / "data/speech/speech.jsonl"),
        )
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    world = make_world(tmp_path_factory.mktemp("ein Ordner für Töne"))
    write_project(world)
    for stage in ("timeline", "mix", "audit"):
        done = run(world.root, stage)
        assert done.returncode == 0, done.stderr
    return world.root


def test_files_are_what_the_annotation_says(project: Path) -> None:
    scenes = read_records(MixedScene, project / "data/scenes/scenes.jsonl")
    assert [scene.scene_id for scene in scenes] == ["t00000-0", "t00001-0", "t00002-0"]
    for scene in scenes:
        assert len(read_samples(project / scene.path)) == scene.n_samples
        assert hashlib.sha256((project / scene.path).read_bytes()).hexdigest() == scene.sha256
        assert abs(scene.integrated_lufs_cdb + 2300) <= 5
        assert scene.true_peak_cdb <= -100
        assert scene.transcript.startswith("A: ")
        assert len(scene.transcript.splitlines()) == max(word.turn for word in scene.words) + 1


def test_sha256sums_can_be_checked(project: Path) -> None:
    lines = (project / "data/scenes/SHA256SUMS").read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines, key=lambda line: line.split("  ")[1])
    assert len(lines) == 4
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=project / "data/scenes", check=True)


def test_metrics_and_plots(project: Path) -> None:
    timeline = json.loads((project / "metrics/timeline.json").read_text())
    assert (timeline["scenes"], timeline["placed"], timeline["left_out"], timeline["events"]) == (3, 3, {}, 6)
    assert timeline["decoys_placed"] == timeline["decoys_wanted"] == 6
    assert timeline["margin_db_min"] >= 6
    mix = json.loads((project / "metrics/mix.json").read_text())
    assert mix["integrated_lufs"]["min"] >= -23.05
    assert mix["true_peak_dbtp_max"] <= -1
    gaps = list(csv.DictReader((project / "metrics/plots/timeline_gaps.csv").open()))
    assert [row["kind"] for row in gaps if row["measure"] == "gap, s"] == [*REACTIONS, "decoy", "turn"]
    assert sum(int(row["count"]) for row in gaps if row["measure"].startswith("sound begins")) == 6
    loudness = {
        (row["measure"], row["kind"]): row
        for row in csv.DictReader((project / "metrics/plots/mix_loudness.csv").open())
    }
    assert loudness["scene, LUFS", "scene"]["count"] == "3"
    assert abs(float(loudness["scene, LUFS", "scene"]["median"]) + 23) <= 0.05
    assert sum(int(loudness["sound in the scene, LUFS", label]["count"]) for label in REACTIONS) == 6
    assert float(loudness["sound above the ambience, dB", "pivot"]["lowest"]) >= 6
    audit = json.loads((project / "metrics/audit.json").read_text())
    assert audit["balanced_accuracy"] is None
    assert "too few" in audit["note"]


def test_workers_and_the_store_change_nothing(project: Path) -> None:
    before = sums(project / "data/scenes") | {"timelines": (project / "data/timelines.jsonl").read_text()}
    store = sorted((project / ".store").rglob("*"))
    (project / "data/timelines.jsonl").unlink()
    assert run(project, "timeline").returncode == 0
    assert sorted((project / ".store").rglob("*")) == store
    shutil.rmtree(project / ".store")
    assert run(project, "timeline", 2).returncode == 0
    assert run(project, "mix", 2).returncode == 0
    assert sums(project / "data/scenes") | {"timelines": (project / "data/timelines.jsonl").read_text()} == before


@pytest.mark.parametrize("backend", ["numpy", "torch-cpu"])
def test_batches_and_backends_write_the_same_files(
    project: Path, tmp_path: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARES_WORKERS", "1")
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    items = joined(project)
    mix_scenes(items, tmp_path / "out", project, backend, batch=2)
    assert sums(tmp_path / "out") == sums(project / "data/scenes")


def test_a_scene_is_rendered_again_only_when_its_timeline_changes(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARES_WORKERS", "1")
    monkeypatch.setenv("CARES_STORE", str(project / ".store"))
    items = joined(project)
    rendered: list[str] = []
    monkeypatch.setattr(scenes, "render", lambda name, *others: rendered.append(name) or render(name, *others))
    mix_scenes(items, tmp_path / "again", project, "numpy")
    assert sums(tmp_path / "again") == sums(project / "data/scenes")
    assert rendered == []
    quieter = items[1].timeline.model_copy(update={"master_gain_cdb": items[1].timeline.master_gain_cdb - 100})
    items[1] = dataclasses.replace(items[1], timeline=quieter)
    mixed = mix_scenes(items, tmp_path / "changed", project, "numpy")
    assert rendered == ["t00001-0"]
    assert mixed[1].integrated_lufs_cdb == pytest.approx(-2400, abs=5)


@pytest.mark.parametrize("written", [0, 2])
def test_a_disk_without_room_leaves_the_old_scenes_and_names_the_file(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    shutil.copytree(project, tmp_path, dirs_exist_ok=True)
    before = sums(tmp_path / "data/scenes")
    monkeypatch.chdir(tmp_path)
    for name, value in (("CARES_WORKERS", "1"), ("CARES_STORE", str(tmp_path / ".store")), ("CARES_DEVICE", "cpu")):
        monkeypatch.setenv(name, value)
    make, made = atomic._own_part, [0]

    def full(path: Path) -> tuple[int, Path]:
        if path.suffix == ".wav":
            made[0] += 1
            if made[0] > written:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return make(path)

    monkeypatch.setattr(atomic, "_own_part", full)
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(REPO / "stages/mix.py"), run_name="__main__")
    assert re.match(rf"error: .*t0000{written}-0\.wav.*: No space left on device", str(end.value.code))
    assert sums(tmp_path / "data/scenes") == before
    assert not list((tmp_path / "data").glob(".scenes*"))


def test_batch_size_follows_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (batch_size("numpy"), batch_size("torch-cpu"), batch_size("torch-cuda")) == (1, 1, 8)
    monkeypatch.setenv("CARES_MIX_BATCH", "3")
    assert (batch_size("numpy"), batch_size("torch-cuda")) == (1, 3)
    monkeypatch.setenv("CARES_MIX_BATCH", "0")
    with pytest.raises(InputError, match="CARES_MIX_BATCH"):
        batch_size("torch-cuda")


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_and_started_again_it_ends_the_same(project: Path, tmp_path: Path, signal_number: int) -> None:
    shutil.copytree(project, tmp_path, dirs_exist_ok=True)
    expected = (tmp_path / "data/timelines.jsonl").read_bytes()
    for _ in range(10):
        (tmp_path / "data/timelines.jsonl").unlink()
        shutil.rmtree(tmp_path / ".store", ignore_errors=True)
        process = start(tmp_path, "timeline")
        while process.poll() is None and not any(path.is_file() for path in (tmp_path / ".store").rglob("*")):
            time.sleep(0.01)
        process.send_signal(signal_number)
        process.communicate(timeout=120)
        if process.returncode:  # else it was through before the signal came
            break
    assert process.returncode == (130 if signal_number == signal.SIGINT else -signal.SIGKILL)
    assert not (tmp_path / "data/timelines.jsonl").exists()
    assert run(tmp_path, "timeline").returncode == 0
    assert (tmp_path / "data/timelines.jsonl").read_bytes() == expected


@pytest.mark.parametrize("change", [{"event": 7}, {"event": 0}])
def test_a_dialogue_with_other_events_than_its_scene_is_an_error(tmp_path: Path, change: dict[str, int]) -> None:
    world = make_world(tmp_path)
    item = world.inputs[0]
    turns = tuple(
        turn.model_copy(
            update={"segments": tuple(s if s.event is None else s.model_copy(update=change) for s in turn.segments)}
        )
        for turn in item.dialogue.turns
    )
    assert len(item.scene.events) > 1
    dialogue = item.dialogue.model_copy(update={"turns": turns})
    world.inputs[0] = type(item)(item.scene, dialogue, item.speech, item.alignment)
    write_project(world)
    done = run(tmp_path, "timeline")
    assert done.returncode == 1
    assert f"{item.scene.scene_id}.turns.event" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_scene_that_was_not_spoken_is_left_out_with_its_reason(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    silent = {"failure": "word error rate 0.8", "utterances": (), "pcm_sha256": None}
    item = world.inputs[1]
    world.inputs[1] = type(item)(item.scene, item.dialogue, item.speech.model_copy(update=silent), item.alignment)
    write_project(world)
    done = run(tmp_path, "timeline")
    assert done.returncode == 0, done.stderr
    assert "2 of 3 scenes" in done.stdout
    assert "t00001-0 (speech: word error rate 0.8)" in done.stdout
    metrics = json.loads((tmp_path / "metrics/timeline.json").read_text())
    assert metrics["left_out"] == {"t00001-0": "speech: word error rate 0.8"}
    assert [timeline.scene_id for timeline in read_records(Timeline, tmp_path / "data/timelines.jsonl")] == [
        "t00000-0",
        "t00002-0",
    ]


@pytest.mark.parametrize(("field", "value"), [("master_lufs", -2), ("margn_db", 6)])
def test_bad_param_stops_before_anything_is_written(tmp_path: Path, field: str, value: object) -> None:
    write_project(make_world(tmp_path), **{field: value})
    done = run(tmp_path, "timeline")
    assert done.returncode == 1
    assert f"params.yaml: mix.{field}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data/timelines.jsonl").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_damaged_source_leaves_no_half_written_folder(project: Path, tmp_path: Path, workers: int) -> None:
    shutil.copytree(project, tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "data/scenes")
    shutil.rmtree(tmp_path / ".store")
    (tmp_path / "data/speech/t00001-0.flac").write_bytes(b"not a sound")
    done = run(tmp_path, "mix", workers)
    assert done.returncode == 1
    assert "t00001-0.flac" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data/scenes").exists()
    assert not list((tmp_path / "data").glob(".scenes*"))
