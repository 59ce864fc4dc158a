"""A clone that has the pipeline's stages from the timeline on, over made-up speech: real code, cheap enough to vary."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from cares.core.record import write_records
from tests.mix.mix_world import make_world

ROOT = Path(__file__).parents[2]
KEPT = ("cares/", "conf/", "stages/", ".dvc/", ".dvcignore", ".gitignore", "params.yaml")
STAGES = ("timeline", "mix", "audit")
SLOW = '''"""Two workers that sleep, for as long as nobody ends them."""

import os
import time
from pathlib import Path

from cares.core.executor import map_items
from cares.core.stage import run_stage


def sleep(name):
    Path(os.environ["SLOW_PIDS"], name).write_text(f"{os.getpid()} {os.getppid()}", encoding="ascii")
    time.sleep(300)


def main():
    map_items(sleep, ["one", "two"], desc="slow", workers=2)


if __name__ == "__main__":
    run_stage(main)
'''


class Clone:
    """A git repository with a DVC pipeline in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *command, check=True, **environment):
        """Run a command in the clone, with the tests' environment first on the path."""
        env = _environment(**environment)
        done = subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
        return done

    def start_queue(self, **environment) -> None:
        """Start a worker and wait until it is there. It would keep a pipe open, so it is given none."""
        command = ["dvc", "queue", "start"]
        subprocess.run(
            command,
            cwd=self.root,
            env=_environment(**environment),
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(lambda: self.worker() is not None)

    def json(self, *command):
        """The JSON that a command of DVC prints."""
        return json.loads(self.run("dvc", *command).stdout)

    def commit(self, message: str) -> None:
        """Commit everything."""
        self.run("git", "add", "-A")
        self.run("git", "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "-m", message)

    def store(self) -> dict[str, int]:
        """Every entry of the item store with its time of change."""
        folder = self.root / ".cares/store"
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in files}

    def worker(self) -> int | None:
        """Process id of the queue's first worker, while it lives."""
        path = self.root / ".dvc/tmp/exps/celery/dvc-exp-worker-1.pid"
        pid = int(path.read_text(encoding="ascii")) if path.exists() else None
        return pid if pid is not None and alive(pid) else None


def _environment(**more) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CARES_STORE")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return env | {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "CARES_DEVICE": "cpu", "CARES_WORKERS": "1", **more}


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0] != "Z"
        )
    except FileNotFoundError:
        return False


def wait_until(condition, seconds: float = 120.0) -> None:
    """Until `condition()` holds; AssertionError when it takes longer."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.2)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The clone with its pipeline run once and committed. (DVC makes no temporary copy where a path is not ASCII.)"""
    clone = Clone(tmp_path_factory.mktemp("with a blank"))
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if name.startswith(KEPT) and (ROOT / name).is_file():
            (clone.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone.root / name)
    world = make_world(clone.root)
    for name, records in {
        "allocation/scenes": [item.scene for item in world.inputs],
        "dialogues/accepted": [item.dialogue for item in world.inputs],
        "speech/speech": [item.speech for item in world.inputs],
        "alignment": [item.alignment for item in world.inputs],
        "sounds/bank": world.bank.takes,
        "rooms/rooms": world.bank.rooms,
    }.items():
        write_records(clone.root / f"data/{name}.jsonl", records)
    pipeline = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    stages = {name: pipeline[name] for name in STAGES}
    stages["slow"] = {"cmd": "python -m stages.slow", "params": ["seed"]}
    (clone.root / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}), encoding="utf-8")
    (clone.root / "stages/slow.py").write_text(SLOW, encoding="utf-8")
    clone.run("git", "init", "-q")
    clone.commit("start")
    clone.run("dvc", "repro", "-q", *STAGES)
    clone.commit("built")
    yield clone
    if (pid := clone.worker()) is not None:
        os.kill(pid, signal.SIGTERM)
