"""Decide where and how loud everything is: speech, alignment, bank and rooms -> data/timelines.jsonl."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from cares.catalog.load import load_catalog
from cares.core.canonical import write_json
from cares.core.errors import CaresError
from cares.core.executor import check_not_empty
from cares.core.params import Params
from cares.core.record import read_records, write_records
from cares.core.record_file import RecordFile
from cares.core.stage import run_stage
from cares.mix.backend import backend_from_environment
from cares.mix.choices import BANK, ROOMS, Bank
from cares.mix.params import MixParams, TimelineParams
from cares.mix.pieces import ALIGNMENT, DIALOGUES, SPEECH
from cares.mix.plan import Outcome, OutcomeTally, TimelineWork, join_inputs, plan_scenes
from cares.mix.plots import Found, gap_values, spread_rows, write_csv
from cares.records.bank import Room, Take
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.records.speech import SceneAlignment, SceneSpeech
from cares.records.timeline import Timeline

OUT = Path("data/timelines.jsonl")


def main() -> None:
    params = Params()
    items = join_inputs(
        RecordFile(Scene, Path("data/allocation/scenes.jsonl")),
        RecordFile(Dialogue, Path(DIALOGUES)),
        RecordFile(SceneSpeech, Path(SPEECH)),
        RecordFile(SceneAlignment, Path(ALIGNMENT)),
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
    tally, gaps = OutcomeTally(), list[Found]()
    write_records(OUT, _placed(plan_scenes(items, work), tally, gaps))
    figures = tally.figures()
    write_json(Path("metrics/timeline.json"), figures)
    write_csv(Path("metrics/plots/timeline_gaps.csv"), spread_rows(gaps))
    print(f"timeline: {figures['placed']} of {figures['scenes']} scenes placed -> {OUT}")
    if tally.left_out:
        print(f"timeline: left out: {_told(tally)}")


def _placed(outcomes: Iterable[Outcome], tally: OutcomeTally, gaps: list[Found]) -> Iterator[Timeline]:
    """The timelines, counted, their gaps noted; CaresError at the end when there was none."""
    for outcome in outcomes:
        tally.add(outcome)
        if outcome.timeline is not None:
            gaps += gap_values([outcome.timeline])
            yield outcome.timeline
    if len(tally.left_out) == tally.counts["scenes"]:
        raise CaresError(f"no scene could be placed: {_told(tally)}")


def _told(tally: OutcomeTally) -> str:
    return "; ".join(f"{name} ({reason})" for name, reason in tally.left_out.items())


if __name__ == "__main__":
    run_stage(main)
