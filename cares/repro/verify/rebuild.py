"""Run stages in a clean copy with `dvc repro`, and tell of each when it begins, how far it is, and when it is done."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, Queue

import psutil  # type: ignore[import-untyped]

from cares.core.errors import CaresError
from cares.repro.verify.clean_copy import CleanCopy

SIGN_OF_LIFE_S = 30.0
_STARTS = re.compile(r"^Running stage '([^']+)'")


def rebuild(
    copy: CleanCopy, stages: Sequence[str], log: Path, began: Callable[[str], None], done: Callable[[str, float], None]
) -> None:
    """Run `stages`, in this order, each once, without looking into any cache.

    Args:
        copy: where; what they read from stages that are not among them must be there.
        log: all that they print is appended to it.
        began: called with a stage's name when it starts.
        done: called with its name and the seconds it took.

    Raises:
        CaresError: a stage failed; the message has the end of what it printed.
    """
    command = [sys.executable, "-m", "dvc", "repro", "--force", "--no-commit", "--single-item", *stages]
    process = subprocess.Popen(
        command,
        cwd=copy.root,
        env=copy.environment(),
        umask=copy.surroundings.umask,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    lines: Queue[str | None] = Queue()
    threading.Thread(target=_read, args=(process, lines), daemon=True).start()
    try:
        now, since, told = "", time.monotonic(), time.monotonic()
        last: list[str] = []
        with log.open("a", encoding="utf-8") as out:
            while True:
                try:
                    line = lines.get(timeout=SIGN_OF_LIFE_S)
                except Empty:
                    line = ""
                if line is None:
                    break
                out.write(line)
                if line.strip():
                    last = [*last[-15:], line.rstrip()]
                if found := _STARTS.match(line):
                    if now:
                        done(now, time.monotonic() - since)
                    now, since, told = found[1], time.monotonic(), time.monotonic()
                    began(now)
                elif now and time.monotonic() - told >= SIGN_OF_LIFE_S:
                    told = time.monotonic()
                    print(f"    {told - since:.0f} s: {last[-1][-100:] if last else ''}", file=sys.stderr, flush=True)
        if process.wait():
            shown = "\n  ".join(last)
            raise CaresError(f"stage {now or stages[0]} failed in the {copy.surroundings.label}:\n  {shown}")
        if now:
            done(now, time.monotonic() - since)
    except BaseException as error:
        _end(process, heard=isinstance(error, KeyboardInterrupt))
        raise


def _read(process: subprocess.Popen[str], lines: Queue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def _end(process: subprocess.Popen[str], heard: bool) -> None:
    """End DVC and its stage.

    Args:
        process: DVC.
        heard: Ctrl-C reaches the stage as well, which ends its workers: it is given time. Nothing else reaches it.
    """
    try:
        stage = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        stage = []
    if not heard:
        _terminate(process, stage)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        _terminate(process, stage)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    # the copy is removed next, so nobody may write there any more
    for one in psutil.wait_procs(stage, timeout=20)[1]:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()


def _terminate(process: subprocess.Popen[str], stage: Sequence[psutil.Process]) -> None:
    process.terminate()
    for one in stage:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.terminate()
