"""Keeps a server no longer than the process that wanted it. Run as a script; needs nothing but the standard library.

It starts the command in a process group of its own and watches the process that started the guard. When that one is
gone, even by SIGKILL, or when the guard is told to stop, the whole group is ended: first asked, then killed.
Usage: python guard.py PARENT_PID COMMAND...
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

GRACE_S = 10.0
WATCH_S = 0.2


def main() -> int:
    """Run the command until it ends, the parent is gone or a signal comes; returns the command's exit status."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    told: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _: told.append(received))
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    while server.poll() is None and not told and os.getppid() == parent:
        time.sleep(WATCH_S)
    status = server.poll()
    _end(server)
    return 1 if status is None else status


def _end(server: subprocess.Popen[bytes]) -> None:
    """End the server and whatever it started; a worker may outlive it, so the group is always killed at last."""
    end = time.monotonic() + GRACE_S
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGTERM)
        while server.poll() is None and time.monotonic() < end:
            time.sleep(WATCH_S)
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


if __name__ == "__main__":
    sys.exit(main())
