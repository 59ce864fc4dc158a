"""The connection of this process to Ray: one that it starts for itself on loopback, or one that is there already.

Ray binds to every interface unless it is told that there is no cluster, and it runs whatever it is sent. So a Ray of
our own listens on 127.0.0.1 and wants a token that only this process and its workers know.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

from cares.core.errors import CaresError, InputError
from cares.core.ray_guard import sweep

LOOPBACK = ("127.0.0.1", "localhost")
OBJECT_STORE_BYTES = 128 << 20  # items and results pass through it one by one; what does not fit goes to disk
CONNECT_S = 10.0
GUARD = Path(__file__).with_name("ray_guard.py")
STARTS = 3  # Ray gives its first process 30 s to appear, whatever else the machine has to do
PREFIX, LOCK = "cares-ray-", "in-use"
ON_LOOPBACK = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # whatever its name says: without it Ray takes the machine's address
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # a worker sees the GPUs that a local process would see
    "RAY_memory_monitor_refresh_ms": "0",  # it ends workers for what other programs of the machine use
    # on a busy machine its parts take long to find each other, and slow is not dead
    "RAY_DASHBOARD_STARTUP_TIMEOUT_S": "300",
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_gcs_server_request_timeout_seconds": "300",
    "RAY_health_check_failure_threshold": "60",
    "RAY_worker_register_timeout_seconds": "600",
}


class Connection(NamedTuple):
    """A Ray that is connected; `joined`: it is not our own, its workers may be on other machines."""

    ray: Any
    address: str
    joined: bool
    cpus: int
    folder: Path | None
    lock: IO[bytes] | None
    guard: subprocess.Popen[bytes] | None


_open: Connection | None = None


def connect(count: int) -> Connection:
    """The one connection of this process, made when it is asked for first; it is closed when the process ends.

    Args:
        count: workers that are wanted; a Ray of our own has at least as many places.

    Raises:
        InputError: CARES_RAY_ADDRESS is no address.
        CaresError: Ray is not installed, does not start, or does not answer.
    """
    global _open
    address = os.environ.get("CARES_RAY_ADDRESS", "")
    if _open and (_open.address != address or not _open.ray.is_initialized() or (not address and _open.cpus < count)):
        disconnect()
    if _open is None:
        _open = _join(address) if address else _start(count)
        atexit.register(disconnect)
    return _open


def disconnect() -> None:
    """Close the connection; a Ray of our own ends, with its processes and files."""
    global _open
    if _open is None:
        return
    before, _open = _open, None
    atexit.unregister(disconnect)
    before.ray.shutdown()
    if before.folder:
        sweep(before.folder, os.getpid())
        shutil.rmtree(before.folder, ignore_errors=True)
    if before.lock:
        before.lock.close()
    if before.guard:
        before.guard.communicate()


def own_environment() -> dict[str, str]:
    """The settings of a Ray on loopback, with a new token unless the user's settings have one."""
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    return ON_LOOPBACK if os.environ.get("RAY_AUTH_MODE") else ON_LOOPBACK | token


def temporary_root() -> Path:
    """Where a Ray of ours keeps its sockets: their paths may have 107 characters, so a long TMPDIR is passed over."""
    given = Path(tempfile.gettempdir())
    return given if len(str(given)) <= 24 else Path("/tmp")


@cache
def import_ray() -> Any:
    """The package; CaresError when it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            ray = import_module("ray")
            worker = import_module("ray._private.worker")
    except ImportError as error:
        raise CaresError(
            f"CARES_EXECUTOR=ray: Ray cannot be imported ({error}). Install the extra: pip install 'cares[ray]'"
        ) from None
    said = worker.print_to_stdstream
    # on stdout, a paragraph for every worker that dies, which is said by whoever replaces it
    worker.__dict__["print_to_stdstream"] = lambda data, *rest, **named: (
        None if data.get("pid") == "raylet" else said(data, *rest, **named)
    )
    return ray


def _start(count: int) -> Connection:
    _remove_stale()
    # a second Ray of this process has to agree with the first, so a token stays
    ray = _on_loopback(own_environment() | dict(os.environ))
    for attempt in range(1, STARTS + 1):
        try:
            return _started(ray, count)
        except CaresError:
            raise
        except Exception as error:
            if attempt == STARTS:
                raise CaresError(f"CARES_EXECUTOR=ray: Ray does not start: {type(error).__name__}: {error}") from error
    raise AssertionError("unreachable")


def _started(ray: Any, count: int) -> Connection:
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=temporary_root()))
    lock = (folder / f"{LOCK}.part").open("wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / f"{LOCK}.part").rename(folder / LOCK)  # others never see it without its lock
    guard = subprocess.Popen(  # its standard input ends with this process
        [sys.executable, "-I", str(GUARD), str(folder), str(os.getpid())], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        with _quiet():
            ray.init(
                address="local",
                num_cpus=count,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                logging_level="ERROR",
                log_to_driver=False,
                _node_ip_address=LOOPBACK[0],
                _temp_dir=str(folder),
            )
        if (bound := ray.util.get_node_ip_address()) not in LOOPBACK:
            raise CaresError(f"Ray listens on {bound}, not on {LOOPBACK[0]} alone; is it of another version?")
    except BaseException:
        ray.shutdown()
        sweep(folder, os.getpid())  # Ray forgets the processes of a start that failed
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()
        guard.communicate()
        raise
    return Connection(ray, "", False, count, folder, lock, guard)


def _on_loopback(environment: dict[str, str]) -> Any:
    """The package, told to stay on loopback; it reads its settings on import, so an imported one is told again."""
    os.environ.update(environment | ON_LOOPBACK)
    ray = import_ray()
    import_module("ray._private.ray_constants").__dict__["ENABLE_RAY_CLUSTER"] = False
    raylet = import_module("ray._raylet")
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()
    return ray


def _join(address: str) -> Connection:
    at, token = _resolved(address)
    auth = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token} if token else {}
    ray = _on_loopback(auth) if at.split(":")[0] in LOOPBACK else import_ray()
    try:
        if at != "auto":
            host, port = at.rsplit(":", 1)
            with socket.create_connection((host, int(port)), CONNECT_S):
                pass  # Ray itself would try for a minute
        with _quiet():
            ray.init(address=at, logging_level="ERROR", log_to_driver=False)
    except Exception as error:
        ray.shutdown()
        reason = f"{type(error).__name__}: {error}"
        raise CaresError(
            f"CARES_RAY_ADDRESS={address}: no Ray that can be joined ({reason}). Start one with cares cluster start, "
            "or unset the variable"
        ) from None
    return Connection(ray, address, True, int(ray.cluster_resources().get("CPU", 1)), None, None, None)


def _resolved(address: str) -> tuple[str, str | None]:
    """host:port, or "auto" for Ray's own search, and the token if it is a cluster of `cares cluster start`."""
    from cares.core.ray_cluster import running

    if address != "auto" and not re.fullmatch(r"[A-Za-z0-9.-]+:[0-9]{1,5}", address):
        raise InputError("environment", "CARES_RAY_ADDRESS", address, "host:port, or auto", "Unset, Ray runs here.")
    if (ours := running()) and address in ("auto", ours.address):
        return ours.address, ours.token
    return address, None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Ray's hints of what is new are not for our users, and Ctrl-C waits until its processes are started.

    Ray takes SIGTERM over, prints its own stack and aborts. What was there before is put back: our processes end as
    they do without Ray, and the guard, or the cluster that was joined, ends the workers.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    at_sigterm = signal.getsignal(signal.SIGTERM)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if at_sigterm is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, at_sigterm)


def _remove_stale() -> None:
    """Remove the files of Rays whose process was killed: nobody holds their lock."""
    for file in temporary_root().glob(f"{PREFIX}*/{LOCK}"):
        with contextlib.suppress(OSError), file.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if file.stat().st_uid == os.getuid():
                shutil.rmtree(file.parent, ignore_errors=True)
