"""Tiny audio-language models with random weights, a tokenizer of single bytes and a processor, made on the spot.

Nothing comes from a hub. The processors of the Omni models want torchvision for pictures that nobody shows; it is not
installed here, so they are put together without their parts for pictures.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

END, BLANK = "<|im_end|>", "<|endoftext|>"
TURNS = [BLANK, "<|im_start|>", END]
# two heads of 32, the smallest that vLLM's attention on a CPU takes
TEXT: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "max_position_embeddings": 8192,
}
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% for c in m.content %}{% if c.type == 'audio' %}SOUND"
    "{% else %}{{ c.text }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)
# vLLM puts the sound into the text itself
PLAIN_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)
OMNI = {
    "audio_token": "<|AUDIO|>",
    "image_token": "<|IMAGE|>",
    "video_token": "<|VIDEO|>",
    "audio_bos_token": "<|audio_bos|>",
    "audio_eos_token": "<|audio_eos|>",
    "vision_bos_token": "<|vision_bos|>",
    "vision_eos_token": "<|vision_eos|>",
}
VISION = {"depth": 1, "hidden_size": 32, "num_heads": 2, "intermediate_size": 64, "out_hidden_size": 64}
ENCODER: dict[str, Any] = {
    "num_mel_bins": 16,
    "d_model": 32,
    "encoder_layers": 1,
    "encoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "max_source_positions": 1500,
}


def save_qwen2_audio(folder: Path, seed: int = 0, template: str = TEMPLATE) -> None:
    """A Qwen2-Audio in the form of the official files; its processor takes the first 30 s."""
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import Qwen2AudioConfig, Qwen2AudioForConditionalGeneration, Qwen2AudioProcessor

    special = {"audio_token": "<|AUDIO|>", "audio_bos_token": "<|audio_bos|>", "audio_eos_token": "<|audio_eos|>"}
    tokenizer, ids = _tokenizer(special)
    sound = "<|audio_bos|><|AUDIO|><|audio_eos|>"
    chat = template.replace("SOUND", sound)
    Qwen2AudioProcessor(feature_extractor=_features(30), tokenizer=tokenizer, chat_template=chat).save_pretrained(
        folder
    )
    config = Qwen2AudioConfig(
        audio_config={"model_type": "qwen2_audio_encoder", **ENCODER},
        text_config={"model_type": "qwen2", "tie_word_embeddings": False, **_text(ids)},
        audio_token_index=ids["<|AUDIO|>"],
    )
    torch.manual_seed(seed)
    # larger weights than the default, so that what is heard and asked makes a difference
    model = Qwen2AudioForConditionalGeneration(config).float()
    _shake(model)
    model.save_pretrained(folder)
    # the library saves the language model's tensors under another name than the official files have
    weights = load_file(str(folder / "model.safetensors"))
    official = {name.replace("language_model.model.model.", "language_model.model."): t for name, t in weights.items()}
    save_file(official, str(folder / "model.safetensors"), metadata={"format": "pt"})
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")


def save_audio_flamingo_3(folder: Path) -> None:
    """An Audio Flamingo 3; its processor cuts a recording into windows of 30 s and keeps them all."""
    from transformers import AudioFlamingo3Config, AudioFlamingo3ForConditionalGeneration, AudioFlamingo3Processor

    tokenizer, ids = _tokenizer({"audio_token": "<sound>"})
    chat = TEMPLATE.replace("SOUND", "<sound>")
    AudioFlamingo3Processor(_features(30), tokenizer, chat_template=chat).save_pretrained(folder)
    encoder = {
        "model_type": "audioflamingo3_encoder",
        "num_mel_bins": 16,
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_source_positions": 1500,
    }
    config = AudioFlamingo3Config(
        audio_config=encoder, text_config={"model_type": "qwen2", **_text(ids)}, audio_token_id=ids["<sound>"]
    )
    AudioFlamingo3ForConditionalGeneration(config).float().save_pretrained(folder)


def qwen25_omni() -> tuple[Any, Any]:
    """Processor and model of a Qwen2.5-Omni thinker; the processor takes 300 s, as the official one."""
    from transformers import Qwen2_5OmniProcessor, Qwen2_5OmniThinkerConfig, Qwen2_5OmniThinkerForConditionalGeneration

    tokenizer, ids = _tokenizer(OMNI)
    config = Qwen2_5OmniThinkerConfig(
        audio_config={"output_dim": 64, "n_window": 50, **ENCODER},
        vision_config=VISION,
        text_config={"rope_parameters": _rope(), **_text(ids)},
        audio_token_index=ids["<|AUDIO|>"],
        image_token_index=ids["<|IMAGE|>"],
        video_token_index=ids["<|VIDEO|>"],
        **_marks(ids),
    )
    processor = _without_pictures(Qwen2_5OmniProcessor, 300, tokenizer)
    return processor, _ended(Qwen2_5OmniThinkerForConditionalGeneration(config), ids)


def qwen3_omni() -> tuple[Any, Any]:
    """Processor and model of a Qwen3-Omni thinker (mixture of experts)."""
    from transformers import Qwen3OmniMoeProcessor, Qwen3OmniMoeThinkerForConditionalGeneration
    from transformers.models.qwen3_omni_moe.configuration_qwen3_omni_moe import Qwen3OmniMoeThinkerConfig

    tokenizer, ids = _tokenizer(OMNI)
    experts = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 32, "head_dim": 32}
    config = Qwen3OmniMoeThinkerConfig(
        audio_config={"output_dim": 64, "n_window": 50, "downsample_hidden_size": 16, **ENCODER},
        vision_config={"deepstack_visual_indexes": [0], **VISION},
        text_config={"rope_parameters": {"mrope_interleaved": True, **_rope()}, **experts, **_text(ids)},
        audio_token_id=ids["<|AUDIO|>"],
        image_token_id=ids["<|IMAGE|>"],
        video_token_id=ids["<|VIDEO|>"],
        **_marks(ids),
    )
    processor = _without_pictures(Qwen3OmniMoeProcessor, 30, tokenizer)
    return processor, _ended(Qwen3OmniMoeThinkerForConditionalGeneration(config), ids)


def _tokenizer(special: dict[str, str]) -> tuple[Any, dict[str, int]]:
    from tokenizers import pre_tokenizers
    from transformers import Qwen2Tokenizer

    ids = {letter: place for place, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    for token in [*TURNS, *special.values()]:
        ids[token] = len(ids)
    tokenizer = Qwen2Tokenizer(
        vocab=dict(ids), merges=[], unk_token=BLANK, eos_token=END, pad_token=BLANK, extra_special_tokens=special
    )
    return tokenizer, ids


def _features(seconds: int) -> Any:
    from transformers import WhisperFeatureExtractor

    return WhisperFeatureExtractor(feature_size=16, chunk_length=seconds)


def _text(ids: dict[str, int]) -> dict[str, Any]:
    ends = {"bos_token_id": None, "eos_token_id": ids[END], "pad_token_id": ids[BLANK]}
    return {"vocab_size": len(ids), **ends, **TEXT}


def _rope() -> dict[str, Any]:
    return {"rope_type": "default", "mrope_section": [4, 6, 6], "rope_theta": 10000.0}


def _marks(ids: dict[str, int]) -> dict[str, int]:
    return {"vision_start_token_id": ids["<|vision_bos|>"], "audio_start_token_id": ids["<|audio_bos|>"]}


def _ended(model: Any, ids: dict[str, int]) -> Any:
    model.generation_config.eos_token_id = ids[END]
    return model.float()


def _shake(model: Any) -> None:
    """Weights ten times as large as those a fresh model has."""
    import torch

    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1 and "embed_positions" not in name:
                weight.mul_(10.0)


def _without_pictures(kind: Any, seconds: int, tokenizer: Any) -> Any:
    processor = kind.__new__(kind)
    processor.feature_extractor, processor.tokenizer = _features(seconds), tokenizer
    processor.chat_template = TEMPLATE.replace("SOUND", "<|audio_bos|><|AUDIO|><|audio_eos|>")
    processor.image_processor = SimpleNamespace(merge_size=2)
    processor.video_processor = SimpleNamespace(merge_size=2, temporal_patch_size=2)
    for name, token in OMNI.items():
        setattr(processor, name, token)
    return processor
