"""The other faults: a full disk, damaged entries, two runs at once; each ends with a plain `dvc repro`."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tests.faults.clones import Clone, entries, forget, manifest, temporary
from tests.faults.kills import Outcome, Plan, damaged, differences, recover
from tests.faults.reference import Reference

DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "cut": lambda data, draw: data[: draw.randrange(1, len(data))],
    "emptied": lambda data, draw: b"",
    "a bit flipped": lambda data, draw: _flipped(data, draw.randrange(8 * len(data))),
    "a bit of the header flipped": lambda data, draw: _flipped(data, draw.randrange(8 * data.index(b"\n"))),
    "a header that lies": lambda data, draw: data.replace(b'"json":', b'"json":1', 1),
    "noise": lambda data, draw: draw.randbytes(len(data)),
}


ANOTHERS = "another's"


def _has_key(path: Path) -> bool:
    with path.open("rb") as stream:
        return b'"key":' in stream.readline()


def _flipped(data: bytes, place: int) -> bytes:
    changed = bytearray(data)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def damage_store(clone: Clone, reference: Reference, seed: int, log: Path) -> dict[str, object]:
    """Damage every third entry of the item store, each in another way, and let all stages run again.

    The figures: how many were damaged, how many of them the run spoke of, and what differs in the end.
    """
    draw = random.Random(seed)
    chosen = sorted(entries(clone.store))[::3]
    # a sound entry in the place of another: told by its key, which entries of earlier versions do not have
    keyed = [name for name in sorted(entries(clone.store) - set(chosen)) if _has_key(clone.store / name)]
    swapped = 0
    for place, name in enumerate(chosen):
        path = clone.store / name
        data = path.read_bytes()
        path.unlink()
        way = (*DAMAGES, ANOTHERS)[place % (len(DAMAGES) + 1)]
        if way == ANOTHERS and keyed:
            shutil.copy2(clone.store / draw.choice(keyed), path)
            swapped += 1
        elif way == ANOTHERS:
            path.write_bytes(b"")
        else:
            path.write_bytes(DAMAGES[way](data, draw))
    forget(clone.root, set(reference.stages))
    done = clone.run("dvc", "repro", log=log)
    told = [name for name in chosen if name in done.stderr.replace(f"{clone.store}/", "")]
    return {
        "damaged": len(chosen),
        "of another key": swapped,
        "told": len(told),
        "status": done.returncode,
        "differences": differences(clone, reference),
    }


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own in memory, mounted on a folder.

    Raises:
        PermissionError: this user may not mount.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise PermissionError("there is no command mount") from None
    if done.returncode:
        raise PermissionError(done.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path, free: int) -> Path:
    """Fill the file system of a folder until about so many bytes are free; the file that takes the room."""
    ballast = folder / ".ballast"
    room = shutil.disk_usage(folder).free - free
    with ballast.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, max(room, 1))
    return ballast


def full_disk(clone: Clone, reference: Reference, stages: set[str], free: int, log: Path) -> dict[str, object]:
    """Let stages run again on a disk with so little room, then with enough."""
    forget(clone.root, stages)
    for stage in stages:
        for name in reference.costs[stage].entries:
            (clone.store / name).unlink(missing_ok=True)
    before = manifest(clone.root)
    ballast = fill(clone.root, free)
    done = clone.run("dvc", "repro", log=log)
    message = [line for line in done.stderr.splitlines() if "No space left" in line or "not enough" in line.lower()]
    # DVC removes the outs of a stage before it runs; what is there must be whole, and nothing else may be touched
    spoilt = [name for name, sha in manifest(clone.root).items() if before.get(name, sha) != sha]
    spoilt += [out for stage in sorted(stages) for out in damaged(clone, reference, stage)]
    ballast.unlink()
    outcome = Outcome(Plan(0, "", "disk", 0.0, 1.0, 1))
    recover(clone, reference, outcome, log)
    return {
        "free": free,
        "status": done.returncode,
        "message": message[0] if message else "",
        "damaged": spoilt,
        "lock_cut": outcome.lock_cut,
        "differences": outcome.differences,
        "stale": outcome.stale,
        "failure": outcome.failure,
    }


# each writes some hundred kilobytes at least, so that the room can end in the midst of it
ON_FULL_DISKS = ("rooms", "speech", "timeline", "mix", "counterfactuals", "report")


def full_disks(clone: Clone, reference: Reference, seed: int, folder: Path, log: Path) -> dict[str, object]:
    """A copy of the clone on a small file system of its own, which gets full while a stage runs, for several stages.

    The room that is left is drawn: a share of what the stage writes to its outs and the item store. Where this user may
    not mount, the figures say only that.
    """
    draw = random.Random(seed)
    room = _size(clone.root) * 11 // 10 + (64 << 20)
    runs: dict[str, dict[str, object]] = {}
    try:
        with small_disk(folder, str(room)) as disk:
            moved = replace(clone, root=disk / "clone")
            shutil.copytree(clone.root, moved.root, symlinks=True)
            for stage in ON_FULL_DISKS:
                written = sum(_size(clone.root / out) for out in reference.outs[stage])
                written += sum(_size(reference.store / name) for name in reference.costs[stage].entries)
                share = draw.uniform(0.02, 0.98)
                for out in reference.outs[stage]:
                    _remove(moved.root / out)  # as DVC does, but before the disk is full, or their room would be free
                runs[stage] = full_disk(moved, reference, {stage}, int(share * written), log)
    except PermissionError as error:
        return {"left out": f"no file system can be mounted here: {error}", "differences": []}
    bad = {stage: run for stage, run in runs.items() if run["damaged"] or run["stale"] or run["failure"]}
    untold = [stage for stage, run in runs.items() if run["status"] and not run["message"]]
    return {
        "runs": runs,
        "differences": [stage for stage, run in runs.items() if run["differences"]],
        "broken": [*bad, *(f"{stage}: nothing of a full disk was said" for stage in untold)],
    }


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def twice_at_once(clone: Clone, reference: Reference, log: Path, pause_s: float = 1.0) -> dict[str, object]:
    """Two `dvc repro` in one clone, the second a little later; then a plain one."""
    forget(clone.root, set(reference.stages))
    first = clone.start("dvc", "repro", log=log)
    time.sleep(pause_s)
    second = clone.run("dvc", "repro", log=log)
    status = first.wait(timeout=3600)
    outcome = Outcome(Plan(0, "", "twice", 0.0, 0.0, 1))
    recover(clone, reference, outcome, log)
    return {
        "first": status,
        "second": second.returncode,
        "told": [line for line in second.stderr.splitlines() if "ERROR" in line or "busy" in line][:2],
        "differences": outcome.differences,
        "failure": outcome.failure,
    }


def shared_store(clones: Sequence[Clone], references: Sequence[Reference], log: Path) -> dict[str, object]:
    """Clones that build at once with one empty item store between them."""
    for clone, reference in zip(clones, references, strict=True):
        forget(clone.root, set(reference.stages))
    shutil.rmtree(clones[0].store)
    running = [clone.start("dvc", "repro", log=log) for clone in clones]
    status = [process.wait(timeout=3600) for process in running]
    return {
        "status": status,
        "differences": [differences(*pair) for pair in zip(clones, references, strict=True)],
        "stale": [temporary(clone.root) for clone in clones],
    }
