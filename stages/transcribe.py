"""Recognise the finished mixes: data/scenes -> data/bench/transcripts.jsonl, metrics/wer.json."""

from pathlib import Path

from cares.asr.recogniser import Recogniser
from cares.bench.hearing import dry_errors, hear_scenes, mix_errors
from cares.bench.params import BenchParams
from cares.core.canonical import write_json
from cares.core.executor import check_not_empty
from cares.core.params import Params
from cares.core.record import iter_records, write_records
from cares.core.record_file import LazySequence, RecordFile
from cares.core.stage import run_stage
from cares.models.params import ModelsParams
from cares.records.speech import SceneSpeech
from cares.records.timeline import MixedScene
from cares.records.transcript import Transcript

SCENES = Path("data/scenes/scenes.jsonl")
SPEECH = Path("data/speech/speech.jsonl")
OUT = Path("data/bench/transcripts.jsonl")


def main() -> None:
    finished = RecordFile(MixedScene, SCENES)
    scenes = LazySequence(list(finished), finished.__getitem__)
    check_not_empty(scenes, SCENES)
    params = Params()
    recogniser = Recogniser(params.section("models", ModelsParams).asr)
    count = write_records(OUT, hear_scenes(scenes, recogniser.words, recogniser.model_id, Path()))
    resamples = params.section("bench", BenchParams).bootstrap
    mix = mix_errors(iter_records(MixedScene, SCENES), iter_records(Transcript, OUT), resamples, params.seed)
    templates = {scene.scene_id: scene.template_id for scene in iter_records(MixedScene, SCENES)}
    dry = dry_errors(iter_records(SceneSpeech, SPEECH), templates, resamples, params.seed)
    write_json(Path("metrics/wer.json"), {"mix": mix, "dry": dry})
    rates = f"mixes {mix['word_error_rate']}, dry speech {dry['word_error_rate']}"
    print(f"transcribe: {count} scenes -> {OUT}; word error rate: {rates} (metrics/wer.json)")


if __name__ == "__main__":
    run_stage(main)
