"""Whether the breaks of a finished data set are heard: of the dry voices, and of the mix at the same places."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.executor import map_items
from cares.core.pcm import Samples, read_samples
from cares.core.record_file import LazySequence, RecordFile
from cares.records.timeline import MixedScene, Timeline
from cares.speech.break_measures import MEASURES, Measured, measure_scene
from cares.speech.break_params import BreakParams
from cares.speech.break_scores import auc_by_group

TIMELINES = Path("data/timelines.jsonl")
SCENES = Path("data/scenes/scenes.jsonl")


def break_metrics(root: Path, params: BreakParams, seed: int) -> Json:
    """All figures of the data set below `root`, for metrics/breaks.json.

    Raises:
        InputError: a scene has no timeline.
    """
    timelines, scenes = RecordFile(Timeline, root / TIMELINES), RecordFile(MixedScene, root / SCENES)
    for name in scenes:
        if name not in timelines:
            raise InputError(TIMELINES, "scene_id", name, "a timeline for every finished scene")
    jobs = LazySequence(list(scenes), lambda name: (scenes[name], timelines[name], root))
    measured = map_items(_measure, jobs, desc="breaks")
    return {name: describe([turn for pair in measured for turn in pair[name]], params, seed) for name in ("dry", "mix")}


def describe(turns: Sequence[Measured], params: BreakParams, seed: int) -> Json:
    """How many turns there are, the middle of each measure by label, and how well the labels are told apart."""
    by_label = {label: [turn for turn in turns if turn.reaction == label] for label in ("behavioral", "ambient")}
    return {
        "turns": {label: len(found) for label, found in by_label.items()},
        "voices": len({turn.voice for turn in turns}),
        "medians": {
            name: {label: _median([turn.values[place] for turn in found]) for label, found in by_label.items()}
            for place, name in enumerate(MEASURES)
        },
        "told_apart": auc_by_group(turns, params, seed),
    }


def dry_voices(timeline: Timeline, root: Path) -> Samples:
    """Both voices alone at their places in the scene, without gain, fade or room: int16 [n_samples]."""
    total = np.zeros(timeline.n_samples, np.int64)
    files: dict[str, Samples] = {}
    for clip in timeline.clips:
        if clip.track not in ("A", "B"):
            continue
        if clip.path not in files:
            files[clip.path] = read_samples(root / clip.path)
        piece = files[clip.path][clip.source_start : clip.source_start + clip.n_samples]
        total[clip.at_sample : clip.at_sample + len(piece)] += piece
    return np.clip(total, -32768, 32767).astype(np.int16)


def _measure(job: tuple[MixedScene, Timeline, Path]) -> dict[str, list[Measured]]:
    scene, timeline, root = job
    return {
        "dry": measure_scene(scene, dry_voices(timeline, root)),
        "mix": measure_scene(scene, read_samples(root / scene.path)),
    }


def _median(values: Sequence[float]) -> float | None:
    known = [value for value in values if np.isfinite(value)]
    return round(median(known), 3) if known else None
