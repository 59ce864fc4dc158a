"""Our own server: waited for, and gone afterwards whatever happens. Small scripts stand in for vLLM."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from cares.core.errors import CaresError
from cares.llm.serve import running, serve
from cares.llm.types import LlmError

ROOT = Path(__file__).parents[2]
SERVER = """
import http.server, os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
open(sys.argv[2], "w").write(f"{os.getpid()} {child.pid}")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(pids: list[int], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while any(alive(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Toy:
    """The command of a server with a child process of its own."""

    def __init__(self, tmp_path: Path) -> None:
        self.port = free_port()
        self.script, self.pid_file = tmp_path / "server.py", tmp_path / "pids"
        self.script.write_text(SERVER)
        self.command = [sys.executable, str(self.script), str(self.port), str(self.pid_file)]
        self.url = f"http://127.0.0.1:{self.port}/health"

    def pids(self) -> list[int]:
        return [int(part) for part in self.pid_file.read_text().split()]


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


def test_it_answers_inside_the_block_and_is_gone_after(toy: Toy) -> None:
    with running(toy.command, toy.url, "toy", dict(os.environ)):
        assert httpx.get(toy.url, trust_env=False).status_code == 200
        assert all(alive(pid) for pid in toy.pids())
    assert not any(alive(pid) for pid in toy.pids())


@pytest.mark.parametrize("error", [RuntimeError("in the block"), KeyboardInterrupt()])
def test_it_is_gone_after_an_exception(toy: Toy, error: BaseException) -> None:
    with pytest.raises(type(error)), running(toy.command, toy.url, "toy", dict(os.environ)):
        raise error
    assert not any(alive(pid) for pid in toy.pids())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_does_not_outlive_a_killed_starter(toy: Toy, tmp_path: Path, number: signal.Signals) -> None:
    starter = tmp_path / "starter.py"
    starter.write_text(
        "import os, time\n"
        "from cares.llm.serve import running\n"
        f"with running({toy.command!r}, {toy.url!r}, 'toy', dict(os.environ)):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(300)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, str(starter)], env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    pids = toy.pids()
    process.send_signal(number)
    process.wait(30)
    process.stdout.close()
    assert gone(pids)


def test_a_server_that_ends_at_once_shows_its_last_words(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; print('no such weights'); sys.exit(3)"]
    with (
        pytest.raises(LlmError, match=r"(?s)ended while starting \(status 3\).*no such weights"),
        running(command, f"http://127.0.0.1:{free_port()}/health", "toy", dict(os.environ)),
    ):
        pytest.fail("it cannot be ready")


def test_a_server_that_never_answers_is_stopped(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    code = f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(300)"
    command = [sys.executable, "-c", code]
    with (
        pytest.raises(LlmError, match="no answer from the server within 3 s"),
        running(command, f"http://127.0.0.1:{free_port()}/health", "toy", dict(os.environ), start_s=3.0),
    ):
        pytest.fail("it cannot be ready")
    assert not alive(int(pid_file.read_text()))


def test_a_given_port_that_is_taken_is_an_error_before_anything_starts() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CaresError, match=f"port {port}.*in use"), serve("smollm2-135m-instruct", port=port):
            pytest.fail("the port is taken")


def test_a_port_that_cannot_be_is_an_error() -> None:
    with pytest.raises(CaresError, match="port 70000"), serve("smollm2-135m-instruct", port=70000):
        pytest.fail("there is no such port")
