"""What the tests on Ray share: one Ray for a module, its processes, and a hand that kills one of them."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

HAND_AT_WORK = "ray::Hand.run"
# of 127.0.0.1, as /proc/net/tcp writes it, and as tcp6 does
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}


@contextlib.contextmanager
def one_ray(workers: int = 4) -> Iterator[None]:
    """CARES_EXECUTOR=ray with a Ray of as many places; closed at the end. Skips where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("the extra `ray` is not installed")
    from cares.core.ray_connection import disconnect

    with pytest.MonkeyPatch.context() as settings:
        settings.setenv("CARES_EXECUTOR", "ray")
        settings.setenv("CARES_WORKERS", str(workers))
        settings.delenv("CARES_RAY_ADDRESS", raising=False)
        try:
            yield
        finally:
            disconnect()


def processes() -> dict[int, tuple[int, str]]:
    """Parent and title of every process that runs."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                state, parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:2]
                if state != "Z":
                    found[int(entry.name)] = int(parent), (entry / "cmdline").read_text().replace("\0", " ")
    return found


def below(ancestor: int) -> dict[int, str]:
    """The processes that `ancestor` started, directly or not, with their titles."""
    every, wanted = processes(), {ancestor}
    while more := {pid for pid, (parent, _) in every.items() if parent in wanted} - wanted:
        wanted |= more
    return {pid: every[pid][1] for pid in wanted - {ancestor} if pid in every}


def listening(pids: Iterable[int]) -> set[str]:
    """The addresses, as /proc/net/tcp and tcp6 write them, at which some processes listen."""
    sockets, found = set(), set()
    for file in [file for pid in pids for file in Path(f"/proc/{pid}/fd").glob("*")]:
        with contextlib.suppress(OSError):  # closed meanwhile
            sockets.add(str(file.readlink()).removeprefix("socket:[").removesuffix("]"))
    for table in ("tcp", "tcp6"):
        for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = row.split()
            if fields[3] == "0A" and fields[9] in sockets:
                found.add(fields[1].split(":")[0])
    return found


@contextlib.contextmanager
def one_is_killed() -> Iterator[list[int]]:
    """SIGKILL for the first worker that is at an item; yields a list that will hold its process id."""
    killed: list[int] = []
    done = threading.Event()

    def kill() -> None:
        while not done.is_set():
            for pid, title in below(os.getpid()).items():
                if title.startswith(HAND_AT_WORK):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        killed.append(pid)
                        return
            time.sleep(0.005)

    hunter = threading.Thread(target=kill)
    hunter.start()
    try:
        yield killed
    finally:
        done.set()
        hunter.join()


def wait_until(condition, seconds=60.0):
    """Wait for a true value and return it; an assertion when it does not come."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError("waited too long")
