"""A small VITS of three speakers with random weights. Usage: python make_vits.py FOLDER (needs coqui-tts)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from TTS.tts.configs.vits_config import VitsArgs, VitsConfig
from TTS.tts.models.vits import Vits


def make(folder: Path) -> None:
    """Write config.json, model_file.pth and speaker_ids.json, as published models lie; paths are another machine's."""
    speakers = folder / "speaker_ids.json"
    speakers.write_text(json.dumps({"ED\n": 0, "p225": 1, "p226": 2}))
    arguments = VitsArgs(
        hidden_channels=16,
        hidden_channels_ffn_text_encoder=32,
        num_layers_text_encoder=1,
        num_layers_flow=1,
        num_layers_posterior_encoder=1,
        resblock_kernel_sizes_decoder=[3],
        resblock_dilation_sizes_decoder=[[1, 3, 5]],
        upsample_initial_channel_decoder=32,
        init_discriminator=False,
        use_speaker_embedding=True,
        speaker_embedding_channels=16,
        speakers_file=str(speakers),
    )
    config = VitsConfig(
        model_args=arguments, use_phonemes=False, text_cleaner="english_cleaners", speakers_file=str(speakers)
    )
    config.use_speaker_embedding = True
    torch.manual_seed(3)
    model = Vits(config)
    with torch.no_grad():  # speakers far apart, so that they sound different
        model.emb_g.weight.mul_(20)
    torch.save({"model": model.state_dict()}, folder / "model_file.pth")
    config.speakers_file = config.model_args.speakers_file = "/elsewhere/speaker_ids.json"
    config.save_json(str(folder / "config.json"))


if __name__ == "__main__":
    make(Path(sys.argv[1]))
