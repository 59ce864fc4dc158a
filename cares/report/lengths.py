"""The histogram of scene lengths: finished scenes beside what was asked for."""

from __future__ import annotations

from statistics import fmean, pstdev
from typing import NamedTuple

from cares.core.pcm import SAMPLE_RATE
from cares.mix.lengths import BIN_S, length_counts
from cares.report.inputs import Inputs

PUBLISHED = "120 s on average with a standard deviation of 18.8 s"


class Bar(NamedTuple):
    """Scenes and targets of five seconds; `percent` is the scenes' share of the highest bar."""

    seconds: str
    scenes: int
    targets: int
    percent: str


class Histogram(NamedTuple):
    """The bars in order and, in words, mean and deviation of scenes and targets ("" without targets)."""

    bars: tuple[Bar, ...]
    found: str
    asked: str
    published: str = PUBLISHED


def histogram(inputs: Inputs) -> Histogram | None:
    """The histogram of a build; None without a scene."""
    seconds = [scene.n_samples / SAMPLE_RATE for scene in inputs.scenes]
    if not seconds:
        return None
    wanted = {scene.scene_id: scene.length_s for scene in inputs.allocated if scene.length_s is not None}
    targets = [wanted[scene.scene_id] for scene in inputs.scenes if scene.scene_id in wanted]
    counts = length_counts(inputs.scenes, inputs.allocated)
    highest = max(found for _, found, _ in counts)
    bars = tuple(
        Bar(f"{start} to {start + BIN_S}", found, asked, f"{100 * found / highest:.0f}")
        for start, found, asked in counts
    )
    return Histogram(bars, _law(seconds), _law(targets) if targets else "")


def _law(seconds: list[float]) -> str:
    return f"{fmean(seconds):.1f} s on average with a standard deviation of {pstdev(seconds):.1f} s"
