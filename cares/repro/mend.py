"""What a killed DVC or a full disk can leave so that no DVC command starts again, put right.

DVC writes dvc.lock and .dvc/tmp/rwlock in place: killed in that moment, or on a full disk, it leaves them cut. Nothing
that was computed is lost by that: outs, cache, run-cache and item store are whole, and dvc.lock only says which belong
together. A cut dvc.lock keeps its whole entries; the others come from the last commit or, by `dvc repro`, from the
run-cache.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from cares.core.atomic import remove_abandoned, write_bytes
from cares.core.errors import CaresError
from cares.core.paths import store_root
from cares.remotes.project import MD5

LOCK = "dvc.lock"
RWLOCK = ".dvc/tmp/rwlock"
REPO_LOCK = ".dvc/tmp/lock"
FOLDERS = ("data", "metrics", "report", ".cares")


def mend(root: Path) -> list[str]:
    """Put right what is damaged in a clone; a line for people for each thing that was done.

    Args:
        root: the clone.

    Raises:
        CaresError: something is damaged, but a DVC command is at work, which may be what writes it now.
    """
    done: list[str] = []
    if _is_cut(root):
        with _alone(root):
            done += _mend_locks(root)
    for folder in [root / name for name in FOLDERS] + [store_root()]:
        done += [f"{path}: left by a killed process, removed" for path in remove_abandoned(folder)]
    return done


def _is_cut(root: Path) -> bool:
    lock, rwlock = root / LOCK, root / RWLOCK
    return (lock.is_file() and not is_whole(_text(lock))) or (rwlock.is_file() and not _is_json(rwlock))


def _mend_locks(root: Path) -> Iterator[str]:
    lock, rwlock = root / LOCK, root / RWLOCK
    if lock.is_file() and not is_whole(text := _text(lock)):
        kept, committed = whole_entries(text), _committed(root)
        write_bytes(lock, _dumped({**committed, **kept}))
        others = len(committed.keys() - kept.keys())
        yield (
            f"{LOCK} was cut: {len(kept)} of its entries are kept, {others} are taken from the last commit. "
            "dvc repro brings it up to date"
        )
    if rwlock.is_file() and not _is_json(rwlock):
        rwlock.unlink()
        yield f"{RWLOCK} was cut and is removed"


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Hold DVC's own lock of the clone, so that no DVC command writes meanwhile."""
    path = root / REPO_LOCK
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CaresError(f"{path}: a DVC command is at work here; wait until it has ended") from None
        yield


def is_whole(text: str) -> bool:
    """Whether DVC can read this text of a dvc.lock."""
    try:
        found = _loaded(text)
    except yaml.YAMLError:
        return False
    if not isinstance(found, dict) or not isinstance(found.get("stages"), dict):
        return False
    return all(_is_entry(entry) for entry in found["stages"].values())


def whole_entries(text: str) -> dict[str, Any]:
    """The entries of a cut dvc.lock, without the last, which may lack lines."""
    blocks = re.split(r"^(?=  \S)", text, flags=re.MULTILINE)[1:-1]
    entries: dict[str, Any] = {}
    for block in blocks:
        try:
            found = _loaded(block)
        except yaml.YAMLError:
            continue
        if isinstance(found, dict):
            entries |= {name: entry for name, entry in found.items() if _is_entry(entry)}
    return entries


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("cmd"), str):
        return False
    files = [file for kind in ("deps", "outs") for file in entry.get(kind) or ()]
    return all(isinstance(file, dict) and MD5.fullmatch(str(file.get("md5"))) for file in files)


def _committed(root: Path) -> dict[str, Any]:
    """The entries of the last commit's dvc.lock; none where there is no such thing."""
    done = subprocess.run(["git", "show", f"HEAD:./{LOCK}"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode or not is_whole(done.stdout):
        return {}
    entries: dict[str, Any] = _loaded(done.stdout)["stages"]
    return entries


def _loaded(text: str) -> Any:
    # the same as safe_load, ten times as fast
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _dumped(entries: dict[str, Any]) -> bytes:
    text = yaml.safe_dump({"schema": "2.0", "stages": entries}, sort_keys=False, allow_unicode=True)
    return text.encode("utf-8")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _is_json(path: Path) -> bool:
    try:
        return isinstance(json.loads(path.read_bytes()), dict)
    except ValueError:
        return False
