"""Stage `align`: the start and end sample of every word that was spoken."""

from __future__ import annotations

from pathlib import Path

from cares.core.canonical import write_json
from cares.core.errors import CaresError
from cares.core.params import Params
from cares.core.record import iter_records, write_records
from cares.core.record_file import RecordFile
from cares.core.stage import run_stage
from cares.records.speech import SceneSpeech
from cares.speech.crosscheck import cross_check
from cares.speech.params import AlignParams
from cares.speech.work import AlignmentTally, align_scenes

SPEECH = Path("data/speech/speech.jsonl")
OUT = Path("data/alignment.jsonl")
METRICS = Path("metrics/alignment.json")


def main() -> None:
    """Read the speech, align it, write the words and the metrics."""
    section = Params().section("align", AlignParams)
    speech, tally = RecordFile(SceneSpeech, SPEECH), AlignmentTally()
    if all(scene.failure for scene in iter_records(SceneSpeech, SPEECH)):
        raise CaresError(f"{SPEECH}: holds no scene that was spoken; the stage before it made nothing")
    write_records(OUT, tally.counted(align_scenes(speech, section, Path())))
    metrics = tally.figures()
    checked = cross_check(iter_records(SceneSpeech, SPEECH), section)
    write_json(METRICS, {**metrics, "against_engine_timing": checked})
    print(
        f"align: {metrics['words']} words of {metrics['scenes']} scenes, {metrics['interpolated_words']} of them "
        f"interpolated; {OUT}"
    )
    failed = len(speech) - metrics["scenes"]
    if failed:
        print(f"align: {failed} scenes have no speech and are left out")


if __name__ == "__main__":
    run_stage(main)
