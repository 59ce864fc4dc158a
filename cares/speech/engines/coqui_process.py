"""Coqui's engine from an environment without coqui-tts: a process under the interpreter in CARES_COQUI_PYTHON.

It is started once a worker and ends with it, because its input then ends.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import tempfile
import weakref
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from cares.core.errors import CaresError
from cares.speech.engines import Engine, EngineError, Speech, TimedWord

PYTHON = "CARES_COQUI_PYTHON"
ROOT = Path(__file__).resolve().parents[3]
LIBRARIES = ("coqui-tts", "torch")
HOW = "python3.11 -m venv .venv-coqui; .venv-coqui/bin/pip install '.[coqui]' (docs/speech.md)"
_SHOW = "import sys\nfrom importlib.metadata import version\nfor n in sys.argv[1:]: print(version(n))"


def open_coqui(folder: Path) -> Engine:
    """The engine in this process when coqui-tts is installed here, else in a process of its own.

    Raises:
        CaresError: there is no environment with coqui-tts, or the weights do not load.
    """
    if _is_here():
        from cares.speech.engines.coqui import CoquiEngine

        return CoquiEngine(folder)
    return CoquiProcess(folder, _interpreter())


def coqui_versions() -> dict[str, str]:
    """The versions of coqui-tts and torch where the engine runs."""
    if _is_here():
        return {library: version(library) for library in LIBRARIES}
    return _versions_of(_interpreter())


class CoquiProcess:
    """`CoquiEngine` in a process under another interpreter.

    Args:
        folder: the model's files.
        python: an interpreter with coqui-tts.

    The process ends with `close()`, or when the engine is let go.

    Raises:
        CaresError: the process does not start, or the weights do not load.
    """

    def __init__(self, folder: Path, python: str) -> None:
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process)
        path = os.pathsep.join(part for part in (str(ROOT), os.environ.get("PYTHONPATH", "")) if part)
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        try:
            self._process = subprocess.Popen(
                [python, "-m", "cares.speech.engines.coqui_worker", str(folder)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._messages,
            )
        except OSError as error:
            raise CaresError(f"{PYTHON}: {python} cannot be started ({error.strerror}). Make it: {HOW}") from None
        # a Popen that is let go with its process still running keeps the pipe to it open, so it would never end
        self.close = weakref.finalize(self, _end, self._process)
        head = self._head()
        if head["kind"] != "ready":
            self.close()
            raise CaresError(str(head["message"]))

    def speak(self, text: str, voice: str, speed: float, seed: int) -> Speech:
        """See `Engine.speak`."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps({"text": text, "voice": voice, "speed": speed, "seed": seed}).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None
        head = self._head()
        if head["kind"] == "text":
            raise EngineError(str(head["message"]))
        if head["kind"] != "speech":
            raise CaresError(str(head["message"]))
        size = 4 * int(head["n_samples"])
        stdout = self._process.stdout
        assert stdout is not None
        data = stdout.read(size)
        if len(data) != size:
            raise self._ended()
        words = None if head["words"] is None else tuple(TimedWord(*word) for word in head["words"])
        return Speech(np.frombuffer(data, "<f4").astype(np.float32), int(head["rate"]), words)

    def _head(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None
        line = stdout.readline()
        if not line.endswith(b"\n"):
            raise self._ended()
        head: dict[str, Any] = json.loads(line)
        return head

    def _ended(self) -> CaresError:
        status = self._process.wait()
        self._messages.seek(0)
        tail = self._messages.read().decode(errors="replace").strip().splitlines()[-3:]
        return CaresError(f"coqui: its process ended (exit status {status}): {' '.join(tail) or 'no message'}")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):  # what was not read by a process that died
            process.stdin.close()
    process.wait()


def _is_here() -> bool:
    try:
        version("coqui-tts")
    except PackageNotFoundError:
        return False
    return importlib.util.find_spec("torchaudio") is not None


def _interpreter() -> str:
    python = os.environ.get(PYTHON, "")
    if not python:
        raise CaresError(f"coqui-tts is not installed here, and {PYTHON} names no interpreter that has it: {HOW}")
    return python


@cache
def _versions_of(python: str) -> dict[str, str]:
    try:
        done = subprocess.run([python, "-c", _SHOW, *LIBRARIES], capture_output=True, text=True)
    except OSError as error:
        raise CaresError(f"{PYTHON}: {python} cannot be started ({error.strerror}). Make it: {HOW}") from None
    if done.returncode != 0:
        raise CaresError(f"{PYTHON}: {python} has no coqui-tts. Make it: {HOW}")
    return dict(zip(LIBRARIES, done.stdout.split(), strict=True))
