"""How a command ends when the machine is in the way: one clear message, status not 0, nothing half-written."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from cares.core.errors import CaresError, InputError
from cares.core.stage import run_stage

ALLOCATE = [sys.executable, "-m", "cares.cli", "allocate", "--scenes", "2000", "--seed", "1", "--out"]


def test_a_full_disk_leaves_nothing_behind(tmp_path):
    def limit():
        # a file may not grow beyond 64 KiB: what a full disk looks like to the one who writes
        resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))

    done = subprocess.run(
        [*ALLOCATE, "plan"], cwd=tmp_path, capture_output=True, text=True, preexec_fn=limit, check=False
    )
    assert done.returncode == 1
    assert "error:" in done.stderr and "Traceback" not in done.stderr
    assert not list((tmp_path / "plan").glob("*scenes*")), "no part of the file that did not fit"


# root writes into read-only folders, unless it gives up the right to
BOUND = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] if os.geteuid() == 0 else []


@pytest.mark.skipif(bool(BOUND) and shutil.which("setpriv") is None, reason="root, and no setpriv (util-linux) here")
def test_a_read_only_folder_is_named(tmp_path):
    (tmp_path / "data").mkdir(mode=0o555)
    command = [*BOUND, *ALLOCATE, "data/plan"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "data" in done.stderr and "Permission denied" in done.stderr and "Traceback" not in done.stderr


def test_a_file_where_a_folder_should_be_is_named(tmp_path):
    (tmp_path / "data").write_text("")
    done = subprocess.run([*ALLOCATE, "data/plan"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "data" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (CaresError("no such scene"), "error: no such scene"),
        (InputError("params.yaml", "mix.master_lufs", -3, "a level"), "error: params.yaml: mix.master_lufs: got -3"),
        (PermissionError(13, "Permission denied", "data/scenes"), "error: data/scenes: Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
    ],
)
def test_errors_that_a_user_can_act_on_are_messages(error, shown):
    def main():
        raise error

    with pytest.raises(SystemExit) as caught:
        run_stage(main)
    assert shown in str(caught.value.code)


def test_ctrl_c_ends_with_130_and_says_how_to_go_on(capsys):
    def main():
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as caught:
        run_stage(main)
    assert caught.value.code == 130
    assert "go on" in capsys.readouterr().err


def test_a_bug_keeps_its_traceback():
    def main():
        raise RuntimeError("a fault of ours")

    with pytest.raises(RuntimeError):
        run_stage(main)


def test_ctrl_c_stops_workers_too(tmp_path):
    script = tmp_path / "stage.py"
    script.write_text(
        "import os, time\n"
        "from cares.core.executor import map_items\n"
        "from cares.core.stage import run_stage\n"
        "def work(n):\n"
        "    open(f'pid-{os.getpid()}', 'w').close()\n"
        "    time.sleep(60)\n"
        "def main():\n"
        "    map_items(work, range(4), desc='t', workers=2)\n"
        "if __name__ == '__main__':\n"
        "    run_stage(main)\n"
    )
    stage = subprocess.Popen([sys.executable, str(script)], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while len(pids := list(tmp_path.glob("pid-*"))) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    stage.send_signal(signal.SIGINT)
    _, errors = stage.communicate(timeout=120)
    assert stage.returncode == 130 and "interrupted" in errors and "Traceback" not in errors
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid.name[4:]), 0)


WORKERS = """
import os, signal, sys, time
from cares.core.executor import map_items
from cares.core.stage import run_stage
def work(n):
    if n == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return n
def main():
    map_items(work, range(8), desc="t", workers=2)
if __name__ == "__main__":
    run_stage(main)
"""


def test_a_killed_worker_ends_the_stage_with_a_message(tmp_path):
    (tmp_path / "stage.py").write_text(WORKERS)
    done = subprocess.run([sys.executable, "stage.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "a worker process was killed" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("shell", [False, True])
def test_a_stage_ends_when_the_dvc_that_started_it_is_killed(tmp_path, shell):
    (tmp_path / "stage.py").write_text(
        "import os, time\n"
        "from cares.core.stage import end_with_dvc\n"
        "end_with_dvc()\n"
        "open('pid', 'w').write(str(os.getpid()))\n"
        "os.rename('pid', 'ready')\n"
        "time.sleep(60)\n"
    )
    command = f"'{sys.executable}' stage.py; true" if shell else [sys.executable, "stage.py"]
    starts = (
        "import os, subprocess\n"
        f"subprocess.run({command!r}, shell={shell}, env={{**os.environ, 'DVC_STAGE': 'stage'}})\n"
    )
    dvc = subprocess.Popen([sys.executable, "-c", starts], cwd=tmp_path, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while not (tmp_path / "ready").exists() and time.monotonic() < end:
        time.sleep(0.05)
    stage = int((tmp_path / "ready").read_text())
    time.sleep(1.2)
    os.kill(stage, 0)
    dvc.kill()
    dvc.wait()
    end = time.monotonic() + 60
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < end:
            os.kill(stage, 0)
            time.sleep(0.1)
