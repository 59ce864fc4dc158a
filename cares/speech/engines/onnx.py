"""ONNX Runtime sessions with one thread on the CPU, and the one weight file of a model's folder."""

from __future__ import annotations

from pathlib import Path

import onnxruntime

from cares.core.errors import CaresError


def open_session(path: Path) -> onnxruntime.InferenceSession:
    """A session of one thread; CaresError names a file that is missing or no ONNX model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own errors have no other common base
        raise CaresError(f"{path.name}: not a readable ONNX model ({str(error).splitlines()[0]})") from None


def only_file(folder: Path, pattern: str) -> Path:
    """The one file of `folder` that matches; CaresError when there is none or more than one."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise CaresError(f"{folder.name}: holds {len(found)} files {pattern}, expected one")
    return found[0]
