"""`cares verify --against`: another checkout, a plain folder, a revision, a remote, and another environment."""

from __future__ import annotations

import json
import shutil
import socket

import pytest
from small_pipeline import commit, dvc, git, make_project, verify

from cares.repro.fingerprint import store


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Two builds in two commits, the first one pushed as well; the second has another gain."""
    root = make_project(tmp_path_factory.mktemp("two builds") / "p")
    dvc(root, "remote", "add", "store", str(root.parent / "store"))
    store(root)
    commit(root, "first")
    dvc(root, "push", "-r", "store")
    git(root, "tag", "first")
    git(root.parent, "clone", "-q", str(root), "other")
    for folder in ("data", "metrics"):
        shutil.copytree(root / folder, root.parent / "other" / folder, dirs_exist_ok=True)
    path = root / "params.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace('"gain": 3', '"gain": 2'), encoding="utf-8")
    dvc(root, "repro")
    commit(root, "second")
    return root


def told(project):
    value = json.loads((project / "build/verify/report.json").read_text(encoding="utf-8"))
    return value, {row["stage"]: row for row in value["comparisons"][0]["stages"]}


@pytest.mark.parametrize(
    "place",
    [
        ["first"],
        ["store", "--rev", "first"],
        ["../store", "--rev", "first"],
        ["../other"],
        ["../other", "--rev", "HEAD"],
    ],
)
def test_the_other_build_s_mix_differs_from_its_first_sample_because_of_a_parameter(project, place):
    done = verify(project, "--against", *place)
    assert done.returncode == 1, done.stderr
    report, rows = told(project)
    assert [name for name, row in rows.items() if row["status"] == "differs"] == ["mix"]
    found = {one["path"]: one for one in rows["mix"]["differences"]}
    assert set(found) == {f"data/scenes/t0000{n}-0.wav" for n in range(4)}
    first = found["data/scenes/t00000-0.wav"]["explained"]
    assert first["first_sample"] == 0 and first["values"][0] * 2 == first["values"][1] * 3
    assert report["stale"] == {"mix": ["params.yaml: mix"]}
    assert report["environment"]["stored"] and not report["environment"]["differences"]


def test_the_same_build_is_equal_and_what_a_remote_lacks_is_said(project):
    assert verify(project, "--against", "HEAD").returncode == 0
    done = verify(project, "--against", "store", "--stage", "mix", "--stage", "speech")
    assert done.returncode == 1 and "1 of 1 objects are not in store, or damaged there" in done.stdout
    _, rows = told(project)
    assert rows["speech"]["status"] == "equal"
    assert [one["what"] for one in rows["mix"]["differences"]] == ["absent"]


def test_what_was_not_pulled_is_no_difference_but_what_is_here_and_wrong_is(project, tmp_path):
    part = tmp_path / "part"
    git(tmp_path, "clone", "-q", str(project), "part")
    dvc(part, "remote", "add", "--local", "store", str(project.parent / "store"))
    git(part, "checkout", "-q", "first")
    dvc(part, "pull", "-r", "store", "data/scenes/t00000-0.wav")
    done = verify(part, "--against", "store", "--stage", "mix", "--stage", "speech")
    assert done.returncode == 0, done.stdout
    assert "5 files and folders are not in this clone" in done.stdout, done.stdout
    assert "environment.json of commit" in done.stdout
    scene = part / "data/scenes/t00000-0.wav"
    samples = bytearray(scene.read_bytes())
    samples[-1] ^= 1
    scene.unlink()
    scene.write_bytes(samples)
    done = verify(part, "--against", "store", "--stage", "mix")
    assert done.returncode == 1, done.stdout
    _, rows = told(part)
    assert [one["path"] for one in rows["mix"]["differences"]] == ["data/scenes/t00000-0.wav"]


def test_a_flipped_byte_and_another_environment_in_a_plain_folder_are_found(project, tmp_path):
    copy = tmp_path / "sent by mail"
    shutil.copytree(project / "data", copy / "data")
    shutil.copytree(project / "metrics", copy / "metrics")
    value = json.loads((project / "environment.json").read_text(encoding="utf-8"))
    value["processor"]["name"], value["packages"]["numpy"] = "another", "1.0"
    (copy / "environment.json").write_text(json.dumps(value), encoding="utf-8")
    assert verify(project, "--against", str(copy)).returncode == 0
    speech = copy / "data/speech/speech.jsonl"
    speech.chmod(0o644)
    data = bytearray(speech.read_bytes())
    data[-3] ^= 1
    speech.write_bytes(data)
    done = verify(project, "--against", str(copy))
    assert done.returncode == 1
    report, rows = told(project)
    assert [name for name, row in rows.items() if row["status"] == "differs"] == ["speech"]
    (one,) = rows["speech"]["differences"]
    assert (one["explained"]["record"], one["explained"]["byte"]) == ("t00003-0", len(data) - 3)
    assert [one["field"] for one in report["environment"]["differences"]] == ["packages.numpy", "processor.name"]
    assert "environment: packages.numpy is" in done.stdout


def test_what_a_remote_has_damaged_is_a_difference_and_no_crash(project, tmp_path):
    copy = tmp_path / "store"
    shutil.copytree(project.parent / "store", copy)
    for listing in copy.rglob("*.dir"):
        listing.chmod(0o644)
        listing.write_bytes(listing.read_bytes()[:-9])
    done = verify(project, "--against", str(copy), "--rev", "first", "--stage", "speech")
    assert done.returncode == 1 and "1 of 1 objects are not in" in done.stdout, done.stdout + done.stderr
    _, rows = told(project)
    assert [one["what"] for one in rows["speech"]["differences"]] == ["absent"]


def test_a_remote_that_does_not_answer_is_status_2_and_its_key_is_not_told(project):
    done = verify(project, "--against", "s3://bucket/x?key=secret", "--rev", "first", AWS_EC2_METADATA_DISABLED="true")
    assert done.returncode == 2 and "verify could not be done: remote s3://bucket/x?" in done.stderr
    assert "secret" not in done.stdout + done.stderr


def test_a_folder_without_a_build_is_refused(project, tmp_path):
    done = verify(project, "--against", str(tmp_path))
    assert done.returncode == 2 and "--against" in done.stderr
    assert verify(project, "--against", ".").returncode == 2


def test_an_http_remote_that_does_not_answer_is_no_difference(project):
    with socket.socket() as nobody:  # bound, but not listening: refused
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/x"
        done = verify(project, "--against", url, "--stage", "mix")
    assert done.returncode == 2 and f"verify could not be done: remote {url}" in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"\xff', "expected valid JSON"),
        (b"{", "expected valid JSON"),
        (b"[1]", "got [1], expected what cares doctor --store writes"),
    ],
)
def test_an_environment_that_is_none_is_named(project, tmp_path, content, said):
    shutil.copytree(project / "data", tmp_path / "data")
    (tmp_path / "environment.json").write_bytes(content)
    done = verify(project, "--against", str(tmp_path))
    assert done.returncode == 2 and said in done.stderr and "environment.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_another_environment_says_does_not_reach_the_terminal_as_control_characters(project, tmp_path):
    shutil.copytree(project / "data", tmp_path / "data")
    (tmp_path / "environment.json").write_text(json.dumps({"processor": {"name": "\x1b[2Jx"}}), encoding="utf-8")
    assert "\x1b" not in verify(project, "--against", str(tmp_path)).stdout
