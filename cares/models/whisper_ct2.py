"""Whisper: CTranslate2's model file to openai-whisper's state dict, as safetensors, never as a pickle.

Layout of a CTranslate2 file (binary version 6, CTranslate2 `python/ctranslate2/specs/model_spec.py`): version, name of
the specification, its revision, number of variables; then for each its name, shape, type, size in bytes and the bytes;
little-endian, a string is a 16-bit length with its final NUL. Aliases follow and are not needed.
"""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cares.core.canonical import write_json
from cares.core.errors import InputError

Arrays = dict[str, NDArray[np.generic]]
DTYPES: dict[int, type[np.generic]] = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}
BINARY_VERSION = 6
CHUNK_TOKENS = 1500


class _Reader:
    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name, self.at = data, name, 0

    def take(self, size: int) -> memoryview:
        if self.at + size > len(self.data):
            raise InputError(self.name, f"byte {self.at}", "end of file", f"{size} more bytes")
        self.at += size
        return memoryview(self.data)[self.at - size : self.at]

    def number(self, code: str) -> int:
        (value,) = struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))
        return int(value)

    def text(self) -> str:
        return bytes(self.take(self.number("H"))[:-1]).decode("utf-8")

    def array(self) -> NDArray[np.generic]:
        shape = [self.number("I") for _ in range(self.number("B"))]
        code = self.number("B")
        if code not in DTYPES:
            raise InputError(self.name, f"byte {self.at}", code, f"a type code among {sorted(DTYPES)}")
        dtype = np.dtype(DTYPES[code]).newbyteorder("<")
        return np.frombuffer(self.take(self.number("I")), dtype).reshape(shape)


def read_ctranslate2(file: Path) -> Arrays:
    """All variables of a CTranslate2 Whisper file by name; InputError when it is another kind of file."""
    reader = _Reader(file.read_bytes(), file.name)
    version = reader.number("I")
    if version != BINARY_VERSION:
        raise InputError(file.name, "binary version", version, str(BINARY_VERSION))
    specification = reader.text()
    if specification != "WhisperSpec":
        raise InputError(file.name, "specification", specification, "WhisperSpec")
    reader.number("I")
    count = reader.number("I")
    arrays = {}
    for _ in range(count):
        name = reader.text()
        arrays[name] = reader.array()
    return arrays


def state_dict(arrays: Arrays) -> Arrays:
    """Rename and split CTranslate2's arrays into openai-whisper's state dict; values and types are unchanged."""
    state: Arrays = {}

    def linear(to: str, weight: NDArray[np.generic], bias: NDArray[np.generic] | None = None) -> None:
        state[f"{to}.weight"] = weight
        if bias is not None:
            state[f"{to}.bias"] = bias

    def layer(to: str, source: str) -> None:
        linear(to, arrays[f"{source}/weight"], arrays[f"{source}/bias"])

    def norm(to: str, source: str) -> None:
        linear(to, arrays[f"{source}/gamma"], arrays[f"{source}/beta"])

    def attention(to: str, source: str, cross: bool) -> None:
        """Fused rows: query, key, value of self-attention; key, value of cross-attention. Keys have no bias."""
        first, bias = arrays[f"{source}/linear_0/weight"], arrays[f"{source}/linear_0/bias"]
        if cross:
            query, query_bias, last = first, bias, f"{source}/linear_2"
            key, value = np.split(arrays[f"{source}/linear_1/weight"], 2)
            value_bias = np.split(arrays[f"{source}/linear_1/bias"], 2)[1]
        else:
            last = f"{source}/linear_1"
            query, key, value = np.split(first, 3)
            query_bias, _, value_bias = np.split(bias, 3)
        linear(f"{to}.query", query, query_bias)
        linear(f"{to}.key", key)
        linear(f"{to}.value", value, value_bias)
        layer(f"{to}.out", last)
        norm(f"{to}_ln", f"{source}/layer_norm")

    for side in ("encoder", "decoder"):
        for index in range(_layers(arrays, side)):
            to, source = f"{side}.blocks.{index}", f"{side}/layer_{index}"
            attention(f"{to}.attn", f"{source}/self_attention", cross=False)
            if side == "decoder":
                attention(f"{to}.cross_attn", f"{source}/attention", cross=True)
            layer(f"{to}.mlp.0", f"{source}/ffn/linear_0")
            layer(f"{to}.mlp.2", f"{source}/ffn/linear_1")
            norm(f"{to}.mlp_ln", f"{source}/ffn/layer_norm")
        state[f"{side}.positional_embedding"] = arrays[f"{side}/position_encodings/encodings"]
    layer("encoder.conv1", "encoder/conv1")
    layer("encoder.conv2", "encoder/conv2")
    norm("encoder.ln_post", "encoder/layer_norm")
    norm("decoder.ln", "decoder/layer_norm")
    state["decoder.token_embedding.weight"] = arrays["decoder/embeddings/weight"]
    return state


def dimensions(arrays: Arrays) -> dict[str, int]:
    """The fields of openai-whisper's ModelDimensions, read from the arrays' shapes."""
    n_mels = arrays["encoder/conv1/weight"].shape[1]
    n_text_ctx = arrays["decoder/position_encodings/encodings"].shape[0]
    n_vocab, n_state = arrays["decoder/embeddings/weight"].shape
    n_head = n_state // 64
    return {
        "n_mels": n_mels,
        "n_audio_ctx": CHUNK_TOKENS,
        "n_audio_state": n_state,
        "n_audio_head": n_head,
        "n_audio_layer": _layers(arrays, "encoder"),
        "n_vocab": n_vocab,
        "n_text_ctx": n_text_ctx,
        "n_text_state": n_state,
        "n_text_head": n_head,
        "n_text_layer": _layers(arrays, "decoder"),
    }


def whisper_to_safetensors(official: Path, ready: Path) -> None:
    """Write model.safetensors and config.json (`dims`, `alignment_heads` as [layer, head] pairs) into `ready`."""
    from safetensors.numpy import save_file

    arrays = read_ctranslate2(official / "model.bin")
    state = {name: np.ascontiguousarray(array) for name, array in state_dict(arrays).items()}
    save_file(state, ready / "model.safetensors", metadata={"format": "pt"})
    heads = json.loads((official / "config.json").read_text(encoding="utf-8"))["alignment_heads"]
    write_json(ready / "config.json", {"dims": dimensions(arrays), "alignment_heads": heads})


def _layers(arrays: Arrays, side: str) -> int:
    found = (re.match(rf"{side}/layer_(\d+)/", name) for name in arrays)
    return len({match.group(1) for match in found if match})
