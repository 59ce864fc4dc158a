"""A DVC project of five quick stages with names of ours, built and committed: for the tests of `cares verify`."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from dvc.cli import main
from typer.testing import CliRunner

from cares.cli import app

STAGE = """
import json, os, pathlib, struct, sys, time, wave

name, seed = sys.argv[1], 1
data = pathlib.Path("data")


def jsonl(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(r, sort_keys=True) + "\\n" for r in records))


def records(path):
    return [json.loads(line) for line in (data / path).read_text().splitlines()]


def sound(path, samples):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1), out.setsampwidth(2), out.setframerate(44100)
        out.writeframes(struct.pack(f"<{len(samples)}h", *samples))


if name == "allocate":
    jsonl(data / "allocation/scenes.jsonl", [{"scene_id": f"t0000{n}-0", "turns": n + 3} for n in range(4)])
if name == "dialogues":
    scenes = records("allocation/scenes.jsonl")
    size = 2
    for start in range(0, len(scenes), size):
        group = scenes[start : start + size]
        for scene in group:
            scene["said"] = "hm " * sum(one["turns"] for one in group)
    jsonl(data / "dialogues/accepted.jsonl", scenes)
    pathlib.Path("metrics").mkdir(exist_ok=True)
    pathlib.Path("metrics/dialogues.json").write_text(json.dumps({"scenes": len(scenes)}))
if name == "speech":
    cast = len(records("allocation/scenes.jsonl"))
    spoken = records("dialogues/accepted.jsonl")
    for scene in spoken:
        sound(data / f"speech/{scene['scene_id']}.wav", [n * cast + len(scene["said"]) for n in range(2000)])
    jsonl(data / "speech/speech.jsonl", spoken)
if name == "mix":
    time.sleep(float(os.environ.get("SLOW", "0")))
    heard = records("speech/speech.jsonl")
    gain = json.loads(pathlib.Path("params.yaml").read_text())["mix"]["gain"]
    for scene in heard:
        path = data / f"scenes/{scene['scene_id']}.wav"
        with wave.open(str(data / f"speech/{path.name}")) as source:
            samples = struct.unpack("<2000h", source.readframes(2000))
        sound(path, [gain * one + int(os.environ.get("DISTURB", "0")) * (n == 1234) for n, one in enumerate(samples)])
    jsonl(data / "scenes/scenes.jsonl", [{"scene_id": s["scene_id"], "words": s["said"].split()} for s in heard])
if name == "audit":
    pathlib.Path("metrics/audit.json").write_text(json.dumps({"n": len(records("scenes/scenes.jsonl"))}))
"""

PIPELINE = """
stages:
  allocate:
    cmd: python -m stages.run allocate
    deps: [stages/run.py]
    outs: [data/allocation]
  dialogues:
    cmd: python -m stages.run dialogues
    deps: [stages/run.py, data/allocation/scenes.jsonl]
    params: [dialogues]
    outs: [data/dialogues]
    metrics: [metrics/dialogues.json: {cache: false}]
  speech:
    cmd: python -m stages.run speech
    deps: [stages/run.py, data/allocation/scenes.jsonl, data/dialogues/accepted.jsonl]
    outs: [data/speech]
  mix:
    cmd: python -m stages.run mix
    deps: [stages/run.py, data/speech]
    params: [mix]
    outs: [data/scenes]
  audit:
    cmd: python -m stages.run audit
    deps: [stages/run.py, data/scenes]
    metrics: [metrics/audit.json: {cache: false}]
"""


@contextlib.contextmanager
def inside(root: Path, **variables: str):
    """In a project's folder, with this environment's programs first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(root):
        for name, value in {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "DVC_NO_ANALYTICS": "1", **variables}.items():
            patch.setenv(name, value)
        yield


def dvc(root: Path, *arguments: str) -> None:
    """A DVC command in a project, in this process: DVC takes long to load."""
    with inside(root):
        assert main([arguments[0], "-q", *arguments[1:]]) == 0, arguments


def verify(root: Path, *options: str, **variables: str) -> SimpleNamespace:
    """`cares verify` in a project: `returncode`, `stdout`, `stderr`."""
    with inside(root, **variables):
        found = CliRunner().invoke(app, ["verify", *options], catch_exceptions=True)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return SimpleNamespace(returncode=found.exit_code, stdout=found.stdout, stderr=found.stderr)


def git(root: Path, *arguments: str) -> None:
    """A git command in a project."""
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True)


def commit(root: Path, message: str) -> None:
    """Commit all."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


def make_project(root: Path) -> Path:
    """Build and commit the project in an empty folder."""
    (root / "stages").mkdir(parents=True)
    # a package of its own, or another folder `stages` on Python's path could come before it
    (root / "stages/__init__.py").touch()
    (root / "stages/run.py").write_text(STAGE, encoding="utf-8")
    (root / "dvc.yaml").write_text(PIPELINE, encoding="utf-8")
    (root / "params.yaml").write_text('{"dialogues": {"group_scenes": 2}, "mix": {"gain": 3}}', encoding="utf-8")
    (root / ".gitignore").write_text("/build/\n", encoding="utf-8")
    git(root, "init", "-q")
    dvc(root, "init")
    (root / ".dvcignore").write_text("__pycache__\n*.pyc\n", encoding="utf-8")
    dvc(root, "repro")
    commit(root, "built")
    return root
