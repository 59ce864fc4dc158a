"""`map_items`: order, setup, faults, and settings from the environment."""

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from cares.core.errors import CaresError, InputError
from cares.core.executor import WINDOW, map_items, stream_items, worker_count

_offset = 0


def _set(offset):
    global _offset
    _offset = offset


def _slow_square(n):
    time.sleep(0.02 * (n % 3))
    return n * n + _offset


def _fail_at_three(n):
    if n == 3:
        raise ValueError("three")
    return os.getpid()


@pytest.mark.parametrize("workers", [1, 2])
def test_results_keep_the_order_of_items(workers):
    assert map_items(_slow_square, range(7), desc="t", workers=workers, setup=_set, setup_args=(5,)) == [
        n * n + 5 for n in range(7)
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_fault_stops_the_run_and_leaves_no_worker(workers):
    import multiprocessing

    with pytest.raises(ValueError, match="three"):
        map_items(_fail_at_three, range(50), desc="t", workers=workers)
    assert multiprocessing.active_children() == []


def _bad_input(n):
    raise InputError("takes.csv", f"row {n}", "loud", "a licence")


def test_an_input_error_of_a_worker_arrives_with_its_message():
    with pytest.raises(CaresError, match=r"takes\.csv: row \d: got 'loud', expected a licence"):
        map_items(_bad_input, range(4), desc="t", workers=2)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stream_gives_the_same_in_order(workers):
    given = stream_items(_slow_square, range(30), desc="t", workers=workers, setup=_set, setup_args=(5,))
    assert list(given) == [n * n + 5 for n in range(30)]


def _slow_first(folder, n):
    (folder / str(n)).touch()
    time.sleep(1.0 if n == 0 else 0.0)
    return n


def test_a_stream_runs_ahead_by_no_more_than_its_window(tmp_path):
    given = stream_items(partial(_slow_first, tmp_path), range(100), desc="t", workers=2)
    assert next(given) == 0  # it was slow, and the rest was not
    assert len(list(tmp_path.iterdir())) <= 2 * WINDOW
    assert list(given) == list(range(1, 100))


def test_a_stream_that_is_left_ends_its_workers():
    import multiprocessing

    given = stream_items(_slow_square, range(100), desc="t", workers=2)
    assert next(given) == 0
    given.close()
    assert multiprocessing.active_children() == []


def test_nothing_to_do():
    assert map_items(_slow_square, [], desc="t") == []


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "", "²"])
def test_a_bad_worker_count_is_named(monkeypatch, value):
    monkeypatch.setenv("CARES_WORKERS", value)
    with pytest.raises(InputError, match="CARES_WORKERS"):
        worker_count()


def test_a_killed_run_leaves_no_worker(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import os, time\n"
        "from cares.core.executor import map_items\n"
        "def work(n):\n"
        f"    open(os.path.join({str(tmp_path)!r}, f'pid-{{os.getpid()}}'), 'w').close()\n"
        "    time.sleep(60)\n"
        "if __name__ == '__main__':\n"
        "    map_items(work, range(4), desc='t', workers=2)\n"
    )
    parent = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL)
    workers = _wait_for(lambda: pids if len(pids := [int(p.name[4:]) for p in tmp_path.glob("pid-*")]) == 2 else None)
    parent.kill()
    parent.wait()
    assert _wait_for(lambda: not any(_runs(pid) for pid in workers) or None)


def _wait_for(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if (found := condition()) is not None:
            return found
        time.sleep(0.05)
    raise AssertionError("waited too long")


def _runs(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


KILLED_AT_START = """
import os, signal, threading, time
from cares.core.executor import map_items
from cares.core.stage import run_stage

def setup(_):
    pass

def work(n):
    return n

def kill_the_first():
    while True:
        for pid in open(f"/proc/self/task/{os.getpid()}/children").read().split():
            if b"spawn_main" in open(f"/proc/{pid}/cmdline", "rb").read():
                os.kill(int(pid), signal.SIGKILL)
                return
        time.sleep(0.001)

def main():
    threading.Thread(target=kill_the_first, daemon=True).start()
    map_items(work, range(8), desc="t", workers=2, setup=setup, setup_args=(bytes(10_000_000),))

if __name__ == "__main__":
    run_stage(main)
"""


def test_a_worker_that_is_killed_while_it_starts_does_not_hang_the_stage(tmp_path):
    # with a setup that is larger than a pipe holds
    (tmp_path / "stage.py").write_text(KILLED_AT_START)
    done = subprocess.run(
        [sys.executable, "stage.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1 and "a worker process was killed" in done.stderr, done.stderr
