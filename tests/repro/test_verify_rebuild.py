"""`cares verify` in a small project: equal when it is; a difference is told by stage, file, record, sample, byte."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from small_pipeline import commit, git, make_project, verify


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("ein Projekt ä") / "p")


def report(project):
    return json.loads((project / "build/verify/report.json").read_text(encoding="utf-8"))


def rows(comparison):
    return {row["stage"]: row for row in comparison["stages"]}


def test_two_copies_in_other_surroundings_are_the_same_and_nothing_is_left_behind(project, tmp_path):
    before = sorted(path for path in project.rglob("*") if ".git/" not in str(path) and "tmp" not in path.parts)
    done = verify(project, "--twice", TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    told = report(project)
    assert told["result"] == "equal" and not list(tmp_path.iterdir())
    first, second, between = told["comparisons"]
    assert [row["stage"] for row in first["stages"]] == ["allocate", "dialogues", "speech", "mix", "audit"]
    assert sum(row["files"] for row in between["stages"]) == 14
    around = [one["surroundings"] for one in (first, second)]
    for name in ("folder", "TZ", "PYTHONHASHSEED", "CARES_WORKERS", "umask", "LC_ALL"):
        assert around[0][name] != around[1][name]
    assert "equal: 42 files of 15 stages" in done.stdout
    after = sorted(path for path in project.rglob("*") if ".git/" not in str(path) and "tmp" not in path.parts)
    assert [path for path in after if "build" not in path.relative_to(project).parts] == before


def test_a_stage_that_makes_other_bytes_is_named_with_sample_and_byte_and_what_follows_from_it(project):
    done = verify(project, "--from", "mix", DISTURB="1")
    assert done.returncode == 1
    found = rows(report(project)["comparisons"][0])
    assert list(found) == ["mix", "audit"] and found["audit"]["status"] == "equal"
    one = found["mix"]["differences"][0]
    assert one["path"] == "data/scenes/t00000-0.wav" and one["what"] == "differs"
    told = one["explained"]
    assert (told["first_sample"], told["samples_differing"], told["largest"], told["byte"]) == (1234, 1, 1, 2512)
    assert "first difference in stage mix" in done.stdout and "sample 1234 (0.028 s)" in done.stdout


def test_only_drawn_scenes_are_made_again_and_groups_of_waves_whole(project):
    done = verify(
        project, "--scenes", "1", "--seed", "5", "--stage", "dialogues", "--stage", "speech", "--stage", "mix"
    )
    assert done.returncode == 0, done.stderr
    told = report(project)
    (scene,) = told["scenes"]
    found = rows(told["comparisons"][0])
    assert [found[stage]["files"] for stage in ("dialogues", "speech", "mix")] == [1, 2, 2]
    assert "whole groups of waves, 2 scenes" in done.stdout
    assert "metrics/dialogues.json" in found["dialogues"]["left_out"]
    other = verify(project, "--scenes", "1", "--seed", "6", "--from", "speech", DISTURB="1")
    assert other.returncode == 1 and "left out, as they cannot be made again for some scenes: audit" in other.stdout
    (drawn,) = report(project)["scenes"]
    differing = rows(report(project)["comparisons"][0])["mix"]["differences"]
    assert [one["path"] for one in differing] == [f"data/scenes/{drawn}.wav"] and drawn != scene


def test_code_that_was_changed_since_is_named_and_the_working_tree_is_taken_only_when_asked(project):
    path = project / "stages/run.py"
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace('"turns": n + 3', '"turns": n + 4'), encoding="utf-8")
    try:
        done = verify(project, "--stage", "allocate")
        assert done.returncode == 0 and "not committed" in done.stdout
        done = verify(project, "--as-is", "--stage", "allocate", "--stage", "dialogues")
    finally:
        path.write_text(before, encoding="utf-8")
    assert done.returncode == 1
    assert "record t00000-0: turns: 4 for 3; 4 of 4 records differ" in done.stdout
    assert "follows from allocate" in done.stdout
    assert "stage allocate was locked with other inputs than these: stages/run.py" in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--stage", "mixx"], "--stage: got 'mixx'"),
        (["--from", "nothing"], "--from: got 'nothing'"),
        (["--scenes", "5"], "--scenes: got 5"),
        (["--scenes", "0"], "--scenes: got 0"),
        (["--scenes", "1", "--stage", "audit"], "--stage: got 'audit'"),
        (["--seed", "3"], "--seed: got 3"),
        (["--rev", "HEAD"], "--rev: got 'HEAD'"),
        (["--against", "nowhere"], "--against: got 'nowhere'"),
        (["--against", "HEAD", "--twice"], "--twice: got True"),
        (["--against", "HEAD", "--rev", "nothing"], "--rev: got 'nothing'"),
        (["--scenes", "two"], "Invalid value"),
    ],
)
def test_what_cannot_be_done_is_status_2_and_names_the_option(project, options, said):
    done = verify(project, *options)
    assert done.returncode == 2
    assert said in done.stderr and "Traceback" not in done.stderr


def test_inputs_that_are_not_here_are_named_with_the_command_that_gets_them(project, tmp_path):
    git(tmp_path, "clone", "-q", str(project), "other")
    done = verify(tmp_path / "other", "--stage", "mix")
    assert done.returncode == 2 and "dvc pull data/speech" in done.stderr
    done = verify(tmp_path / "other", "--scenes", "1")
    assert done.returncode == 2 and "dvc pull dialogues" in done.stderr
    path = tmp_path / "other/dvc.lock"
    wrong = path.read_text(encoding="utf-8").replace(
        "outs:\n    - path: data/scenes\n      hash: md5\n      md5: ",
        "outs:\n    - path: data/scenes\n      hash: md5\n      md5: 0",
    )
    path.write_text(wrong, encoding="utf-8")
    commit(tmp_path / "other", "another hash of a folder whose list is not here")
    done = verify(tmp_path / "other", "--from", "allocate")
    assert done.returncode == 1 and "the list of its files is not at hand" in done.stdout


def test_a_stage_that_fails_is_status_2_with_the_end_of_what_it_said(project):
    done = verify(project, "--stage", "mix", DISTURB="much")
    assert done.returncode == 2
    assert "stage mix failed in the clean copy" in done.stderr and "much" in done.stderr


def test_a_fault_of_ours_is_status_2_with_its_traceback_and_no_difference(project):
    path = project / "dvc.yaml"
    before = path.read_text(encoding="utf-8")
    path.write_text("stages: [\n", encoding="utf-8")
    try:
        done = verify(project, "--stage", "allocate")
    finally:
        path.write_text(before, encoding="utf-8")
    assert done.returncode == 2 and "Traceback" in done.stderr


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_verify_that_is_ended_leaves_neither_its_copy_nor_its_stage(project, tmp_path, sent, status):
    folder = tmp_path / "copies"
    folder.mkdir()
    around = {**os.environ, "TMPDIR": str(folder), "SLOW": "100"}
    command = [sys.executable, "-m", "cares.cli", "verify", "--stage", "mix"]
    # a terminal's Ctrl-C reaches all of the group, SIGTERM this process alone
    process = subprocess.Popen(command, cwd=project, env=around, stderr=subprocess.PIPE, start_new_session=True)
    stages: list[psutil.Process] = []
    end = time.monotonic() + 60
    while not stages and time.monotonic() < end:
        time.sleep(0.2)
        below = psutil.Process(process.pid).children(recursive=True)
        stages = [one for one in below if one.cmdline()[-2:] == ["stages.run", "mix"]]
    assert stages
    (os.killpg if sent == signal.SIGINT else os.kill)(process.pid, sent)
    assert process.wait(60) == status
    assert not any(one.is_running() for one in below) and not list(folder.iterdir())
