"""Speed of the items, and what their options alone tell: all tasks of 10,000 allocated scenes of 250 words.

Measured once each, on one core: building the items from records in memory, describing them, and the stage as it is run,
from its input files to its outs. Then the best guess of someone who has seen all answers of the training split and, of
the test split, nothing but the options of each question: chance, 1 in 4, if options are balanced.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import yaml

from cares.allocation.allocate import allocate
from cares.allocation.params import AllocationParams
from cares.bench.items import build_items
from cares.bench.items_file import describe_items
from cares.bench.items_params import ItemsParams
from cares.bench.questions import Questions
from cares.catalog.load import load_catalog
from cares.core.pcm import SAMPLE_RATE
from cares.core.record import write_records
from cares.records.item import TASKS, Counterfactual, Item
from cares.records.scene import SPLITS, Event, Scene
from cares.records.timeline import MixedScene, PlacedEvent, PlacedWord

ROOT = Path(__file__).parents[1]
WORDS_A_TURN = 25
ITEMS = ItemsParams(
    tasks=TASKS,
    splits=SPLITS,
    reaction_levels=("time", "time_and_name", "neither"),
    grounding_splits=SPLITS,
    summary_words=(25, 75, 200),
)
# the peak is read by the process itself: what `getrusage` says of a child may be its parent's
STAGE = """
import re, runpy
runpy.run_module("stages.items", run_name="__main__")
print("stage: peak memory", int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024, "MiB")
"""
T = TypeVar("T")


def finished(scene: Scene) -> MixedScene:
    """A scene as the mix would leave it: turns of words of 0.4 s, each sound in the middle of its turn."""
    events = {event.slot: number for number, event in enumerate(scene.events)}
    words, placed, at = [], [], SAMPLE_RATE
    for turn in range(scene.n_turns):
        for number in range(WORDS_A_TURN):
            if turn in events and number == WORDS_A_TURN // 2:
                placed.append(put_event(scene.events[events[turn]], events[turn], turn, at))
                at += SAMPLE_RATE
            end = at + 2 * SAMPLE_RATE // 5
            words.append(
                PlacedWord(
                    turn=turn, speaker="AB"[turn % 2], word="word", start_sample=at, end_sample=end, interpolated=False
                )
            )
            at = end
    return MixedScene(
        scene_id=scene.scene_id,
        template_id=scene.template_id,
        split=scene.split,
        path=f"data/scenes/{scene.scene_id}.wav",
        sha256=hashlib.sha256(scene.scene_id.encode()).hexdigest(),
        n_samples=at + SAMPLE_RATE,
        integrated_lufs_cdb=-2300,
        true_peak_cdb=-300,
        location=scene.location,
        relation=scene.relation,
        roles=scene.roles,
        genders=scene.genders,
        voices=("a", "b"),
        topic="a topic",
        transcript="",
        words=tuple(words),
        events=tuple(placed),
    )


def put_event(event: Event, number: int, turn: int, at: int) -> PlacedEvent:
    """An allocated event as a placed one of a second."""
    return PlacedEvent(
        event=number,
        sound=event.sound,
        reaction=event.reaction,
        register_id=event.register_id,
        take_id=f"{event.sound}-00",
        turn=turn,
        start_sample=at,
        end_sample=at + SAMPLE_RATE,
        gap_start=at,
        gap_end=at + SAMPLE_RATE,
        level_cdb=-2000,
        margin_cdb=1000,
        peak_limited=False,
        take_faded=False,
        scene_extended=False,
    )


def muted(scenes: Sequence[MixedScene]) -> list[Counterfactual]:
    """A counterfactual of each event."""
    return [
        Counterfactual(
            scene_id=scene.scene_id,
            event=event.event,
            split=scene.split,
            path=f"data/bench/counterfactuals/{scene.scene_id}-{event.event}.wav",
            sha256=hashlib.sha256(f"{scene.scene_id}-{event.event}".encode()).hexdigest(),
            of_sha256=scene.sha256,
            n_samples=scene.n_samples,
            first_sample=event.start_sample,
            end_sample=event.end_sample,
        )
        for scene in scenes
        for event in scene.events
    ]


def guessed_from_options(items: Sequence[Item], task: str) -> tuple[int, int]:
    """Right guesses and questions in the test split; the guess is the option that was right most often in training.

    That is by its share of right answers among the questions that showed it.
    """
    shown, right = Counter[str](), Counter[str]()
    for item in items:
        if item.task == task and item.split == "train":
            shown.update(item.choices)
            right[item.answer] += 1
    asked = [item for item in items if item.task == task and item.split == "test"]
    guesses = [max(item.choices, key=lambda choice: right[choice] / max(1, shown[choice])) for item in asked]
    return sum(guess == item.answer for guess, item in zip(guesses, asked, strict=True)), len(asked)


def timed(what: str, work: Callable[[], T]) -> T:
    """The result of some work, after printing its seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    print(f"{what}: {time.perf_counter() - wall:.1f} s, processor {time.process_time() - processor:.1f} s", flush=True)
    return result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=10_000)
    count = parser.parse_args().scenes
    catalog = load_catalog()
    section = AllocationParams(
        scenes=count,
        scenes_per_template=10,
        splits={"train": 0.8, "validation": 0.1, "test": 0.1},
        min_turns=8,
        max_turns=13,
        rare_share=0.05,
    )
    scenes = [finished(scene) for scene in allocate(section, 1, catalog).scenes]
    counterfactuals = muted(scenes)
    questions = Questions(ROOT / "prompts")
    items = timed("build", lambda: build_items(scenes, catalog, ITEMS, 1, questions, counterfactuals))
    told = timed("describe", lambda: describe_items(items))
    print(f"{len(items)} items of {told['scenes']} scenes")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_records(folder / "data/scenes/scenes.jsonl", scenes)
        write_records(folder / "data/bench/counterfactuals/manifest.jsonl", counterfactuals)
        shutil.copytree(ROOT / "prompts", folder / "prompts")
        (folder / "params.yaml").write_text(yaml.safe_dump({"seed": 1, "items": ITEMS.to_json()}), encoding="utf-8")
        command = [sys.executable, "-c", STAGE]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        timed("stage, from files to files", lambda: subprocess.run(command, cwd=folder, env=environment, check=True))
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"stage: processor {child.ru_utime + child.ru_stime:.1f} s")
    for task in ("scene", "sounds"):
        right, asked = guessed_from_options(items, task)
        print(f"{task}: {right} of {asked} guessed from the options alone, {right / asked:.3f}")


if __name__ == "__main__":
    main()
