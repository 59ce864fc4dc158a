"""The models that have an adapter, and what is known of their code.

`native`: the code is a part of the transformers library, so nothing from a hub is run. `remote`: the model's repository
brings Python files that transformers can load as AutoModelForCausalLM and AutoProcessor; they are refused unless each
is named with its hash. `package`: the code is a package of its own, which is not run here at all; such a model is asked
through a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from cares.core.errors import InputError


class Adapter(NamedTuple):
    """How a model is loaded and called.

    Attributes:
        code: where its code is; see above.
        model_class, processor_class: names in transformers.
        repository: where the official weights are; a revision is always given by the user.
        tried: what was tried of it.
    """

    code: Literal["native", "remote", "package"]
    model_class: str
    processor_class: str
    repository: str
    tried: str


_TINY = "up to and with generate() by a tiny random model of its class; the official weights were not run"
_NOT = "nothing: its code is not in transformers"
ADAPTERS: Mapping[str, Adapter] = {
    "qwen2.5-omni": Adapter(
        "native", "Qwen2_5OmniThinkerForConditionalGeneration", "Qwen2_5OmniProcessor", "Qwen/Qwen2.5-Omni-7B", _TINY
    ),
    "qwen3-omni": Adapter(
        "native",
        "Qwen3OmniMoeThinkerForConditionalGeneration",
        "Qwen3OmniMoeProcessor",
        "Qwen/Qwen3-Omni-30B-A3B-Instruct",
        _TINY,
    ),
    "audio-flamingo-3": Adapter(
        "native",
        "AudioFlamingo3ForConditionalGeneration",
        "AudioFlamingo3Processor",
        "nvidia/audio-flamingo-3-hf",
        _TINY,
    ),
    "qwen2-audio": Adapter(
        "native", "Qwen2AudioForConditionalGeneration", "Qwen2AudioProcessor", "Qwen/Qwen2-Audio-7B-Instruct", _TINY
    ),
    "midashenglm": Adapter("remote", "AutoModelForCausalLM", "AutoProcessor", "mispeech/midashenglm-7b", _NOT),
    "moss-audio": Adapter("remote", "AutoModelForCausalLM", "AutoProcessor", "", _NOT),
    "kimi-audio": Adapter("package", "", "", "moonshotai/Kimi-Audio-7B-Instruct", _NOT),
    "mimo-audio": Adapter("package", "", "", "XiaomiMiMo/MiMo-Audio-7B-Instruct", _NOT),
}


def adapter_of(name: str) -> Adapter:
    """The adapter of that name; InputError when there is none, or when the model can only be served."""
    adapter = ADAPTERS.get(name)
    if adapter is None:
        raise InputError("bench.transformers", "adapter", name, f"one of {', '.join(ADAPTERS)}")
    if adapter.code == "package":
        raise InputError(
            "bench.transformers",
            "adapter",
            name,
            "a model whose code transformers can load",
            "Its code is a package of its own and is not run here. vLLM serves this model: cares bench --base-url URL",
        )
    return adapter
