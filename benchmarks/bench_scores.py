"""How long scoring takes, and how often the intervals hold the truth.

    python benchmarks/bench_scores.py            # 100,000 answers of all tasks, 2,000 resamples
    python benchmarks/bench_scores.py --coverage # simulated systems whose recall differs between templates

Needs no weights and no data set.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from cares.bench.scores import score_tasks
from cares.bench.statistics import effective_clusters, interval, mean_of_known, ratio, resampled
from cares.catalog.load import load_catalog
from cares.core.record import read_records, write_records
from cares.core.rng import KeyedRandom
from cares.records.answer import Answer
from cares.records.item import LEVELS, TASKS, YES_NO, Item, Reference, Task, canonical_order
from cares.records.scene import REACTIONS

TEMPLATES, SCENES = 1000, 10
RECALLS = {"middling": (0.5, 0.6, 0.4, 0.7), "uneven": (0.9, 0.3, 0.1, 0.8), "chance": (0.25, 0.25, 0.25, 0.25)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--coverage", action="store_true", help="simulate coverage instead")
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=4000, help="simulated systems a line")
    arguments = parser.parse_args()
    if arguments.coverage:
        coverage(arguments.runs, arguments.resamples)
    else:
        speed(arguments.answers, arguments.resamples)


def speed(answers: int, resamples: int) -> None:
    """Time of reading and of scoring."""
    items = make_items(answers)
    given = [made_answer(item) for item in items]
    catalog = load_catalog()
    with tempfile.TemporaryDirectory() as folder:
        for kind, records in ((Item, items), (Answer, given)):
            path = Path(folder) / f"{kind.__name__}.jsonl"
            write_records(path, records)
            start = time.perf_counter()
            read_records(kind, path)
            print(f"read {len(records)} {kind.__name__} records: {time.perf_counter() - start:.1f} s")
    start, busy = time.perf_counter(), time.process_time()
    found = score_tasks(items, given, catalog, resamples, 1)
    taken, busy = time.perf_counter() - start, time.process_time() - busy
    told = f"{taken:.1f} s, {busy:.1f} s of processor time"
    print(f"score {len(given)} answers, {resamples} resamples of {TEMPLATES} templates: {told}")
    for task, figures in found.items():
        print(f"  {task}: {figures['n']} items")


def make_items(count: int) -> list[Item]:
    """Items of all tasks in equal parts, over all scenes in turn."""
    groups: list[tuple[Task, str]] = [(task, level) for task in TASKS for level in LEVELS[task]]
    sounds = sorted(load_catalog().sounds)
    places = sorted(load_catalog().locations)
    return [make_item(*groups[number % len(groups)], number // len(groups), sounds, places) for number in range(count)]


def make_item(task: Task, level: str, number: int, sounds: list[str], places: list[str]) -> Item:
    """One made-up item; both halves of a pair come from the same number."""
    draw = KeyedRandom(1, "bench_scores", task, number)
    template, sound = number % TEMPLATES, draw.choice(sounds)
    scene = f"t{template:05d}-{number // TEMPLATES % SCENES}"
    label = draw.choice(REACTIONS)
    reference = Reference(event=0, sound=sound, sound_name=sound, label=label, time_ms=0)
    known: dict[str, object] = {}
    answer, among = "", list[str]()
    if task == "scene":
        among = draw.sample(places, 4)
        answer = among[0]
    elif task == "sounds":
        among = [sound, *draw.sample([other for other in sounds if other != sound], 3)]
        answer = sound
    elif task == "reactions":
        among, answer = list(REACTIONS), label
    elif task == "grounding":
        among, answer = list(YES_NO), YES_NO[level == "muted"]
        known["pair"] = f"grounding/{number}"
    choices = tuple(draw.shuffled(among))
    if task in ("sounds", "reactions", "grounding"):
        known |= {"event": 0, "time_ms": 0, "sound": sound, "sound_name": sound}
    if task != "scene":
        known["references"] = (reference,)
    if task == "summary":
        known["words"] = int(level)
    canonical = canonical_order(task, choices)
    return Item(
        item_id=f"{task}-{level}/{scene}/{number}",
        task=task,
        level=level,
        scene_id=scene,
        template_id=f"t{template:05d}",
        split="test",
        audio=f"{scene}.wav",
        audio_sha256="0" * 64,
        question="?",
        choices=choices,
        texts=choices,
        answer=answer,
        order=tuple(canonical.index(choice) for choice in choices),
        **known,
    )


def made_answer(item: Item) -> Answer:
    """Right in about half of the cases; a summary names some sound."""
    draw = KeyedRandom(2, "bench_scores", item.item_id)
    choice = None
    text = f"Two people talk about their plans, and somebody hears a {item.references[0].sound if item.words else ''}."
    if item.choices:
        choice = item.answer if draw.below(2) else draw.choice(item.choices)
        text = choice
    return Answer(item_id=item.item_id, system="made", text=text, finish_reason="stop", status="ok", choice=choice)


def coverage(runs: int, resamples: int) -> None:
    """Share of simulated systems whose interval of balanced accuracy holds the truth.

    A template's recall of a label is drawn from a beta law around the label's recall, with a correlation of 0.2 between
    two items of one label in a template.
    """
    for templates, events in ((11, 2), (30, 2), (30, 10), (100, 15), (300, 2)):
        for name, recalls in RECALLS.items():
            held, below, width = simulate(templates, events, np.array(recalls), 0.2, runs, resamples)
            print(
                f"{templates:4} templates of {events:2} items, recalls {name:8}: coverage {held:.3f}, "
                f"truth below {below:.3f}, mean width {width:.3f}",
                flush=True,
            )


def simulate(
    templates: int, events: int, truth: np.ndarray, correlation: float, runs: int, resamples: int
) -> tuple[float, float, float]:
    """Coverage, share of intervals above the truth, and mean width."""
    draw = np.random.default_rng(0)
    width, size = len(truth), 1 / correlation - 1
    held = below = 0
    widths = []
    for run in range(runs):
        label = draw.integers(0, width, (templates, events))
        recall = draw.beta(truth * size, (1 - truth) * size, (templates, width))
        right = draw.random((templates, events)) < np.take_along_axis(recall, label, 1)
        total = np.stack([(label == k).sum(1) for k in range(width)], 1).astype(np.float64)
        hits = np.stack([((label == k) & right).sum(1) for k in range(width)], 1).astype(np.float64)
        drawn = resampled(np.concatenate([total, hits], axis=1), resamples, run)
        parts = ratio(drawn[:, width:], drawn[:, :width])
        clusters = effective_clusters(parts, (total > 0).sum(0).astype(np.float64), templates)
        value = float(mean_of_known(ratio(hits.sum(0), total.sum(0))))
        ends = interval(value, mean_of_known(parts), clusters)
        assert ends is not None
        # a label that no template holds is left out of the figure, and so of its truth
        aim = float(truth[total.sum(0) > 0].mean())
        held += ends[0] <= aim <= ends[1]
        below += aim < ends[0]
        widths.append(ends[1] - ends[0])
    return held / runs, below / runs, float(np.mean(widths))


if __name__ == "__main__":
    main()
