"""Code that a model brings runs only if each of its files is named with its hash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cares.bench.adapters.known import ADAPTERS
from cares.bench.adapters.params import TransformersParams
from cares.bench.adapters.pinned import model_folder
from cares.bench.adapters.run import TransformersModel
from cares.core.canonical import file_digest
from cares.core.errors import CaresError, InputError

EVIL = "from pathlib import Path\nPath({ran!r}).mkdir()\n"


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """What is there once code of a model has run."""
    return tmp_path / "it ran"


@pytest.fixture
def folder(tmp_path: Path, ran: Path) -> Path:
    """A model's folder with code, weights that are a pickle, and configurations that name the code."""
    import torch

    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "evil.py").write_text(EVIL.format(ran=str(ran)))
    named = {"AutoConfig": "evil.C", "AutoModel": "evil.M", "AutoModelForCausalLM": "evil.M", "AutoProcessor": "evil.P"}
    for name in ("config.json", "processor_config.json", "preprocessor_config.json", "tokenizer_config.json"):
        (folder / name).write_text(json.dumps({"model_type": "qwen2_audio", "auto_map": named}))
    torch.save({}, folder / "pytorch_model.bin")
    return folder


def params(folder: Path, adapter: str, **code: str) -> TransformersParams:
    given: dict[str, Any] = {"adapter": adapter, "source": str(folder), "code_sha256": code}
    return TransformersParams.parse(given, "params.yaml", "bench.transformers")


@pytest.mark.parametrize("adapter", ["qwen2-audio", "midashenglm"])
def test_code_that_is_not_named_does_not_run(folder: Path, ran: Path, adapter: str) -> None:
    with pytest.raises(CaresError):
        TransformersModel(params(folder, adapter))
    assert not ran.exists()


def test_code_that_was_changed_after_it_was_named_does_not_run(folder: Path, ran: Path) -> None:
    named = {"evil.py": file_digest(folder / "evil.py")}
    (folder / "evil.py").write_text((folder / "evil.py").read_text() + "# one more line\n")
    with pytest.raises(InputError, match=r"evil\.py: sha256: got .*The code is not what was named"):
        TransformersModel(params(folder, "midashenglm", **named))
    assert not ran.exists()


@pytest.mark.parametrize(
    "config",
    [
        {"auto_map": {"AutoModel": "elsewhere.M"}},
        {"auto_map": {"AutoModel": "someone/model--evil.M"}},
        {"auto_map": {"AutoTokenizer": [None, "elsewhere.T"]}},
        {"text_config": {"auto_map": {"AutoModel": "elsewhere.M"}}},
        {"parts": [{"auto_map": {"AutoModel": "sub/elsewhere.M"}}]},
    ],
)
def test_a_configuration_names_only_code_that_is_named(folder: Path, ran: Path, config: dict[str, Any]) -> None:
    given = params(folder, "midashenglm", **{"evil.py": file_digest(folder / "evil.py")})
    assert model_folder(given, ADAPTERS["midashenglm"]) == folder
    (folder / "more.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"more\.json: auto_map: got "):
        TransformersModel(given)
    assert not ran.exists()


def test_a_hash_is_a_whole_one(folder: Path) -> None:
    with pytest.raises(InputError, match=r"code_sha256\.evil\.py"):
        params(folder, "midashenglm", **{"evil.py": "abc"})


def test_the_pipelines_own_params_name_no_code() -> None:
    import yaml

    root = Path(__file__).parents[2]
    for path in (root / "params.yaml", *sorted((root / "conf").rglob("*.yaml"))):
        text = path.read_text(encoding="utf-8")
        assert yaml.safe_load(text) is not None
        assert "trust_remote_code" not in text and "code_sha256" not in text, path.name
