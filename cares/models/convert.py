"""Convert official files into the form that the model's library loads. Runs as a process of its own.

A process of its own gives the memory back, keeps heavy imports out of the caller, and runs with one thread and without
any network. Usage: python -m cares.models.convert CONVERSION OFFICIAL_FOLDER READY_FOLDER
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from cares.core.errors import CaresError


def convert(conversion: str, official: Path, ready: Path) -> None:
    """Convert in a new process; CaresError with the end of its messages when it fails."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(part for part in (root, os.environ.get("PYTHONPATH", "")) if part)
    quiet = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    command = [sys.executable, "-m", "cares.models.convert", conversion, str(official), str(ready)]
    done = subprocess.run(command, env={**os.environ, **quiet}, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode != 0:
        tail = "\n".join(done.stderr.strip().splitlines()[-6:])
        raise CaresError(f"conversion {conversion} failed (exit status {done.returncode}):\n{tail}")


def main() -> None:
    """Entry of the converting process."""
    conversion, official, ready = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if conversion == "gguf":
        from cares.models.gguf import gguf_to_safetensors

        gguf_to_safetensors(official, ready)
    elif conversion == "whisper-ct2":
        from cares.models.whisper_ct2 import whisper_to_safetensors

        whisper_to_safetensors(official, ready)
    elif conversion == "ge2e":
        from cares.models.ge2e import checkpoint_to_safetensors

        checkpoint_to_safetensors(official, ready)
    elif conversion == "unzip":
        from cares.models.unzip import unzip

        unzip(official, ready)
    else:
        sys.exit(f"unknown conversion {conversion!r}")


if __name__ == "__main__":
    main()
