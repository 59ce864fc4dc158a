"""Small finished scenes with words, events and short files, as the mix would leave them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cares.core.pcm import SAMPLE_RATE, encode
from cares.core.rng import KeyedRandom
from cares.records.scene import REACTIONS, Reaction
from cares.records.timeline import MixedScene, PlacedEvent, PlacedWord

SECOND = SAMPLE_RATE
MakeScene = Callable[..., MixedScene]
NAMES = {"dog_bark": "dog bark", "train_horn": "train horn", "car_horn": "car horn", "seagull_cry": "seagull cry"}


def _make_scene(template: int, reactions: tuple[Reaction, ...], *, split: str = "train", scene: int = 0) -> MixedScene:
    """Six turns of six words, each word 0.4 s long every 0.5 s; event i falls after the third word of turn i + 1."""
    scene_id = f"t{template:05d}-{scene}"
    words, events = [], []
    at = SECOND
    for turn in range(6):
        for number in range(6):
            if number == 3 and 1 <= turn <= len(reactions):
                events.append(_event(turn - 1, turn, reactions[turn - 1], at))
                at += SECOND
            text = f"w{turn}{number}"
            words.append(
                PlacedWord(
                    turn=turn,
                    speaker="AB"[turn % 2],
                    word=text,
                    start_sample=at,
                    end_sample=at + 17_640,
                    interpolated=False,
                )
            )
            at += SECOND // 2
        at += SECOND // 2
    return MixedScene(
        scene_id=scene_id,
        template_id=f"t{template:05d}",
        split=split,
        path=f"data/scenes/{scene_id}.wav",
        sha256=hashlib.sha256(scene_id.encode()).hexdigest(),
        n_samples=at + SECOND,
        integrated_lufs_cdb=-2300,
        true_peak_cdb=-310,
        location="public_park",
        relation="sibling",
        roles=("sibling", "sibling"),
        genders=("F", "M"),
        voices=("jf_alpha", "jm_kumo"),
        topic="planning a birthday picnic",
        transcript="",
        words=tuple(words),
        events=tuple(events),
    )


def _event(index: int, turn: int, reaction: Reaction, at: int) -> PlacedEvent:
    return PlacedEvent(
        event=index,
        sound=sorted(NAMES)[(index + turn) % len(NAMES)],
        reaction=reaction,
        register_id="verbal_dry",
        take_id="dog_bark-00",
        turn=turn,
        start_sample=at + 2205,
        end_sample=at + SECOND - 4410,
        gap_start=at,
        gap_end=at + SECOND,
        level_cdb=-2000,
        margin_cdb=1200,
        peak_limited=False,
        take_faded=False,
        scene_extended=False,
        drawn_level_cdb=-2000,
    )


@pytest.fixture(scope="session")
def make_scene() -> MakeScene:
    """The builder of one scene: template number, reactions, split, scene number."""
    return _make_scene


@pytest.fixture(scope="session")
def names() -> dict[str, str]:
    """Display names of the sounds that the scenes hold."""
    return NAMES


@pytest.fixture
def scenes() -> list[MixedScene]:
    """Twelve scenes of twelve templates with 0 to 3 events."""
    made = []
    for template in range(12):
        draw = KeyedRandom(1, "test_scene", template)
        count = template % 4
        split = "test" if template == 11 else "validation" if template == 10 else "train"
        made.append(_make_scene(template, tuple(draw.choice(REACTIONS) for _ in range(count)), split=split))
    return made


@pytest.fixture
def scene_files(scenes: list[MixedScene], tmp_path: Path) -> Path:
    """A folder in which every scene's wav exists (one second of a quiet tone)."""
    tone = np.round(800 * np.sin(2 * np.pi * 440 * np.arange(SECOND) / SECOND)).astype(np.int16)
    data = encode(tone, container="WAV")
    for scene in scenes:
        path = tmp_path / scene.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path
