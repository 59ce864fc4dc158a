"""The whole pipeline at any size, with instant stand-ins for what loads a model: how do all the rest and DVC cope?

    python -m tests.scale.dry_run --scenes 1000 --out DIR [--store DIR] [--until STAGE]

makes a clone of this checkout in DIR, sets its params, runs `dvc repro` stage by stage and measures: time, memory of
the stage and of DVC, files. Then it runs `dvc repro` with nothing to do and `dvc status`. The figures are in
DIR/dry_run.json and are printed as tables. Interrupted, it goes on with the stage where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.scale.dry_params import set_params, stage_outs
from tests.scale.dry_table import tables

ROOT = Path(__file__).parents[2]
STAND_INS = Path("tests/scale/stand_ins")
EVERY_S = 0.2


class Memory(threading.Thread):
    """Looks at a process and all that it started, again and again; resident bytes, pages that are shared counted twice.

    `dvc` is the highest of the process itself, `stage` that of all below it, `both` of all together.
    """

    def __init__(self, process: psutil.Process) -> None:
        super().__init__(daemon=True)
        self.dvc = self.stage = self.both = 0
        self._process, self._over = process, threading.Event()

    def run(self) -> None:
        """Look until `end`."""
        while not self._over.wait(EVERY_S):
            try:
                own, below = _resident(self._process), sum(map(_resident, self._process.children(recursive=True)))
            except psutil.NoSuchProcess:
                return
            self.dvc, self.stage = max(self.dvc, own), max(self.stage, below)
            self.both = max(self.both, own + below)

    def end(self) -> None:
        """Look no more."""
        self._over.set()
        self.join()


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def measured(command: list[str], cwd: Path, environment: dict[str, str], log: Path) -> dict[str, float | int]:
    """Run a command to its end; its status, seconds and peaks of memory. What it prints goes to `log`."""
    began = time.monotonic()
    with log.open("ab") as stream:
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=stream, stderr=subprocess.STDOUT)
        memory = Memory(psutil.Process(process.pid))
        memory.start()
        try:
            status = process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
            memory.end()
    figures: dict[str, float | int] = {"status": status, "seconds": round(time.monotonic() - began, 2)}
    return figures | {"dvc_bytes": memory.dvc, "stage_bytes": memory.stage, "both_bytes": memory.both}


def make_clone(target: Path, scenes: int) -> None:
    """A repository with the files of this checkout that git knows, as they are, and the params of the dry run.

    Its cache has hard links: a copy of each file in the cache would double the space.
    """
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    # what is in the lock file was made by real models
    (target / "dvc.lock").unlink(missing_ok=True)
    set_params(target / "params.yaml", scenes)
    (target / ".dvc/config.local").write_text("[cache]\n    type = hardlink,copy\n", encoding="utf-8")
    who = ["-c", "user.name=dry run", "-c", "user.email=dry-run@localhost"]
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "start"]):
        subprocess.run(["git", *command], cwd=target, check=True)


def environment_of(target: Path, store: Path | None) -> dict[str, str]:
    """The environment of the stages: stand-ins and clone first on the path, and the tests' own programs."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {
        **os.environ,
        "PATH": path,
        "PYTHONPATH": os.pathsep.join((str(target / STAND_INS), str(target))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "DVC_NO_ANALYTICS": "1",
        "CARES_STORE": str(store or target / ".cares" / "store"),
    }


def count(paths: list[Path]) -> dict[str, int]:
    """Files and bytes of files and folders; a file that is there under two names counts once."""
    seen: dict[tuple[int, int], int] = {}
    for path in paths:
        for file in _files(path):
            about = file.stat(follow_symlinks=False)
            seen[about.st_dev, about.st_ino] = about.st_size
    return {"files": len(seen), "bytes": sum(seen.values())}


def _files(path: Path) -> Iterator[os.DirEntry[str] | Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _files(Path(entry.path))
                else:
                    yield entry


@contextmanager
def kept(path: Path) -> Iterator[dict]:
    """The figures so far, written back at the end of each block."""
    figures = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    try:
        yield figures
    finally:
        part = path.with_suffix(".part")
        part.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        part.replace(path)


def run(scenes: int, target: Path, store: Path | None, until: str | None) -> dict:
    """The dry run, from where it was; returns the figures.

    Raises:
        SystemExit: a stage failed; DIR/dry_run.log says why.
    """
    figures_file, log = target / "dry_run.json", target / "dry_run.log"
    if not (target / "dvc.yaml").is_file():
        target.mkdir(parents=True, exist_ok=True)
        make_clone(target, scenes)
    environment = environment_of(target, store)
    outs = stage_outs(target)
    if until is not None and until not in outs:
        raise SystemExit(f"error: --until {until}: the stages are {', '.join(outs)}")
    for name, paths in outs.items():
        with kept(figures_file) as figures:
            figures.setdefault("scenes", scenes)
            if figures["scenes"] != scenes:
                raise SystemExit(f"error: {target} holds a run of {figures['scenes']} scenes")
            stages = figures.setdefault("stages", {})
            if stages.get(name, {}).get("status") != 0:
                again = name in stages
                stages[name] = {"status": None}
                command = ["dvc", "repro", "--single-item", name]
                stages[name] = measured(command, target, environment, log) | {"begun_again": again}
                stages[name] |= count([target / path for path in paths])
                told = stages[name]
                print(f"{name}: {told['seconds']} s, {told['stage_bytes'] / 2**20:.0f} MiB", flush=True)
            if stages[name]["status"] != 0:
                raise SystemExit(f"error: stage {name} failed; see {log}")
        if name == until:
            break
    with kept(figures_file) as figures:
        figures["nothing_to_do"] = {
            "dvc repro": measured(["dvc", "repro", *([until] if until else [])], target, environment, log),
            "dvc status": measured(["dvc", "status"], target, environment, log),
        }
        places = {
            "data, metrics and report": [target / name for name in ("data", "metrics", "report")],
            "item store": [Path(environment["CARES_STORE"])],
            "DVC's cache": [target / ".dvc/cache"],
        }
        figures["places"] = {name: count(paths) for name, paths in places.items()}
        figures["places"]["all of these"] = count([path for paths in places.values() for path in paths])
        return dict(figures)


def main() -> None:
    """Read the command line, run, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--scenes", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder of the clone, made if it is not there")
    parser.add_argument("--store", type=Path, help="item store; by default the clone's own")
    parser.add_argument("--until", help="the last stage to run")
    given = parser.parse_args()
    store = given.store.absolute() if given.store else None
    print(tables(run(given.scenes, given.out.absolute(), store, given.until)))


if __name__ == "__main__":
    main()
