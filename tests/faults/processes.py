"""Processes that carry a mark in their environment: found, measured and killed, however they were started.

What a stage starts inherits the mark, also in a session of its own or after its parent died, so that nothing which
belongs to a run is missed and nothing else is touched.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

MARK = "CARES_FAULTS_RUN"
TICK = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """A process as /proc tells it; `cpu_s` includes children that ended and were waited for."""

    pid: int
    parent: int
    command: tuple[str, ...]
    cpu_s: float

    @property
    def stage(self) -> str:
        """`speech` or `bench@oracle` for `python -m stages.speech` or `... stages.bench oracle`, else ""."""
        for place, word in enumerate(self.command[:-1]):
            if word == "-m" and self.command[place + 1].startswith("stages."):
                return "@".join((self.command[place + 1].removeprefix("stages."), *self.command[place + 2 :]))
        return ""

    @property
    def is_worker(self) -> bool:
        """Whether it is a worker process of `map_items`."""
        return any("multiprocessing.spawn" in word for word in self.command)


def marked(mark: str) -> list[Process]:
    """The living processes with this mark, by process id."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (process := _read(Path(entry.path), wanted)) is not None:
            found.append(process)
    return sorted(found)


def family(pid: int) -> list[Process]:
    """The process itself and all that descend from it; cheap, since it looks at no other."""
    found, todo = [], [pid]
    while todo:
        folder = Path(f"/proc/{todo.pop()}")
        try:
            todo += [int(child) for child in (folder / "task" / folder.name / "children").read_text().split()]
        except OSError:
            continue
        if (process := _read(folder)) is not None:
            found.append(process)
    return sorted(found)


def below(pid: int, processes: Sequence[Process]) -> list[Process]:
    """Those of a family that descend from one of its members, and this itself."""
    members = {pid}
    # a child may have a smaller number than its parent, after the numbers began anew
    while new := {process.pid for process in processes if process.parent in members} - members:
        members |= new
    return [process for process in processes if process.pid in members]


def cpu_seconds(processes: Iterable[Process]) -> float:
    """Processor time of all of them; unlike time on the clock, it hardly depends on what else the machine does."""
    return sum(process.cpu_s for process in processes)


def kill(pid: int) -> bool:
    """SIGKILL; False when it has already ended."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def survivors(mark: str, seconds: float) -> list[Process]:
    """Those with this mark that live on after so many seconds; they are then killed."""
    end = time.monotonic() + seconds
    while (left := marked(mark)) and time.monotonic() < end:
        time.sleep(0.1)
    for process in left:
        kill(process.pid)
    return left


def _read(folder: Path, wanted: bytes | None = None) -> Process | None:
    try:
        if wanted is not None and wanted not in (folder / "environ").read_bytes().split(b"\0"):
            return None
        command = (folder / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
        fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    if fields[0] == "Z":
        return None
    cpu = sum(map(int, fields[11:15])) / TICK
    return Process(int(folder.name), int(fields[1]), tuple(command), cpu)
