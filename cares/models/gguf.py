"""GGUF to a folder that transformers and vLLM load: bfloat16 safetensors, configuration, tokenizer, chat template."""

from __future__ import annotations

import json
from pathlib import Path

from cares.core.errors import InputError


def gguf_to_safetensors(official: Path, ready: Path) -> None:
    """Dequantise the only .gguf file of `official` into `ready`.

    The weights are dequantised in float32 and rounded to bfloat16. Version numbers of the libraries are taken out of
    the JSON files, so that the same weights give the same bytes.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging
    from transformers.utils.quantization_config import GgufConfig

    files = sorted(official.glob("*.gguf"))
    if len(files) != 1:
        raise InputError(official.name, "", [file.name for file in files], "one .gguf file")
    logging.disable_progress_bar()
    torch.set_num_threads(1)
    name = files[0].name
    tokenizer = AutoTokenizer.from_pretrained(official, gguf_file=name)
    model = AutoModelForCausalLM.from_pretrained(
        official, gguf_file=name, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    model.save_pretrained(ready)
    tokenizer.save_pretrained(ready)
    for file in sorted(ready.glob("*.json")):
        _strip(file)


def _strip(file: Path) -> None:
    data = json.loads(file.read_text(encoding="utf-8"))
    if isinstance(data, dict) and "transformers_version" in data:
        del data["transformers_version"]
        file.write_text(json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
