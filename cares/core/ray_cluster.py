"""A Ray of this machine that outlives a command: `cares cluster start` starts it, many runs join it, `stop` ends it.

It listens on loopback and wants a token, which stands with its process id in a file that only the user can read. Only
what this file names is stopped, whatever other Rays the machine has.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from platformdirs import user_state_path

from cares.core.atomic import write_bytes
from cares.core.canonical import dumps, read_json
from cares.core.errors import CaresError
from cares.core.executor import worker_count
from cares.core.record import Record

START_S, STOP_S = 120.0, 20.0
STARTED = "Ray runtime started"


class Cluster(Record):
    """What was started; `began` is the start time of the process, so that a later one of the same id is not taken."""

    pid: int
    began: int
    host: str
    port: int
    workers: int
    folder: str
    token: str

    @property
    def address(self) -> str:
        """For CARES_RAY_ADDRESS."""
        return f"{self.host}:{self.port}"


def state_file() -> Path:
    """Where the started cluster is written down."""
    return user_state_path("cares") / "ray-cluster.json"


def running() -> Cluster | None:
    """The cluster that was started and runs; None if there is none, or it ended by itself."""
    if not state_file().is_file():
        return None
    cluster = Cluster.parse(read_json(state_file()), state_file())
    return cluster if _began(cluster.pid) == cluster.began else None


def start(port: int | None, workers: int | None) -> Cluster:
    """Start a cluster on loopback and wait until it takes work.

    Args:
        port: a free one by default.
        workers: how many may work at once; by default CARES_WORKERS, else the processors of this machine.

    Raises:
        CaresError: one runs already, the port is taken, or Ray does not start; the end of its messages is in the error.
    """
    from cares.core.ray_connection import LOOPBACK, OBJECT_STORE_BYTES, ON_LOOPBACK, import_ray, temporary_root

    if (found := running()) is not None:
        raise CaresError(f"a cluster runs already at {found.address}; cares cluster stop ends it")
    count, host = workers or worker_count(), LOOPBACK[0]
    port, token = _free(host, port), secrets.token_hex(32)
    os.environ.update(ON_LOOPBACK)
    import_ray()
    folder = Path(tempfile.mkdtemp(prefix="cares-cluster-", dir=temporary_root()))
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--disable-usage-stats"]
    command += ["--include-dashboard=false", f"--node-ip-address={host}", f"--port={port}", f"--num-cpus={count}"]
    command += [f"--temp-dir={folder}", f"--object-store-memory={OBJECT_STORE_BYTES}"]
    environment = {**os.environ, **ON_LOOPBACK, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
    messages = folder / "start.log"
    with messages.open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
        )
    cluster = Cluster(
        pid=process.pid,
        began=_began(process.pid) or 0,
        host=host,
        port=port,
        workers=count,
        folder=str(folder),
        token=token,
    )
    try:
        _wait_until_started(process, messages)
        state_file().parent.mkdir(parents=True, exist_ok=True)
        mask = os.umask(0o077)  # the file holds the token: nobody else may read it at any moment
        try:
            write_bytes(state_file(), dumps(cluster.to_json()).encode())
        finally:
            os.umask(mask)
    except BaseException:
        _end(cluster)
        raise
    return cluster


def stop() -> Cluster | None:
    """End the cluster that was started, with all its processes and files; None if there was none that runs."""
    if not state_file().is_file():
        return None
    alive = running()
    _end(Cluster.parse(read_json(state_file()), state_file()))
    state_file().unlink(missing_ok=True)
    return alive


def _end(cluster: Cluster) -> None:
    if _began(cluster.pid) == cluster.began:
        os.kill(cluster.pid, signal.SIGTERM)
        end = time.monotonic() + STOP_S
        while time.monotonic() < end and _session(cluster.pid):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(cluster.pid, os.WNOHANG)  # where it was started by this very process
            time.sleep(0.1)
        for pid in _session(cluster.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    shutil.rmtree(cluster.folder, ignore_errors=True)


def _wait_until_started(process: subprocess.Popen[bytes], messages: Path) -> None:
    end = time.monotonic() + START_S
    while STARTED not in (text := messages.read_text("utf-8", "replace")):
        if process.poll() is not None or time.monotonic() > end:
            tail = "\n".join(text.strip().splitlines()[-10:])
            raise CaresError(f"Ray does not start:\n{tail or '(it wrote nothing)'}")
        time.sleep(0.2)


def _free(host: str, port: int | None) -> int:
    with socket.socket() as wanted:
        wanted.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            wanted.bind((host, port or 0))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CaresError(f"port {port} of {host}: {reason}; choose another or leave the port out") from None
        return int(wanted.getsockname()[1])


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the third on; None for a process that is gone or only waits to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return None if fields[0] == "Z" else fields


def _began(pid: int) -> int | None:
    """When a process started, in ticks since the machine did; None when there is none."""
    fields = _stat(pid)
    return int(fields[19]) if fields else None


def _session(leader: int) -> list[int]:
    """All processes of the session that `leader` began; Ray's workers stay in it."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in pids if (fields := _stat(pid)) and int(fields[3]) == leader]
