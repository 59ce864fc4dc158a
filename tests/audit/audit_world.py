"""Made-up events whose measurements hold what a test plants in them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cares.audit.features import FEATURES, Example
from cares.audit.params import AuditParams
from cares.records.scene import REACTIONS, Reaction
from cares.records.timeline import MixedScene, PlacedEvent, PlacedWord

RATE = 44_100
PARAMS = AuditParams(folds=5, repeats=1, bootstrap=300, context_ms=1000, regularisation=1.0, trees=0)

Plant = Callable[[Reaction, NDArray[np.float64]], None]


def no_leak(reaction: Reaction, measured: NDArray[np.float64]) -> None:
    """Plants nothing."""


def shift(feature: str, reaction: Reaction, by: float) -> Plant:
    """A plant that adds `by` to a measurement of one label."""

    def plant(here: Reaction, measured: NDArray[np.float64]) -> None:
        if here == reaction:
            measured[FEATURES.index(feature)] += by

    return plant


def examples(templates: int, plant: Plant = no_leak, seed: int = 0, text: str | None = "so it goes") -> list[Example]:
    """An event of each label a template, whose measurements are standard normal but for what is planted."""
    rng = np.random.default_rng(seed)
    made = []
    for template in range(templates):
        for label in REACTIONS:
            measured = rng.normal(size=len(FEATURES))
            plant(label, measured)
            sound = f"s{rng.integers(40)}"
            made.append(Example(f"t{template:05}", label, tuple(measured.tolist()), sound, text))
    return made


def scene(words: tuple[PlacedWord, ...], events: tuple[PlacedEvent, ...], seconds: int = 10) -> MixedScene:
    """A finished scene's annotation."""
    return MixedScene(
        scene_id="x", template_id="t", split="train", path="data/scenes/x.wav", sha256="0" * 64,
        n_samples=seconds * RATE, integrated_lufs_cdb=-2300, true_peak_cdb=-100, location="home_indoor",
        relation="friend", roles=("friend", "friend"), genders=("F", "M"), voices=("a", "b"), topic="a topic",
        transcript="A: hello", words=words, events=events,
    )  # fmt: skip


def word(start: float, end: float, turn: int = 1, text: str = "hello") -> PlacedWord:
    """A word by its times in seconds."""
    return PlacedWord(
        turn=turn, speaker="A", word=text, start_sample=round(start * RATE), end_sample=round(end * RATE),
        interpolated=False,
    )  # fmt: skip


def event(start: float, end: float, gap: tuple[float, float], turn: int = 1) -> PlacedEvent:
    """An event by its times in seconds."""
    return PlacedEvent(
        event=0, sound="dog_bark", reaction="verbal", register_id="verbal_dry", take_id="dog_bark-01", turn=turn,
        start_sample=round(start * RATE), end_sample=round(end * RATE), gap_start=round(gap[0] * RATE),
        gap_end=round(gap[1] * RATE), level_cdb=-2000, margin_cdb=600, peak_limited=False, take_faded=False,
        scene_extended=False, drawn_level_cdb=-2000,
    )  # fmt: skip
