"""The registry: the real one is sound, and every fault in one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from cares.core.errors import InputError
from cares.models.params import ModelsParams
from cares.models.registry import load_registry, registered

ENTRY = """models:
  toy:
    name: Toy
    kind: tts
    licence: MIT
    host: huggingface
    repository: someone/toy
    revision: 0123456789012345678901234567890123456789
    ready_bytes: 10
    files:
      - name: toy.bin
        size: 10
        sha256: {sha256}
        reader: ctranslate2
        packages:
          - {{distribution: toy-part, version: "1.0", file: "*/toy.bin"}}
"""
GOOD = ENTRY.format(sha256="a" * 64)


def read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "registry.yaml"
    path.write_text(text, encoding="utf-8")
    load_registry(path)


def test_every_model_of_the_default_has_a_source_and_a_known_licence() -> None:
    models = load_registry()
    for name in (
        "qwen2.5-coder-1.5b-instruct",
        "kokoro-82m",
        "piper-joe",
        "whisper-base",
        "all-minilm-l6-v2",
        "ge2e-resemblyzer",
    ):
        assert models[name].licence in {"Apache-2.0", "MIT", "CC0-1.0"}
        assert all(file.packages for file in models[name].files)


def test_every_other_model_has_a_place_on_the_hub_and_says_what_was_not_checked() -> None:
    others = [
        model for model in load_registry().values() if not all(file.packages for file in model.files) or model.served
    ]
    assert {"Qwen3 4B Instruct 2507", "DeepSeek V3 0324"} <= {model.name for model in others}
    for model in others:
        assert "not compared with the" in model.note and model.served != bool(model.files)
        if model.convert == "unzip":  # an archive of a release, from CARES_WEIGHTS
            assert model.host == "github-release" and model.ready_bytes > model.files[0].size
            continue
        assert model.host == "huggingface" and all(file.hub_path for file in model.files)
        assert model.served or model.ready_bytes == sum(file.size for file in model.files)


def test_official_hashes_are_those_that_were_published() -> None:
    of_default = [model for model in load_registry().values() if not model.note]
    hashes = {file.name: file.sha256 for model in of_default for file in model.files}
    assert hashes["qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"].startswith("cc324af070c2ecbf")
    assert hashes["kokoro-v1.0.int8.onnx"].startswith("6e742170d309016e")
    assert hashes["model.bin"].startswith("d01c3014881c9c6f")
    assert hashes["model.safetensors"].startswith("53aa51172d142c89")
    assert hashes["en_US-joe-medium.onnx"].startswith("58afce0321b8d9c4")


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ("licence: MIT", "license: MIT", "licen"),
        ("    kind: tts\n", "    kind: tts\n    colour: red\n", "colour"),
        ("kind: tts", "kind: vocoder", "kind"),
        ("a" * 64, "a" * 63, "sha256"),
        ("size: 10", "size: 0", "size"),
        ("name: toy.bin", "name: ../toy.bin", "files"),
        ("name: toy.bin", "name: /toy.bin", "files"),
        ("revision: 0123456789012345678901234567890123456789", "revision: main", "toy"),
        ("    kind: tts\n", "    kind: tts\n    served: true\n", "toy"),
        ("version: \"1.0\"", "version: \"\"", "version"),
        ("  toy:\n", "  To y:\n", "To y"),
    ],
)  # fmt: skip
def test_a_fault_is_named(tmp_path: Path, before: str, after: str, field: str) -> None:
    assert before in GOOD
    with pytest.raises(InputError) as caught:
        read(tmp_path, GOOD.replace(before, after))
    assert "registry.yaml" in str(caught.value)
    assert field in caught.value.field


def test_a_repeated_key_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="twice"):
        read(tmp_path, GOOD.replace("kind: tts", "kind: tts\n    kind: asr"))


def test_an_unknown_model_is_named_with_those_that_are_known() -> None:
    with pytest.raises(InputError, match=r"'qwen9'.*whisper-base"):
        registered("qwen9")


def models(**changed: object) -> ModelsParams:
    value = {
        "writer": "qwen2.5-coder-1.5b-instruct",
        "encoder": "all-minilm-l6-v2",
        "tts": ["kokoro-82m"],
        "asr": "whisper-base",
        "speaker": "ge2e-resemblyzer",
    }
    return ModelsParams.parse({**value, **changed}, "params.yaml", "models")


def test_a_model_of_the_wrong_kind_is_refused() -> None:
    models().check("params.yaml", writer_is_served=False)
    with pytest.raises(InputError, match=r"models\.asr: got 'kokoro-82m'.*asr"):
        models(asr="kokoro-82m").check("params.yaml", writer_is_served=False)
    with pytest.raises(InputError, match="writer-of-others"):
        models(writer="writer-of-others").check("params.yaml", writer_is_served=False)
    models(writer="writer-of-others").check("params.yaml", writer_is_served=True)


def test_a_typo_in_the_section_is_refused() -> None:
    with pytest.raises(InputError, match=r"models\.encodr"):
        models(encodr="all-minilm-l6-v2")
