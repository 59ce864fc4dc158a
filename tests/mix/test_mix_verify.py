"""timeline, mix and counterfactuals, rebuilt by `cares verify` in two surroundings; a disturbed mix is found."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from mix_world import MIX, SEED, TIMELINE, make_world
from typer.testing import CliRunner

from cares.cli import app
from cares.core.record import write_records

ROOT = Path(__file__).parents[2]
CPU = {"CARES_DEVICE": "cpu"}
STAGES = ("timeline", "mix", "counterfactuals")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The stages as dvc.yaml has them, on three made-up scenes whose speech, sounds and rooms are part of git."""
    root = tmp_path_factory.mktemp("real stages")
    world = make_world(root)
    write_records(root / "data/allocation/scenes.jsonl", [item.scene for item in world.inputs])
    write_records(root / "data/dialogues/accepted.jsonl", [item.dialogue for item in world.inputs])
    write_records(root / "data/speech/speech.jsonl", [item.speech for item in world.inputs])
    write_records(root / "data/alignment.jsonl", [item.alignment for item in world.inputs])
    write_records(root / "data/sounds/bank.jsonl", world.bank.takes)
    write_records(root / "data/rooms/rooms.jsonl", world.bank.rooms)
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params |= {"seed": SEED, "timeline": TIMELINE.to_json(), "mix": MIX.to_json()}
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    (root / "dvc.yaml").write_text(
        yaml.safe_dump({"stages": {name: stages[name] for name in STAGES}}), encoding="utf-8"
    )
    for name in ("cares", "stages", "prompts"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / ".dvcignore", root / ".dvcignore")
    (root / ".gitignore").write_text("/build/\n/.cares/\n", encoding="utf-8")
    for command in (
        ["git", "init", "-q"],
        [sys.executable, "-m", "dvc", "init", "-q"],
        [sys.executable, "-m", "dvc", "repro", "-q"],
        ["git", "add", "-A"],
        ["git", "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "built"],
    ):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "DVC_NO_ANALYTICS": "1", "PYTHONDONTWRITEBYTECODE": "1", **CPU}
        env.pop("PYTHONPATH", None)
        subprocess.run(command, cwd=root, env=env, check=True, capture_output=True)
    return root


def verify(root, *options):
    with contextlib.chdir(root):
        done = CliRunner().invoke(app, ["verify", *options], env=CPU)
    report = json.loads((root / "build/verify/report.json").read_text(encoding="utf-8"))
    return done, report


def test_the_stages_are_the_same_in_both_surroundings_and_as_locked(project):
    done, report = verify(project, "--twice")
    assert done.exit_code == 0, done.output
    for comparison in report["comparisons"]:
        assert sorted(row["stage"] for row in comparison["stages"]) == sorted(STAGES)
        files = {row["stage"]: row["files"] for row in comparison["stages"]}
        assert files["mix"] >= 5 and files["counterfactuals"] >= 7


def test_a_mix_that_rounds_one_sample_otherwise_is_found_by_scene_sample_and_changed_code(project):
    path = project / "cares/mix/scenes.py"
    before = path.read_text(encoding="utf-8")
    line = "            signal = to_float(samples)\n"
    assert before.count(line) == 1
    path.write_text(before.replace(line, f"            samples[5000] += 1\n{line}"), encoding="utf-8")
    try:
        done, report = verify(project, "--as-is", "--stage", "mix")
    finally:
        path.write_text(before, encoding="utf-8")
    assert done.exit_code == 1, done.output
    (row,) = report["comparisons"][0]["stages"]
    sounds = [one["explained"] for one in row["differences"] if one["path"].endswith(".wav") and "explained" in one]
    assert sounds and all(
        (one["first_sample"], one["samples_differing"], one["largest"]) == (5000, 1, 1) for one in sounds
    )
    assert all(one["byte"] in (10044, 10045) for one in sounds), "44 bytes of header, two a sample"
    assert report["stale"] == {"mix": ["cares/mix"]}
