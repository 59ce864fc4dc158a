"""Render every timeline: data/timelines.jsonl -> data/scenes (WAV, scenes.jsonl, SHA256SUMS), metrics/mix.json."""

from pathlib import Path

from cares.core.atomic import replace_folder
from cares.core.canonical import write_json
from cares.core.executor import check_not_empty
from cares.core.record_file import RecordFile
from cares.core.stage import run_stage
from cares.mix.backend import backend_from_environment
from cares.mix.lengths import describe_lengths, length_rows
from cares.mix.pieces import DIALOGUES, SPEECH
from cares.mix.plots import loudness_values, spread_rows, write_csv
from cares.mix.scenes import FOLDER, describe_mixes, join_timelines, mix_scenes
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.records.speech import SceneSpeech
from cares.records.timeline import Timeline

TIMELINES = Path("data/timelines.jsonl")


def main() -> None:
    timelines, allocated = RecordFile(Timeline, TIMELINES), RecordFile(Scene, Path("data/allocation/scenes.jsonl"))
    dialogues, speech = RecordFile(Dialogue, Path(DIALOGUES)), RecordFile(SceneSpeech, Path(SPEECH))
    items = join_timelines(timelines, allocated, dialogues, speech)
    check_not_empty(items, TIMELINES)
    with replace_folder(FOLDER) as out:
        mixed = mix_scenes(items, out, Path(), backend_from_environment())
    scenes = [allocated[name] for name in timelines]
    lengths = describe_lengths(mixed, scenes)
    metrics = {**describe_mixes(mixed), "length": lengths}
    write_json(Path("metrics/mix.json"), metrics)
    write_csv(Path("metrics/plots/mix_loudness.csv"), spread_rows(loudness_values(mixed, timelines.values())))
    write_csv(Path("metrics/plots/scene_lengths.csv"), length_rows(mixed, scenes))
    loudness = metrics["integrated_lufs"]
    print(f"mix: {len(mixed)} scenes, {metrics['seconds']['total']} s -> {FOLDER}")
    if lengths["off"] is not None:
        print(f"mix: {lengths['mean_s']} s a scene, {lengths['off']:+.1%} off the mean target")
    print(f"mix: {loudness['min']} to {loudness['max']} LUFS, true peak at most {metrics['true_peak_dbtp_max']} dBTP")


if __name__ == "__main__":
    run_stage(main)
