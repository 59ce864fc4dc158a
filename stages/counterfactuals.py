"""Mix scenes again without each of their events: data/timelines.jsonl, data/scenes -> data/bench/counterfactuals."""

from pathlib import Path

from cares.bench.items_params import ItemsParams
from cares.core.atomic import replace_folder
from cares.core.params import Params
from cares.core.record_file import RecordFile
from cares.core.stage import run_stage
from cares.mix.backend import backend_from_environment
from cares.mix.counterfactuals import FOLDER, join_finished, mute_events
from cares.records.timeline import MixedScene, Timeline


def main() -> None:
    splits = Params().section("items", ItemsParams).muted_splits
    timelines = RecordFile(Timeline, Path("data/timelines.jsonl"))
    scenes = RecordFile(MixedScene, Path("data/scenes/scenes.jsonl"))
    finished = join_finished(timelines, scenes, splits)
    with replace_folder(FOLDER) as out:
        made = mute_events(finished, out, Path(), backend_from_environment())
    of_splits = ", ".join(splits) or "no split"
    print(f"counterfactuals: {len(made)} mixes, {len(finished)} scenes without each event ({of_splits}) -> {FOLDER}")


if __name__ == "__main__":
    run_stage(main)
