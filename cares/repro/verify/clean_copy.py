"""A clean copy of a commit: what git has, no item store, no DVC cache, and the inputs that are not rebuilt."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from cares.core.canonical import Json
from cares.core.errors import CaresError
from cares.repro.verify.draw import ALLOCATED, BY_GROUP, BY_SCENE, Draw, restricted
from cares.repro.verify.hashes import combined, ignored_patterns, listing
from cares.repro.verify.lockfile import Entry, Lock, LockedStage, touches
from cares.repro.verify.places import Place

# a rebuild takes none of these from outside: they name other places, or what Python should load
FORGOTTEN = (
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "CARES_STORE",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "DVC_CACHE_DIR",
)


@dataclass(frozen=True)
class Surroundings:
    """What must not change a byte: the folder's name, environment variables, and the mask of new files' modes."""

    label: str
    folder: str
    variables: dict[str, str] = field(default_factory=dict)
    umask: int = -1

    def to_json(self) -> Json:
        """For the report."""
        mask = {} if self.umask < 0 else {"umask": f"{self.umask:03o}"}
        return {"folder": self.folder, **self.variables, **mask}


def two_surroundings() -> tuple[Surroundings, Surroundings]:
    """Two that differ in path, locale, time zone, umask, hash seed of Python and number of workers."""
    locales = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    # Turkish and German have other letters and another decimal sign; where they are not installed, UTF-8 is at least
    far = next((name for name in ("tr_TR.utf8", "de_DE.utf8", "C.utf8") if name in locales), "POSIX")
    more = max(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    return (
        Surroundings(
            "first copy",
            "first",
            {"LC_ALL": "C", "TZ": "UTC0", "PYTHONHASHSEED": "0", "CARES_WORKERS": "1"},
            0o022,
        ),
        Surroundings(
            "second copy",
            "a second copy ü",
            {"LC_ALL": far, "TZ": "XXX-5:45", "PYTHONHASHSEED": "4242", "CARES_WORKERS": str(more)},
            0o077,
        ),
    )


class CleanCopy:
    """One clean copy, at `root`.

    Args:
        source: the clone.
        root: a folder that does not exist.
        commit: which commit.
        surroundings: under which a stage runs in it.
        as_is: bring it to the state of the clone's working tree.
    """

    def __init__(self, source: Path, root: Path, commit: str, surroundings: Surroundings, as_is: bool) -> None:
        self.source, self.root, self.surroundings = source, root, surroundings
        _git("clone", "--quiet", "--no-checkout", "--shared", str(source), str(root), cwd=source)
        _git("checkout", "--quiet", "--detach", commit, cwd=root)
        if as_is:
            _overlay(source, root)
        # the user's own settings may name a shared cache: this one is empty and goes with the copy
        folder = root / ".dvc"
        (folder / "config.local").write_text("[cache]\n    dir = cache\n", encoding="utf-8")

    def environment(self) -> dict[str, str]:
        """The variables under which stages run."""
        kept = {name: value for name, value in os.environ.items() if name not in FORGOTTEN}
        return {
            **kept,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "DVC_NO_ANALYTICS": "1",
            "CARES_STORE": str(self.root / ".cares" / "store"),
            **self.surroundings.variables,
        }

    def clear(self, stages: Sequence[LockedStage]) -> None:
        """Remove the outs of stages, metrics of git among them, so that none that is not made again can count."""
        for stage in stages:
            for entry in stage.outs:
                path = self.root / entry.path
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)

    def narrow(self, stages: Sequence[LockedStage], ids: frozenset[str]) -> None:
        """Keep of the records that stages made only those of some scenes; the allocation comes back whole."""
        for entry in (entry for stage in stages for entry in stage.outs):
            path = self.root / entry.path
            for file in [path] if path.is_file() else sorted(path.rglob("*.jsonl")):
                data = restricted(file.name, file, ids) if file.suffix == ".jsonl" else None
                if data is not None:
                    file.write_bytes(data)
        (self.root / ALLOCATED).unlink(missing_ok=True)

    def place_inputs(self, place: Place, readers: Sequence[str], rebuilt: Sequence[str], draw: Draw | None) -> None:
        """Put into the copy what `readers` read of stages that are not among the rebuilt ones, from `place`.

        Raises:
            CaresError: some of it is not at hand.
        """
        lock, lacking = place.lock, set()
        for entry, stage, reader in _inputs(lock, readers, rebuilt):
            ids = None
            if draw is not None and stage in (*BY_SCENE, *BY_GROUP):
                ids = draw.ids(reader)
            if draw is not None and reader in BY_GROUP and entry.path == Path(ALLOCATED).parent.as_posix():
                ids = draw.of_groups
            if not self._place(place, entry, lock[reader], ids):
                lacking.add(entry.path)
        if lacking:
            names = " ".join(sorted(lacking))
            raise CaresError(f"not here, but read by what is to be rebuilt: {names}; get it with: dvc pull {names}")

    def _place(self, place: Place, entry: Entry, reader: LockedStage, ids: frozenset[str] | None) -> bool:
        files = place.listing(entry)
        if files is None:
            return False
        for name, md5 in files.items():
            inside = f"{entry.path}/{name}" if name else entry.path
            target = self.root / inside
            if not any(touches(dep.path, inside) for dep in reader.deps) or (ids is None and target.is_file()):
                continue
            file = place.file(entry, name, md5)
            if file is None:
                return False
            target.parent.mkdir(parents=True, exist_ok=True)
            if ids is None:
                shutil.copyfile(file, target)
            elif (data := restricted(inside, file, ids)) is not None:
                target.write_bytes(data)
        return True

    def place_own_inputs(self, stages: Sequence[LockedStage], lock: Lock) -> tuple[list[str], dict[str, list[str]]]:
        """Bring in what no stage makes and git does not have (recordings), and find what is not as the lock says.

        Returns:
            The paths that were taken from the clone, and by stage what it will read that is not what dvc.lock was made
            from: files of other bytes, parameters of other values.
        """
        made = [entry.path for stage in lock.values() for entry in stage.outs]
        patterns, hashes = ignored_patterns(self.root), dict[str, str | None]()
        taken, stale = [], dict[str, list[str]]()
        for stage in stages:
            for dep in stage.deps:
                if any(touches(dep.path, path) for path in made):
                    continue
                if dep.path not in hashes:
                    here, there = self.root / dep.path, self.source / dep.path
                    hashes[dep.path] = _hash(here, patterns)
                    if hashes[dep.path] != dep.md5 and _hash(there, patterns) == dep.md5:
                        _copy(there, here)
                        taken.append(dep.path)
                        hashes[dep.path] = dep.md5
                if hashes[dep.path] != dep.md5:
                    stale.setdefault(stage.name, []).append(dep.path)
            if changed := changed_params(stage, self.root / "params.yaml"):
                stale.setdefault(stage.name, []).extend(changed)
        return taken, stale


def _inputs(lock: Lock, readers: Sequence[str], rebuilt: Sequence[str]) -> list[tuple[Entry, str, str]]:
    """Every out that a reader needs and no rebuilt stage makes: the out, who made it, who reads it."""
    return [
        (entry, maker.name, reader)
        for reader in readers
        for maker in lock.values()
        if maker.name not in rebuilt
        for entry in maker.outs
        if any(touches(dep.path, entry.path) for dep in lock[reader].deps)
    ]


def _hash(path: Path, patterns: tuple[str, ...]) -> str | None:
    return combined(listing(path, patterns)) if path.exists() else None


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def changed_params(stage: LockedStage, path: Path) -> list[str]:
    """The parameters of a stage that have other values in params.yaml (`path`) than in the lock."""
    values = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    changed = []
    for key, locked in stage.params.items():
        value: Json = values
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value != locked:
            changed.append(f"params.yaml: {key}")
    return changed


def _overlay(source: Path, root: Path) -> None:
    """Bring a copy of the last commit to the state of the working tree: files that git knows or would add."""
    listed = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=source).split("\0")
    names = {name for name in listed if name and (source / name).is_file()}
    for name in _git("ls-files", "-z", cwd=root).split("\0"):
        if name and name not in names:
            (root / name).unlink(missing_ok=True)
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, root / name)


def _git(*arguments: str, cwd: Path) -> str:
    done = subprocess.run(["git", *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CaresError(f"git {arguments[0]}: {done.stderr.strip() or f'status {done.returncode}'}")
    return done.stdout
