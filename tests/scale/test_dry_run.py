"""The tool of the dry run, and the real stages with the stand-ins up to the words' times; neither loads a model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scale.dry_run import environment_of, make_clone

ROOT = Path(__file__).parents[2]
SCENES = 6
GIB = 2**30


def lines(path):
    """The values of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_what_the_stand_ins_write_say_and_hear_passes_the_real_checks(tmp_path, monkeypatch):
    monkeypatch.setenv("CARES_WORKERS", "1")
    make_clone(tmp_path, SCENES)
    for stage in ("models", "allocate", "calibrate", "topics", "dialogues", "speech", "align"):
        command = [sys.executable, "-m", f"stages.{stage}"]
        environment = environment_of(tmp_path, None)
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, stage + done.stdout + done.stderr[-3000:]
    metrics = {name: json.loads((tmp_path / f"metrics/{name}.json").read_text()) for name in ("dialogues", "speech")}
    assert (metrics["dialogues"]["accepted"], metrics["dialogues"]["refused"]) == (SCENES, [])
    assert (metrics["speech"]["failed_scenes"], metrics["speech"]["word_errors"]) == (0, 0)
    words = [word for scene in lines(tmp_path / "data/alignment.jsonl") for word in scene["words"]]
    assert words and not any(word["interpolated"] for word in words)
    assert all("stand-in" in one["name"] for one in json.loads((tmp_path / "data/models.json").read_text()).values())


@pytest.mark.slow
def test_the_tool_measures_and_a_second_call_runs_no_stage_again(tmp_path):
    out = tmp_path / "dry"
    sized = ["--scenes", str(SCENES)]
    command = [sys.executable, "-m", "tests.scale.dry_run", "--out", str(out), "--until", "models"]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*command, *sized], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((out / "dry_run.json").read_text())
    assert list(figures["stages"]) == ["models"]
    one = figures["stages"]["models"]
    assert one["status"] == 0 and one["files"] == 1 and one["bytes"] == (out / "data/models.json").stat().st_size
    assert 10 * 2**20 < one["stage_bytes"] < one["both_bytes"] < GIB
    assert all(one["status"] == 0 for one in figures["nothing_to_do"].values())
    assert "| models |" in done.stdout and "| `dvc status` |" in done.stdout

    again = subprocess.run([*command, *sized], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert json.loads((out / "dry_run.json").read_text())["stages"] == figures["stages"]
    assert again.stdout.startswith("| stage |")
    refused = subprocess.run([*command, "--scenes", "7"], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert refused.returncode == 1 and "holds a run of 6 scenes" in refused.stderr
