"""Stage `align`: the start and end sample of every word that was spoken."""

from __future__ import annotations

from pathlib import Path

from cares.core.canonical import write_json
from cares.core.executor import check_not_empty
from cares.core.params import Params
from cares.core.record import read_records, write_records
from cares.core.stage import run_stage
from cares.records.speech import SceneSpeech
from cares.speech.crosscheck import cross_check
from cares.speech.params import AlignParams
from cares.speech.work import align_scenes, alignment_metrics

SPEECH = Path("data/speech/speech.jsonl")
OUT = Path("data/alignment.jsonl")
METRICS = Path("metrics/alignment.json")


def main() -> None:
    """Read the speech, align it, write the words and the metrics."""
    section = Params().section("align", AlignParams)
    speech = read_records(SceneSpeech, SPEECH)
    aligned = align_scenes(speech, section, Path())
    check_not_empty(aligned, SPEECH)
    write_records(OUT, aligned)
    metrics = alignment_metrics(aligned)
    write_json(METRICS, {**metrics, "against_engine_timing": cross_check(speech, section)})
    print(
        f"align: {metrics['words']} words of {metrics['scenes']} scenes, {metrics['interpolated_words']} of them "
        f"interpolated; {OUT}"
    )
    failed = len(speech) - len(aligned)
    if failed:
        print(f"align: {failed} scenes have no speech and are left out")


if __name__ == "__main__":
    run_stage(main)
