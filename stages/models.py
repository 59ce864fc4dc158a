"""Stage `models`: weights joined, checked and converted once; data/models.json names every file by its hash."""

from __future__ import annotations

import os
from pathlib import Path

from cares.core.canonical import write_json
from cares.core.params import Params
from cares.core.stage import run_stage
from cares.models.ensure import ready_model, served_model
from cares.models.params import ModelsParams
from cares.speech.params import AlignParams, SpeechParams
from cares.speech.voices import load_voices

OUT = Path("data/models.json")


def main() -> None:
    """Read `models` of params.yaml, and what `speech` and `align` ask for beside it; write data/models.json."""
    params = Params()
    wanted = params.section("models", ModelsParams)
    speech, align = params.section("speech", SpeechParams), params.section("align", AlignParams)
    served = bool(os.environ.get("CARES_LLM_URL"))
    wanted.check(params.path, writer_is_served=served)
    speaking = (voice.model for voice in load_voices(speech.voices).values() if not voice.served)
    others = (*speaking, speech.recogniser, speech.speaker_encoder, align.recogniser)
    entries = [
        served_model(model_id) if served and model_id in wanted.language_models else ready_model(model_id)
        for model_id in dict.fromkeys((*wanted.ids(), *others))
    ]
    write_json(OUT, {entry.id: entry.to_json() for entry in entries})
    size = sum(file.size for entry in entries for file in entry.ready)
    print(f"models: {len(entries)} models ready, {size / 1e9:.1f} GB; sources and hashes in {OUT}")


if __name__ == "__main__":
    run_stage(main)
