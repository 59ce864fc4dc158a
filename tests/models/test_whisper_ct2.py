"""CTranslate2's Whisper file: every array lands at its place, another file is refused."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from cares.core.errors import InputError
from cares.models.whisper_ct2 import read_ctranslate2, state_dict, whisper_to_safetensors

STATE, LAYERS, VOCABULARY, CONTEXT, MELS = 64, 2, 51865, 448, 80


def arrays() -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    made: dict[str, np.ndarray] = {}

    def put(name: str, *shape: int) -> None:
        made[name] = (random.normal(size=shape) * 0.05).astype(np.float16)

    def norm(name: str) -> None:
        put(f"{name}/gamma", STATE)
        put(f"{name}/beta", STATE)

    def layer(name: str, rows: int, columns: int = STATE) -> None:
        put(f"{name}/weight", rows, columns)
        put(f"{name}/bias", rows)

    for side in ("encoder", "decoder"):
        for index in range(LAYERS):
            at = f"{side}/layer_{index}"
            norm(f"{at}/self_attention/layer_norm")
            layer(f"{at}/self_attention/linear_0", 3 * STATE)
            layer(f"{at}/self_attention/linear_1", STATE)
            if side == "decoder":
                norm(f"{at}/attention/layer_norm")
                layer(f"{at}/attention/linear_0", STATE)
                layer(f"{at}/attention/linear_1", 2 * STATE)
                layer(f"{at}/attention/linear_2", STATE)
            norm(f"{at}/ffn/layer_norm")
            layer(f"{at}/ffn/linear_0", 4 * STATE)
            layer(f"{at}/ffn/linear_1", STATE, 4 * STATE)
        norm(f"{side}/layer_norm")
    put("encoder/position_encodings/encodings", 1500, STATE)
    put("decoder/position_encodings/encodings", CONTEXT, STATE)
    put("decoder/embeddings/weight", VOCABULARY, STATE)
    for conv, channels in (("conv1", MELS), ("conv2", STATE)):
        put(f"encoder/{conv}/weight", STATE, channels, 3)
        put(f"encoder/{conv}/bias", STATE)
    return made


def write(path: Path, made: dict[str, np.ndarray], version: int = 6, specification: bytes = b"WhisperSpec") -> None:
    def text(value: bytes) -> bytes:
        return struct.pack("<H", len(value) + 1) + value + b"\0"

    data = [struct.pack("<I", version), text(specification), struct.pack("<II", 3, len(made))]
    for name, array in made.items():
        data += [text(name.encode()), struct.pack(f"<B{array.ndim}I", array.ndim, *array.shape)]
        data += [struct.pack("<BI", 4, array.nbytes), array.tobytes()]
    path.write_bytes(b"".join(data) + struct.pack("<I", 0))


def test_a_round_trip_loads_strictly_and_keeps_every_value(tmp_path: Path) -> None:
    from cares.asr.whisper_model import load_whisper

    made = arrays()
    write(tmp_path / "model.bin", made)
    (tmp_path / "config.json").write_text(json.dumps({"alignment_heads": [[1, 0]], "lang_ids": [1]}))
    ready = tmp_path / "ready"
    ready.mkdir()
    whisper_to_safetensors(tmp_path, ready)
    model = load_whisper(ready)
    assert model.dims.n_text_layer == LAYERS and model.dims.n_vocab == VOCABULARY
    assert model.alignment_heads.indices().T.tolist() == [[1, 0]]
    loaded = {name: value.numpy() for name, value in model.state_dict().items()}
    key = made["decoder/layer_1/attention/linear_1/weight"][:STATE]
    value_bias = made["encoder/layer_0/self_attention/linear_0/bias"][2 * STATE :]
    np.testing.assert_array_equal(loaded["decoder.blocks.1.cross_attn.key.weight"], key.astype(np.float32))
    np.testing.assert_array_equal(loaded["encoder.blocks.0.attn.value.bias"], value_bias.astype(np.float32))
    total = sum(array.size for array in made.values())
    keys_without_bias = 3 * LAYERS * STATE
    assert sum(array.size for array in state_dict(read_ctranslate2(tmp_path / "model.bin")).values()) == (
        total - keys_without_bias
    )


def test_the_same_file_gives_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path / "model.bin", arrays())
    (tmp_path / "config.json").write_text('{"alignment_heads": [[1, 0]]}')
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        whisper_to_safetensors(tmp_path, tmp_path / name)
        made.append([path.read_bytes() for path in sorted((tmp_path / name).iterdir())])
    assert made[0] == made[1]


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    write(path, {}, version=5)
    with pytest.raises(InputError, match="binary version"):
        read_ctranslate2(path)
    write(path, {}, specification=b"TransformerSpec")
    with pytest.raises(InputError, match="TransformerSpec"):
        read_ctranslate2(path)


def test_a_file_that_breaks_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    write(path, {"encoder/conv1/bias": np.zeros(64, np.float16)})
    for size in (3, 20, 45, len(path.read_bytes()) - 20):
        cut = tmp_path / "cut.bin"
        cut.write_bytes(path.read_bytes()[:size])
        with pytest.raises(InputError, match=r"cut\.bin"):
            read_ctranslate2(cut)
