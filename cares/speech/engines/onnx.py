"""ONNX Runtime sessions with one thread on the CPU, the one weight file of a model's folder, and a model's durations.

A model that predicts how long it says each phoneme need not give that out. An ONNX file is a protocol-buffer message,
and a message whose field occurs twice is merged (Protocol Buffers encoding, "Last One Wins": embedded messages are
merged, repeated fields joined). So a second, tiny `graph` behind the file adds a node and an output to the first: no
weight is touched, no sample changes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import onnxruntime

from cares.core.errors import CaresError

DURATIONS = "duration"
_FLOAT = b"\x08\x01"


def open_session(model: Path | bytes, name: str = "", ready: bool = False) -> onnxruntime.InferenceSession:
    """A session of one thread; CaresError names a file that is missing or no ONNX model.

    Args:
        model: the file, or its bytes.
        name: what to call the bytes in an error.
        ready: whether the model was optimised before (`optimised`), so that opening it is quick.
    """
    options = _options()
    if ready:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return _open(model, options, name)


def optimised(model: bytes, name: str) -> bytes:
    """The model as ONNX Runtime runs it, in its own format: opens five times faster and gives the same samples."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.ort"
        options.optimized_model_filepath = str(path)
        _open(model, options, name)
        return path.read_bytes()


def only_file(folder: Path, pattern: str) -> Path:
    """The one file of `folder` that matches; CaresError when there is none or more than one."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise CaresError(f"{folder.name}: holds {len(found)} files {pattern}, expected one")
    return found[0]


def with_durations(model: bytes, tensor: str) -> bytes:
    """The model with its tensor of durations as a further output named `DURATIONS`; unchanged when it has none."""
    if tensor.encode() not in model:
        return model
    node = _field(1, tensor.encode()) + _field(2, DURATIONS.encode()) + _field(4, b"Identity")
    output = _field(1, DURATIONS.encode()) + _field(2, _field(1, _FLOAT))
    return model + _field(7, _field(1, node) + _field(12, output))


def _field(number: int, payload: bytes) -> bytes:
    """A length-delimited field of a message; `payload` is shorter than 16,384 bytes."""
    size = len(payload)
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes([number << 3 | 2]) + length + payload


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options


def _open(model: Path | bytes, options: onnxruntime.SessionOptions, name: str) -> onnxruntime.InferenceSession:
    source = model if isinstance(model, bytes) else str(model)
    label = name if isinstance(model, bytes) else model.name
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own errors have no other common base
        raise CaresError(f"{label}: not a readable ONNX model ({str(error).splitlines()[0]})") from None
