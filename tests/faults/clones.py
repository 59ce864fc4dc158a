"""Clones of this checkout in which faults are made: made small, built, and compared with what they were."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.faults.processes import MARK

ROOT = Path(__file__).parents[2]
STAND_INS = ROOT / "tests/scale/stand_ins"
# what is made and not tracked by git as source
MADE = ("data", "metrics", "report")
LOCK = "dvc.lock"
RUN_CACHE = ".dvc/cache/runs"


@dataclass
class Clone:
    """A clone and the environment of the commands in it.

    Attributes:
        root: its folder.
        mark: every process that is started for it carries this in its environment.
        first: folders that come first on PYTHONPATH, such as that of stand-ins.
        extra: further environment.
    """

    root: Path
    mark: str
    first: tuple[Path, ...] = ()
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        """Its item store."""
        return Path(self.extra.get("CARES_STORE", self.root / ".cares/store"))

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of a command in the clone; what this process was told of servers and workers is left out."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CARES_LLM", "CARES_TTS"))}
        return {
            **kept,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(map(str, (*self.first, self.root))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "DVC_NO_ANALYTICS": "1",
            "CARES_STORE": str(self.store),
            MARK: self.mark,
            **self.extra,
            **more,
        }

    def run(self, *command: str, log: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; what it prints is also appended to `log`."""
        done = subprocess.run(
            command, cwd=self.root, env=self.environment(**more), capture_output=True, text=True, check=False
        )
        if log is not None:
            with log.open("a", encoding="utf-8") as stream:
                stream.write(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}\nstatus {done.returncode}\n")
        return done

    def start(self, *command: str, log: Path, **more: str) -> subprocess.Popen[bytes]:
        """Start a command in a session and process group of its own."""
        with log.open("ab") as stream:
            return subprocess.Popen(
                command,
                cwd=self.root,
                env=self.environment(**more),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )


def copy_checkout(target: Path) -> None:
    """A git repository with the files of this checkout that git knows, without dvc.lock and metrics."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        is_made = name == LOCK or (name.startswith("metrics/") and not name.startswith("metrics/audit_corpus/"))
        if (ROOT / name).is_file() and not is_made:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    git_init(target)


def git_init(target: Path) -> None:
    """Make a folder a git repository with everything in it committed."""
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "start"]):
        subprocess.run(["git", *command], cwd=target, check=True)


def commit(target: Path, message: str) -> None:
    """Commit everything."""
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run(["git", "add", "-A"], cwd=target, check=True)
    subprocess.run(["git", *who, "commit", "-q", "-m", message], cwd=target, check=True)


def lock_entries(root: Path) -> dict[str, Any]:
    """The stages of dvc.lock; empty when there is none. YAMLError or TypeError when it is cut."""
    path = root / LOCK
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8")
    entries: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))["stages"]
    return entries


def forget(root: Path, stages: set[str]) -> None:
    """Make DVC run these stages again: their entries of dvc.lock go, and the whole run-cache."""
    left = {name: entry for name, entry in lock_entries(root).items() if name not in stages}
    text = yaml.dump(
        {"schema": "2.0", "stages": left}, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False
    )
    (root / LOCK).write_text(text, encoding="utf-8")
    shutil.rmtree(root / RUN_CACHE, ignore_errors=True)


def manifest(root: Path) -> dict[str, str]:
    """SHA-256 of every file that the stages made, temporary ones apart."""
    found = {}
    for name in MADE:
        for path in sorted((root / name).rglob("*")):
            if path.is_file() and not path.name.endswith(".part") and ".part/" not in str(path.relative_to(root)):
                found[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def outs_of(root: Path) -> dict[str, list[str]]:
    """The paths that each stage of dvc.lock makes."""
    return {name: [out["path"] for out in entry.get("outs", ())] for name, entry in lock_entries(root).items()}


def temporary(root: Path) -> list[str]:
    """Temporary files and folders among the outs."""
    return sorted(path.relative_to(root).as_posix() for name in MADE for path in (root / name).rglob(".*.part"))


def entries(store: Path) -> set[str]:
    """Names of the entries of an item store."""
    return {str(path.relative_to(store)) for path in store.rglob("*") if path.is_file() and path.suffix != ".part"}


def temporary_entries(store: Path) -> list[str]:
    """Names of the temporary files in an item store."""
    return sorted(str(path.relative_to(store)) for path in store.rglob(".*.part"))


def write_json(path: Path, value: object) -> None:
    """For the harness's own files; whole or not at all."""
    part = path.with_suffix(".writing")
    part.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    part.replace(path)
