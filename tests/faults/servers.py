"""The server of the language model is taken away in mid-stage: it stays away, or comes back while it is still asked."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from tests.faults.clones import ROOT, Clone, entries, forget, lock_entries, manifest, outs_of
from tests.faults.kills import GRACE_S, Outcome, Plan, damaged, differences, recover
from tests.faults.processes import survivors
from tests.faults.reference import Reference, restore_store


class Server:
    """`tests.faults.writer_server` in a process of its own, always at the same port.

    Attributes:
        url: what CARES_LLM_URL is to be.
    """

    def __init__(self, model: str, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = int(free.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}"
        self._model, self._log = model, log
        self._process: subprocess.Popen[bytes] | None = None

    @contextlib.contextmanager
    def running(self, answers: int | None = None, again: bool = False) -> Iterator[None]:
        """Serve until the end of the block, or die after so many answers; with `again`, come back at once."""
        self._start(answers)
        helper = threading.Thread(target=self._come_back)
        if again:
            helper.start()
        try:
            yield
        finally:
            if again:
                helper.join()
            self._stop()

    @property
    def answers(self) -> int:
        """How many answers it gave since it was last started."""
        return self._log.read_text(encoding="utf-8").count('"number"')

    def _start(self, answers: int | None) -> None:
        command = [sys.executable, "-m", "tests.faults.writer_server", str(self._port), self._model]
        if answers is not None:
            command.append(str(answers))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CARES_")}
        with self._log.open("wb") as stream:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**environment, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
            )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != b"listens\n":
            raise RuntimeError(f"the server did not start; see {self._log}")
        threading.Thread(target=self._write_down, args=(self._process,), daemon=True).start()

    def _write_down(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with self._log.open("ab") as stream:
                stream.write(line)

    def _come_back(self) -> None:
        assert self._process is not None
        self._process.wait(timeout=3600)
        self._start(None)

    def _stop(self) -> None:
        assert self._process is not None and self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait(timeout=60)


@dataclass
class Lost:
    """What became of a run whose server died. Empty lists are what is promised.

    Attributes:
        after: answers that the server gave before it died.
        status, message: of that run; a server that comes back is asked again, so that the run ends well.
        new_entries: what that run had added to the item store: finished waves.
        asked_afterwards: answers that the plain `dvc repro` asked for.
        differences: files or entries of dvc.lock that differ in the end from those of a run whose server stayed.
        broken: what else was not as promised.
    """

    after: int
    comes_back: bool
    status: int
    message: str
    new_entries: int = 0
    asked_afterwards: int = 0
    differences: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def served_reference(clone: Clone, stage: str, server: Server, pristine: Path, log: Path) -> tuple[Reference, int]:
    """What the clone holds when the stage and all after it were made with a server that stays, and its answers.

    Raises:
        RuntimeError: that run failed.
    """
    forget(clone.root, {stage})
    with server.running():
        done = clone.run("dvc", "repro", log=log)
        if done.returncode:
            raise RuntimeError(f"with a server that stays: {done.stderr[-2000:]}")
        answers = server.answers
    found = Reference(manifest(clone.root), lock_entries(clone.root), outs_of(clone.root), {}, pristine)
    return found, answers


def lose_server(
    clone: Clone, served: Reference, stage: str, server: Server, after: int, comes_back: bool, log: Path
) -> Lost:
    """Let a stage run again whose server dies after so many answers; then a plain `dvc repro` with the server."""
    restore_store(clone, served)
    forget(clone.root, {stage})
    before = entries(clone.store)
    with server.running(after, comes_back):
        done = clone.run("dvc", "repro", log=log)
    told = [line for line in done.stderr.splitlines() if line.startswith("error:") and server.url in line]
    lost = Lost(after, comes_back, done.returncode, told[0] if told else "")
    orphans = survivors(clone.mark, GRACE_S)
    spoilt = damaged(clone, served, stage)
    lost.new_entries = len(entries(clone.store) - before)
    outcome = Outcome(Plan(0, stage, "server", 0.0, 0.0, 1))
    with server.running():
        recover(clone, served, outcome, log)
        lost.asked_afterwards = server.answers
    lost.differences = outcome.differences
    broken = {
        "status": (done.returncode == 0) != comes_back,
        "message": not comes_back and not told,
        "orphans": orphans,
        "damaged outs": spoilt,
        "temporary files": outcome.stale,
        "dvc repro": outcome.failure,
    }
    lost.broken = [name for name, value in broken.items() if value]
    return lost


def servers_lost(clone: Clone, reference: Reference, stage: str, model: str, seed: int, log: Path) -> dict[str, object]:
    """A server that dies at a drawn moment and stays away, then one that comes back; the clone is put back at the end.

    The figures: the answers of an undisturbed run, then each `Lost`.
    """
    server = Server(model, log.with_suffix(".served"))
    with_server = replace(clone, extra={**clone.extra, "CARES_LLM_URL": server.url})
    restore_store(clone, reference)
    served, answers = served_reference(with_server, stage, server, reference.store, log)
    draw = random.Random(seed)
    runs = [
        lose_server(with_server, served, stage, server, draw.randrange(2, answers), comes_back, log)
        for comes_back in (False, True)
    ]
    restore_store(clone, reference)
    for command in (["git", "checkout", "-q", "--", "."], ["dvc", "checkout", "-q"]):
        clone.run(*command, log=log)
    return {
        "answers": answers,
        "runs": [asdict(run) for run in runs],
        "differences": [name for run in runs for name in run.differences] + differences(clone, reference),
        "broken": [name for run in runs for name in run.broken],
    }
