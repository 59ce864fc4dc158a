"""Stage `speech`: every accepted dialogue spoken, checked by a recogniser, one FLAC a scene."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from cares.core.atomic import replace_folder
from cares.core.canonical import write_json
from cares.core.executor import check_not_empty
from cares.core.params import Params
from cares.core.pcm import SAMPLE_RATE
from cares.core.record import read_records, write_records
from cares.core.record_file import RecordFile
from cares.core.stage import run_stage
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.speech.params import SpeechParams
from cares.speech.summary import SpeechTally
from cares.speech.work import speak_scenes

SCENES = Path("data/allocation/scenes.jsonl")
DIALOGUES = Path("data/dialogues/accepted.jsonl")
OUT = Path("data/speech")
METRICS = Path("metrics/speech.json")


def main() -> None:
    """Read scenes and dialogues, speak them, write the folder and the metrics."""
    params = Params()
    section = params.section("speech", SpeechParams)
    scenes = read_records(Scene, SCENES)
    dialogues, tally = RecordFile(Dialogue, DIALOGUES), SpeechTally()
    check_not_empty(list(dialogues), DIALOGUES)
    began = time.monotonic()
    with replace_folder(OUT) as folder:
        spoken = speak_scenes(scenes, dialogues, section, params.seed, folder, OUT.as_posix())
        write_records(folder / "speech.jsonl", tally.counted(spoken))
        metrics = tally.figures()
        write_json(METRICS, metrics)
        tally.check()
    seconds = metrics["samples"] / SAMPLE_RATE
    factor = (time.monotonic() - began) / max(seconds, 1.0)
    print(
        f"speech: {metrics['scenes'] - metrics['failed_scenes']} of {metrics['scenes']} scenes, {seconds:.0f} s in "
        f"{metrics['utterances']} utterances, word error rate {metrics['word_error_rate']:.3f}, real-time factor "
        f"{factor:.2f}; {OUT}/speech.jsonl"
    )
    if metrics["faults"]:
        mended = ", ".join(f"{name} {count}" for name, count in metrics["faults"].items())
        print(f"speech: {metrics['utterances_spoken_again']} utterances spoken again; faults: {mended}")
    for name, fault in tally.failures:
        print(f"speech: {name} failed, left out of what follows: {fault}", file=sys.stderr)


if __name__ == "__main__":
    run_stage(main)
