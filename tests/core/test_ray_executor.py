"""`map_items` on Ray: the same results as in local processes, whatever dies, fails or is interrupted meanwhile."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from cares.core.errors import CaresError, InputError
from cares.core.executor import WINDOW, map_items, progress, stream_items
from cares.core.ray_executor import called
from tests.ray_world import below, one_is_killed, one_ray, processes, wait_until

_offset = 0


@pytest.fixture(scope="module", autouse=True)
def ray():
    with one_ray():
        yield


def _set(offset):
    global _offset
    _offset = offset


def _signal(n):
    """Work whose result is in floating point, and depends on the item alone."""
    time.sleep(0.01 * (n % 3))
    wave = np.fft.rfft(np.sin(np.arange(4096 + n) * 0.1 + _offset))
    return n, wave, {"energy": float(np.abs(wave).sum())}


def _same(given, expected):
    return all(
        a[0] == b[0] and a[1].tobytes() == b[1].tobytes() and a[2] == b[2] for a, b in zip(given, expected, strict=True)
    )


@pytest.fixture(scope="module")
def locally(ray):
    with pytest.MonkeyPatch.context() as settings:
        settings.setenv("CARES_EXECUTOR", "processes")
        return map_items(_signal, range(25), desc="t", workers=1, setup=_set, setup_args=(5,))


@pytest.mark.parametrize("workers", [4, 2, 1])
def test_the_results_are_those_of_local_processes(locally, workers, monkeypatch):
    monkeypatch.setenv("CARES_WORKERS", str(workers))
    given = map_items(_signal, range(25), desc="t", setup=_set, setup_args=(5,))
    assert _same(given, locally)
    given[0][1][0] = 0  # a copy of our own, as from a local process


def test_a_killed_worker_is_replaced_and_changes_nothing(locally, monkeypatch, capsys):
    monkeypatch.setenv("CARES_WORKERS", "2")
    with one_is_killed() as killed:
        assert _same(map_items(_signal, range(25), desc="t", setup=_set, setup_args=(5,)), locally)
    assert killed
    assert "a worker died at item" in capsys.readouterr().err


class _Scene:
    def __init__(self, scene_id):
        self.scene_id = scene_id


def _die(scene):
    if scene.scene_id == "t00002-0":
        os.kill(os.getpid(), signal.SIGKILL)
    return scene.scene_id


def test_an_item_that_kills_every_worker_ends_the_run_and_is_named():
    scenes = [_Scene(f"t0000{n}-0") for n in range(4)]
    with pytest.raises(CaresError, match="3 workers died at item 3 of 4, t00002-0"):
        map_items(_die, scenes, desc="t", workers=2)


@pytest.mark.parametrize(
    ("item", "name"),
    [
        (_Scene("t00002-0"), "item 2 of 2, t00002-0"),
        ((_Scene("t00002-0"), "its dialogue"), "item 2 of 2, t00002-0"),
        (7, "item 2 of 2, 7"),
        (("You cannot hear the room. " * 20, 1), "item 2 of 2"),
    ],
)
def test_an_item_is_named_by_what_is_short(item, name):
    assert called([None, item], 1) == name


def _fail_at_three(n):
    if n == 3:
        raise ValueError("three")
    return n


def test_an_exception_is_raised_as_it_is_and_ends_the_workers():
    with pytest.raises(ValueError, match="three") as raised:
        map_items(_fail_at_three, range(50), desc="t", workers=2)
    assert str(raised.value) == "three"
    assert "_fail_at_three" in raised.value.__notes__[0]
    wait_until(lambda: not any("ray::Hand" in title for title in below(os.getpid()).values()))


def _bad_input(n):
    raise InputError("takes.csv", f"row {n}", "loud", "a licence")


def _bad_setup():
    raise InputError("params.yaml", "speech", "x", "y")


def test_an_input_error_arrives_with_its_message():
    with pytest.raises(CaresError, match=r"takes\.csv: row \d: got 'loud', expected a licence"):
        map_items(_bad_input, range(4), desc="t", workers=2)
    with pytest.raises(CaresError, match=r"params\.yaml: speech: got 'x'"):
        map_items(abs, range(4), desc="t", workers=2, setup=_bad_setup)


class _TwoArgumentsError(Exception):
    def __init__(self, one, two):
        super().__init__(one + two)


def _raise_unpicklable(n):
    raise _TwoArgumentsError("never ", "unpickled")


def test_an_exception_that_cannot_travel_is_told_in_words():
    with pytest.raises(RuntimeError, match=r"_TwoArgumentsError(.|\n)*never unpickled"):
        map_items(_raise_unpicklable, range(4), desc="t", workers=2)


def _touch(folder, n):
    (folder / str(n)).touch()
    time.sleep(1.0 if n == 0 else 0.0)
    return n


def test_a_stream_runs_ahead_by_no_more_than_its_window(tmp_path):
    given = stream_items(partial(_touch, tmp_path), range(60), desc="t", workers=2)
    assert next(given) == 0
    assert len(list(tmp_path.iterdir())) <= 2 * WINDOW
    assert list(given) == list(range(1, 60))


def _where(_):
    print("said by the work", file=sys.stderr)
    list(progress(range(3), desc="inner bar"))
    threads = {name: value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}
    return str(Path.cwd()), os.environ.get("CARES_STORE"), threads


def test_workers_have_the_settings_of_the_run(monkeypatch, tmp_path, capfd):
    for name in [name for name in os.environ if name.endswith("_NUM_THREADS")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("MKL_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)
    place = str(tmp_path), str(tmp_path / "store"), {"MKL_NUM_THREADS": "1"}
    assert map_items(_where, range(2), desc="t", workers=2) == [place, place]
    shown = capfd.readouterr()
    assert shown.err.count("said by the work") == 2
    assert "inner bar" not in shown.err
    assert shown.out == ""


def test_it_listens_on_loopback_alone():
    from tests.ray_world import LOOPBACK, listening

    map_items(abs, range(2), desc="t", workers=2)
    ours = {os.getpid(), *below(os.getpid())}
    assert len(ours) > 3
    found = listening(ours)
    assert found and found <= LOOPBACK


def test_one_worker_that_is_asked_for_is_this_process():
    before = below(os.getpid())
    assert map_items(lambda n: os.getpid(), range(3), desc="t", workers=1) == [os.getpid()] * 3
    assert not set(below(os.getpid())) - set(before)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CARES_EXECUTOR", "dask"),
        ("CARES_EXECUTOR", ""),
        ("CARES_RAY_ADDRESS", "ray://127.0.0.1:10001"),
        ("CARES_RAY_ADDRESS", "127.0.0.1"),
        ("CARES_RAY_GPUS", "1.5"),
        ("CARES_RAY_GPUS", "-1"),
        ("CARES_RAY_GPUS", "nan"),
    ],
)
def test_a_wrong_setting_is_named(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=name):
        map_items(abs, range(4), desc="t")


def test_where_no_ray_answers_it_is_said(monkeypatch):
    monkeypatch.setenv("CARES_RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(CaresError, match=r"CARES_RAY_ADDRESS=127\.0\.0\.1:1: no Ray that can be joined"):
        map_items(abs, range(4), desc="t")


SCRIPT = """
import os, sys, time
from pathlib import Path
from cares.core.executor import map_items

def work(n):
    Path(os.environ["CARES_HERE"], f"pid-{os.getpid()}").touch()
    time.sleep(60)

if __name__ == "__main__":
    from cares.core.stage import run_stage
    run_stage(lambda: map_items(work, range(4), desc="t"))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_leaves_no_process(tmp_path, number):
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "CARES_WORKERS": "2", "CARES_HERE": str(tmp_path)}
    run = subprocess.Popen(
        [sys.executable, str(script)], env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_until(lambda: len(list(tmp_path.glob("pid-*"))) == 2 or run.poll() is not None, 240)
    assert run.poll() is None, run.communicate()
    started = set(below(run.pid))
    assert len(started) > 4
    if number == signal.SIGINT:
        os.killpg(run.pid, number)  # as a terminal does: everyone of the group hears of it
    else:
        run.send_signal(number)
    _, said = run.communicate(timeout=60)
    assert run.returncode != 0
    if number == signal.SIGINT:
        assert run.returncode == 130
        assert "Traceback" not in said
    else:
        assert run.returncode == -number, "as without Ray"
        assert "received at time" not in said, "no stack of Ray's own"
    wait_until(lambda: not started & set(processes()))
