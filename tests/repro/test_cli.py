"""The command line: errors are one message and a status that is not 0."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CARES = [sys.executable, "-m", "cares.cli"]


def run(*arguments, cwd):
    return subprocess.run([*CARES, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def test_allocate_writes_scenes_with_their_labels(tmp_path):
    done = run("allocate", "--scenes", "40", "--seed", "3", "--out", str(tmp_path / "plan ä"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "40 scenes" in done.stdout
    lines = (tmp_path / "plan ä" / "scenes.jsonl").read_text(encoding="utf-8").splitlines()
    scene = json.loads(lines[0])
    wanted = {"scene_id", "template_id", "split", "location", "roles", "genders", "composition", "events"}
    assert len(lines) == 40 and wanted <= set(scene)
    assert all(
        {"sound", "reaction", "register", "slot"} <= set(e) for line in lines for e in json.loads(line)["events"]
    )


def test_a_terminal_without_the_letters_of_a_path_gets_them_spelt(tmp_path):
    command = [*CARES, "allocate", "--scenes", "12", "--seed", "3", "--out", "plan ä"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "plan \\xe4" in done.stdout and (tmp_path / "plan ä" / "scenes.jsonl").is_file()


@pytest.mark.parametrize("count", ["0", "-3", "100001"])
def test_a_bad_size_is_one_clear_error(tmp_path, count):
    done = run("allocate", f"--scenes={count}", "--seed=1", "--out", str(tmp_path / "x"), cwd=tmp_path)
    assert done.returncode == 1
    assert "scenes" in done.stderr and count in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "x").exists()


def test_outside_a_clone_it_says_so(tmp_path):
    done = run("show", "t00000-0", cwd=tmp_path)
    assert done.returncode == 1 and "dvc.yaml" in done.stderr and "Traceback" not in done.stderr


def test_doctor_prints_processor_and_versions(tmp_path):
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    done = run("doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "processor" in done.stdout and "numpy" in done.stdout and "none yet: run make repro" in done.stdout


def test_every_section_of_the_default_is_checked(tmp_path):
    root = Path(__file__).parents[2]
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    text = (root / "params.yaml").read_text(encoding="utf-8")
    (tmp_path / "params.yaml").write_text(text, encoding="utf-8")
    assert run("check", cwd=tmp_path).returncode == 0
    (tmp_path / "params.yaml").write_text(text.replace("  scenes: 50", "  scene: 50"), encoding="utf-8")
    done = run("check", cwd=tmp_path)
    assert done.returncode == 1 and "report.scene" in done.stderr and "Traceback" not in done.stderr


def test_doctor_finds_damaged_scenes(tmp_path):
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    scenes = tmp_path / "data" / "scenes"
    scenes.mkdir(parents=True)
    (scenes / "SHA256SUMS").write_text("0" * 64 + "  a.wav\n" + "0" * 64 + "  b.wav\n")
    (scenes / "a.wav").write_bytes(b"x")
    done = run("doctor", cwd=tmp_path)
    assert done.returncode == 1
    assert "not what SHA256SUMS says: a.wav;" in done.stderr and "b.wav" not in done.stderr
    assert "1 of 2 in data/scenes (the rest: cares pull)" in done.stdout, "as after a pull of one split"
    assert "checkout" not in done.stderr, "it removes a folder of which the cache has only a part"
    (scenes / "a.wav").unlink()
    assert run("doctor", cwd=tmp_path).returncode == 0


def test_summary_before_a_run_says_what_to_do(tmp_path):
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    done = run("summary", cwd=tmp_path)
    assert done.returncode == 1 and "make repro" in done.stderr
