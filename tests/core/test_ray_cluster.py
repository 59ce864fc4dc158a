"""`cares cluster`: one that is started can be joined and is stopped with all its processes; nothing else is stopped."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cares.core import ray_cluster
from tests.ray_world import LOOPBACK, listening, processes, wait_until

SCRIPT = """
import os
from cares.core.executor import map_items
from cares.core.ray_connection import connect

def work(n):
    others = [name for name in ("CARES_LLM_URL", "CARES_EXECUTOR") if name in os.environ]
    return n * n, os.getpid(), (os.getcwd(), others, os.environ["CARES_CACHE"])

if __name__ == "__main__":
    found = map_items(work, range(12), desc="t")
    assert [square for square, *_ in found] == [n * n for n in range(12)]
    assert os.getpid() not in {pid for _, pid, _ in found}
    assert all(place == (os.getcwd(), [], "/weights of this machine") for *_, place in found), found
    assert connect(1).joined and connect(1).cpus == 2
    print("joined")
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    for name in [name for name in os.environ if name.startswith(("CARES_RAY_", "RAY_"))]:
        monkeypatch.delenv(name)
    return tmp_path


def cares(*arguments: str) -> subprocess.CompletedProcess[str]:
    main = "from cares.cli import main; main()"
    return subprocess.run([sys.executable, "-c", main, "cluster", *arguments], capture_output=True, text=True)


def test_without_a_cluster_status_fails_and_stop_does_nothing(place: Path) -> None:
    status = cares("status")
    assert status.returncode == 1
    assert "no cluster runs" in status.stderr
    stop = cares("stop")
    assert (stop.returncode, stop.stdout) == (0, "no cluster ran\n")


def test_a_taken_port_is_said(place: Path) -> None:
    pytest.importorskip("ray")
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = cares("start", "--port", port)
    assert done.returncode == 1
    assert f"port {port} of 127.0.0.1" in done.stderr


def test_a_process_that_has_the_number_of_an_ended_cluster_is_left_alone(place: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    cluster = ray_cluster.Cluster(
        pid=bystander.pid, began=1, host="127.0.0.1", port=1, workers=1, folder=str(place / "gone"), token="t"
    )
    ray_cluster.state_file().parent.mkdir(parents=True)
    ray_cluster.state_file().write_text(cluster.model_dump_json())
    assert ray_cluster.running() is None
    assert ray_cluster.stop() is None
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def test_it_is_started_joined_and_stopped(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    monkeypatch.setenv("CARES_CACHE", "/weights of this machine")
    with monkeypatch.context() as shell:  # of which the runs are to know nothing
        shell.setenv("CARES_LLM_URL", "http://127.0.0.1:9")
        shell.setenv("CARES_EXECUTOR", "ray")
        started = cares("start", "--workers", "2")
    monkeypatch.delenv("CARES_CACHE")
    assert started.returncode == 0, started.stderr
    try:
        cluster = ray_cluster.running()
        assert cluster is not None
        assert f"CARES_RAY_ADDRESS={cluster.address}" in started.stdout
        assert cluster.token not in started.stdout
        assert ray_cluster.state_file().stat().st_mode & 0o077 == 0
        assert cluster.address in cares("status").stdout
        again = cares("start")
        assert (again.returncode, cluster.address in again.stderr) == (1, True)
        (place / "run.py").write_text(SCRIPT)
        for address in ("auto", cluster.address):
            environment = {**os.environ, "CARES_EXECUTOR": "ray", "CARES_RAY_ADDRESS": address}
            run = subprocess.run(
                [sys.executable, "run.py"], cwd=place, env=environment, capture_output=True, text=True, timeout=300
            )
            assert run.stdout == "joined\n", run.stderr
        session = set(ray_cluster._session(cluster.pid))
        assert len(session) > 3
        found = listening(session)
        assert found and found <= LOOPBACK
        assert not list((place / "store").glob(".ray-*"))
    finally:
        stopped = cares("stop")
    assert stopped.returncode == 0
    assert not session & set(processes())
    assert not Path(cluster.folder).exists()
    wait_until(lambda: cares("status").returncode == 1)
