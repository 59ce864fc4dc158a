"""A DVC project of a few files in the shape of the data set, in a Git repository; every scene's bytes are its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
SPLIT = {0: "train", 1: "train", 2: "validation", 3: "test", 4: "test"}
MAKE = """
import hashlib, json, pathlib, sys, yaml
SPLIT = ["train", "train", "validation", "test", "test"]
seed = yaml.safe_load(open("params.yaml"))["seed"]
def put(name, data):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()
def lines(name, rows):
    put(name, "".join(json.dumps(row) + "\\n" for row in rows).encode())
def sound(number, kind):
    return f"{kind} {number} {seed} ".encode() * 2000
def scene(number):
    return f"t{number:05d}-0"
if sys.argv[1] == "mix":
    rows = [{"scene_id": scene(n), "split": s, "path": f"data/scenes/{scene(n)}.wav"} for n, s in enumerate(SPLIT)]
    sums = [put(row["path"], sound(n, "scene")) for n, row in enumerate(rows)]
    lines("data/scenes/scenes.jsonl", rows)
    put("data/scenes/SHA256SUMS", "".join(f"{s}  {r['scene_id']}.wav\\n" for s, r in zip(sums, rows)).encode())
elif sys.argv[1] == "counterfactuals":
    rows = [{"scene_id": scene(n), "split": s, "event": 0, "path": f"data/bench/counterfactuals/{scene(n)}-0.wav"}
            for n, s in enumerate(SPLIT)]
    for n, row in enumerate(rows):
        put(row["path"], sound(n, "muted"))
    lines("data/bench/counterfactuals/manifest.jsonl", rows)
else:
    rows = [{"item_id": f"q{n}", "split": s, "audio": f"data/scenes/{scene(n)}.wav"} for n, s in enumerate(SPLIT)]
    lines("data/bench/items.jsonl", rows)
    put("metrics/items.json", b"{}\\n")
"""
PIPELINE = """
stages:
  mix:
    cmd: python make.py mix
    deps: [make.py]
    params: [seed]
    outs: [data/scenes]
  counterfactuals:
    cmd: python make.py counterfactuals
    deps: [make.py, data/scenes]
    params: [seed]
    outs: [data/bench/counterfactuals]
  items:
    cmd: python make.py items
    deps: [make.py, data/scenes/scenes.jsonl, data/bench/counterfactuals/manifest.jsonl]
    params: [seed]
    outs: [data/bench/items.jsonl]
    metrics:
      - metrics/items.json: {cache: false}
"""
TEST_FILES = {
    *(f"data/scenes/{name}" for name in ("scenes.jsonl", "SHA256SUMS", "t00003-0.wav", "t00004-0.wav")),
    *(f"data/bench/counterfactuals/{name}" for name in ("manifest.jsonl", "t00003-0-0.wav", "t00004-0-0.wav")),
    "data/bench/items.jsonl",
}
METADATA = {name for name in TEST_FILES if not name.endswith(".wav")}


def environment(cwd: Path, **more: str) -> dict[str, str]:
    """That of a process in a clone; DVC's own notes lie beside the clone."""
    return {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(REPO),
        "PYTHONDONTWRITEBYTECODE": "1",
        "DVC_NO_ANALYTICS": "1",
        "DVC_SITE_CACHE_DIR": str(cwd.parent / f"{cwd.name}.site"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **more,
    }


def run(cwd: Path, *command: str, status: int | None = 0, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a clone; `status` None takes any."""
    done = subprocess.run(
        command, cwd=cwd, env=environment(cwd, **more), capture_output=True, text=True, timeout=600, check=False
    )
    assert status is None or done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def cares(cwd: Path, *arguments: str, status: int | None = 0, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `cares` in a clone."""
    return run(cwd, sys.executable, "-m", "cares.cli", *arguments, status=status, **more)


def commit(cwd: Path) -> None:
    """Commit all."""
    run(cwd, "git", "add", "-A")
    run(cwd, "git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "x")


def build(target: Path) -> Path:
    """Make the project and run its pipeline."""
    target.mkdir(parents=True)
    for name, text in (("make.py", MAKE), ("dvc.yaml", PIPELINE), ("params.yaml", "seed: 1\n")):
        (target / name).write_text(text, encoding="utf-8")
    run(target, "git", "init", "-q")
    run(target, "dvc", "init", "-q")
    run(target, "dvc", "repro", "-q")
    commit(target)
    return target


def clone(source: Path, target: Path, url: str | None = None) -> Path:
    """A clone with nothing but what Git has, and with a default remote if an address is given."""
    run(source.parent, "git", "clone", "-q", str(source), str(target))
    if url is not None:
        remote(target, url)
    return target


def remote(cwd: Path, url: str, **settings: str) -> None:
    """Give a clone its default remote, in the settings that are not committed."""
    text = f"[core]\n    remote = store\n['remote \"store\"']\n    url = {url}\n"
    text += "".join(f"    {name} = {value}\n" for name, value in settings.items())
    (cwd / ".dvc/config.local").write_text(text, encoding="utf-8")


def tree(cwd: Path) -> dict[str, bytes]:
    """The files of the data in a clone, by path."""
    found = {
        path.relative_to(cwd).as_posix(): path.read_bytes() for path in (cwd / "data").rglob("*") if path.is_file()
    }
    return {name: data for name, data in found.items() if not name.endswith(".gitignore")}
