"""Ends the processes and files of a Ray when the process that started it is gone, even by SIGKILL. Run as a script.

Most of Ray's processes end with it by themselves, some only when they look, which can take a minute. The guard reads
its standard input, of which the starter holds the other end, until that end closes. Needs the standard library only.
Usage: python ray_guard.py FOLDER STARTER_PID
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

SWEEPS, PAUSE_S = 5, 0.5  # what was being started during one sweep is there in the next


def sweep(folder: Path, starter: int) -> int:
    """Kill the processes that belong to this folder, which no other Ray has, but for `starter`; how many there were."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) not in (os.getpid(), starter) and _belongs(entry, f"{folder}/"):
            with contextlib.suppress(OSError):
                os.kill(int(entry.name), signal.SIGKILL)
                found += 1
    return found


def _belongs(process: Path, folder: str) -> bool:
    """Started with the folder, or with a log of it open: workers and agents take titles that do not name it."""
    with contextlib.suppress(OSError):
        if folder.encode() in (process / "cmdline").read_bytes():
            return True
    for file in _open_files(process):
        with contextlib.suppress(OSError):  # closed meanwhile
            if str(file.readlink()).startswith(f"{folder}session"):
                return True
    return False


def _open_files(process: Path) -> list[Path]:
    try:
        return list((process / "fd").iterdir())
    except OSError:
        return []


def main() -> None:
    """Wait for the end of the starter, then clean up behind it."""
    folder, starter = Path(sys.argv[1]), int(sys.argv[2])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    for _ in range(SWEEPS):
        sweep(folder, starter)
        time.sleep(PAUSE_S)
        if not folder.exists():
            return
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
