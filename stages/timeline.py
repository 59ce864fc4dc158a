"""Decide where and how loud everything is: speech, alignment, bank and rooms -> data/timelines.jsonl."""

from pathlib import Path

from cares.catalog.load import load_catalog
from cares.core.canonical import write_json
from cares.core.errors import CaresError
from cares.core.executor import check_not_empty
from cares.core.params import Params
from cares.core.record import read_records, write_records
from cares.core.stage import run_stage
from cares.mix.backend import backend_from_environment
from cares.mix.choices import BANK, ROOMS, Bank
from cares.mix.params import MixParams, TimelineParams
from cares.mix.pieces import ALIGNMENT, DIALOGUES, SPEECH
from cares.mix.plan import TimelineWork, describe_outcomes, join_inputs, plan_scenes
from cares.mix.plots import gap_values, spread_rows, write_csv
from cares.records.bank import Room, Take
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.records.speech import SceneAlignment, SceneSpeech

OUT = Path("data/timelines.jsonl")


def main() -> None:
    params = Params()
    items = join_inputs(
        read_records(Scene, Path("data/allocation/scenes.jsonl")),
        read_records(Dialogue, Path(DIALOGUES)),
        read_records(SceneSpeech, Path(SPEECH)),
        read_records(SceneAlignment, Path(ALIGNMENT)),
    )
    check_not_empty(items, DIALOGUES)
    rare = frozenset(sound.id for sound in load_catalog().sounds.values() if sound.group == "rare")
    work = TimelineWork(
        bank=Bank(tuple(read_records(Take, Path(BANK))), tuple(read_records(Room, Path(ROOMS))), rare),
        timeline=params.section("timeline", TimelineParams),
        mix=params.section("mix", MixParams),
        seed=params.seed,
        backend=backend_from_environment(),
        root=Path(),
    )
    outcomes = plan_scenes(items, work)
    timelines = [outcome.timeline for outcome in outcomes if outcome.timeline is not None]
    left_out = [f"{outcome.scene_id} ({outcome.reason})" for outcome in outcomes if outcome.timeline is None]
    if not timelines:
        raise CaresError(f"no scene could be placed: {'; '.join(left_out)}")
    write_records(OUT, timelines)
    write_json(Path("metrics/timeline.json"), describe_outcomes(outcomes))
    write_csv(Path("metrics/plots/timeline_gaps.csv"), spread_rows(gap_values(timelines)))
    print(f"timeline: {len(timelines)} of {len(outcomes)} scenes placed -> {OUT}")
    if left_out:
        print(f"timeline: left out: {'; '.join(left_out)}")


if __name__ == "__main__":
    run_stage(main)
