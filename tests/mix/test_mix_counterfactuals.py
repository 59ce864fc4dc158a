"""Counterfactual files for the benchmark: equal to `render` with one event muted, and to the scene elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from mix_world import World

from cares.core.canonical import file_digest
from cares.core.errors import CaresError, InputError
from cares.core.pcm import read_samples, samples_digest, write_samples
from cares.core.record import read_records, write_records
from cares.mix.backend import NumpyBackend
from cares.mix.counterfactuals import join_finished, mute_events
from cares.mix.engine import Mixer
from cares.mix.render import render
from cares.records.item import Counterfactual
from cares.records.scene import SPLITS
from cares.records.timeline import MixedScene, Timeline

REPO = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_STORE", str(tmp_path_factory.mktemp("store")))


@pytest.fixture
def scenes(world: World, timelines: list[Timeline]) -> list[MixedScene]:
    """The finished scenes, with their files in place."""
    made = []
    for timeline in timelines:
        path = f"data/scenes/{timeline.scene_id}.wav"
        write_samples(world.root / path, render(timeline.scene_id, timelines, world.root, NumpyBackend()))
        made.append(
            MixedScene(
                scene_id=timeline.scene_id,
                template_id=timeline.template_id,
                split=timeline.split,
                path=path,
                sha256=file_digest(world.root / path),
                n_samples=timeline.n_samples,
                integrated_lufs_cdb=-2300,
                true_peak_cdb=-300,
                location=timeline.location,
                relation="sibling",
                roles=("sibling", "sibling"),
                genders=timeline.genders,
                voices=("a", "b"),
                topic="",
                transcript="",
                words=timeline.words,
                events=timeline.events,
            )
        )
    return made


def test_each_event_is_muted_once_and_nothing_else_changes(
    world: World, timelines: list[Timeline], scenes: list[MixedScene], tmp_path: Path
) -> None:
    finished = join_finished(timelines, scenes, ("train", "validation", "test"))
    made = mute_events(finished, tmp_path, world.root, "numpy")
    events = {(scene.scene_id, event.event) for scene in scenes for event in scene.events}
    assert events and {(one.scene_id, one.event) for one in made} == events and len(made) == len(events)
    assert read_records(Counterfactual, tmp_path / "manifest.jsonl") == made
    of_scene = {scene.scene_id: scene for scene in scenes}
    for one in made:
        file = tmp_path / Path(one.path).name
        assert file_digest(file) == one.sha256 and one.of_sha256 == of_scene[one.scene_id].sha256
        muted, whole = read_samples(file), read_samples(world.root / of_scene[one.scene_id].path)
        again = render(one.scene_id, timelines, world.root, NumpyBackend(), muted=(one.event,))
        assert samples_digest(muted) == samples_digest(again)
        assert len(muted) == one.n_samples == len(whole)
        assert np.array_equal(muted[: one.first_sample], whole[: one.first_sample])
        assert np.array_equal(muted[one.end_sample :], whole[one.end_sample :])
        event = next(event for event in of_scene[one.scene_id].events if event.event == one.event)
        assert event.start_sample <= one.first_sample < event.end_sample


def test_what_was_muted_before_is_not_mixed_again(
    world: World, timelines: list[Timeline], scenes: list[MixedScene], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def muted(count: int, folder: str) -> dict[str, bytes]:
        out = tmp_path / folder
        mute_events(join_finished(timelines, scenes[:count], SPLITS), out, world.root, "numpy")
        return {path.name: path.read_bytes() for path in out.iterdir() if path.suffix == ".wav"}

    monkeypatch.setenv("CARES_WORKERS", "1")  # in this process, where it can be counted
    first = muted(1, "first")
    mixed: list[int] = []
    finished = Mixer.finished
    monkeypatch.setattr(Mixer, "finished", lambda *given: mixed.append(1) or finished(*given))
    both = muted(2, "both")
    assert len(mixed) == len(both) - len(first) == len(scenes[1].events)
    assert first and {name: both[name] for name in first} == first


def test_only_the_wanted_splits(timelines: list[Timeline], scenes: list[MixedScene]) -> None:
    splits = {scene.split for scene in scenes}
    for split in splits:
        assert {one.mixed.split for one in join_finished(timelines, scenes, (split,))} == {split}
    assert list(join_finished(timelines, scenes, ())) == []


def test_a_scene_that_no_timeline_made_is_an_error(timelines: list[Timeline], scenes: list[MixedScene]) -> None:
    with pytest.raises(InputError, match=r"expected a scene that data/timelines\.jsonl holds"):
        join_finished(timelines[1:], scenes, ("train",))


def test_a_changed_file_is_an_error(
    world: World, timelines: list[Timeline], scenes: list[MixedScene], tmp_path: Path
) -> None:
    wrong = scenes[0].model_copy(update={"sha256": "0" * 64})
    with pytest.raises(InputError, match="The file changed"):
        mute_events(join_finished(timelines, [wrong], (wrong.split,)), tmp_path, world.root, "numpy")


def test_a_scene_of_another_timeline_is_an_error(
    world: World, timelines: list[Timeline], scenes: list[MixedScene], tmp_path: Path
) -> None:
    louder = timelines[0].model_copy(update={"master_gain_cdb": timelines[0].master_gain_cdb - 100})
    with pytest.raises(CaresError, match="the file is not of this timeline"):
        mute_events(join_finished([louder], scenes[:1], (scenes[0].split,)), tmp_path, world.root, "numpy")


def test_an_event_that_cannot_be_heard_is_an_error(
    world: World, timelines: list[Timeline], scenes: list[MixedScene], tmp_path: Path
) -> None:
    silent = timelines[0].model_copy(update={"master_gain_cdb": -12_000})
    path = world.root / scenes[0].path
    whole = path.read_bytes()
    write_samples(path, render(silent.scene_id, [silent], world.root, NumpyBackend()))
    mixed = scenes[0].model_copy(update={"sha256": file_digest(path)})
    try:
        with pytest.raises(CaresError, match="event 0 changes no sample; it cannot be heard"):
            mute_events(join_finished([silent], [mixed], (mixed.split,)), tmp_path, world.root, "numpy")
    finally:
        path.write_bytes(whole)


def test_the_stage_leaves_its_files_and_none_without_the_task(
    world: World, timelines: list[Timeline], scenes: list[MixedScene]
) -> None:
    root, out = world.root, world.root / "data/bench/counterfactuals"
    write_records(root / "data/timelines.jsonl", timelines)
    write_records(root / "data/scenes/scenes.jsonl", scenes)
    items = {
        "tasks": ["grounding"],
        "splits": ["train", "validation", "test"],
        "reaction_levels": ["time"],
        "grounding_splits": ["train", "validation", "test"],
        "summary_words": [25],
    }
    environment = {**os.environ, "PYTHONPATH": str(REPO), "CARES_DEVICE": "cpu", "CARES_WORKERS": "1"}
    files = {}
    for tasks in (["grounding"], ["scene"], ["grounding"]):
        (root / "params.yaml").write_text(yaml.safe_dump({"seed": 1, "items": items | {"tasks": tasks}}))
        command = [sys.executable, str(REPO / "stages/counterfactuals.py")]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found = {path.name: path.read_bytes() for path in out.iterdir()}
        assert len(found) == 1 + sum(len(scene.events) for scene in scenes) * (tasks == ["grounding"])
        assert files.setdefault(tuple(tasks), found) == found
