"""Small finished scenes with words, events and short files, as the mix would leave them, and items about them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from cares.bench.items import build_items
from cares.bench.items_params import ItemsParams
from cares.bench.questions import Questions
from cares.catalog.catalog import Catalog
from cares.catalog.load import load_catalog
from cares.core.pcm import SAMPLE_RATE, encode
from cares.core.rng import KeyedRandom
from cares.records.item import TASKS, Counterfactual, Item, Task
from cares.records.scene import REACTIONS, SPLITS, Reaction
from cares.records.timeline import MixedScene, PlacedEvent, PlacedWord
from cares.records.transcript import HeardWord, Transcript

SECOND = SAMPLE_RATE
MakeScene = Callable[..., MixedScene]
MakeItems = Callable[..., list[Item]]
PROMPTS = Path(__file__).parents[2] / "prompts"
NAMES = {"dog_bark": "dog bark", "train_horn": "train horn", "car_horn": "car horn", "seagull_cry": "seagull cry"}
ALL = ItemsParams(
    tasks=TASKS,
    splits=SPLITS,
    reaction_levels=("time", "time_and_name", "neither"),
    grounding_splits=SPLITS,
    summary_words=(25, 75, 200),
)


def _make_scene(template: int, reactions: tuple[Reaction, ...], *, split: str = "train", scene: int = 0) -> MixedScene:
    """Six turns of six words, each word 0.4 s long every 0.5 s; event i falls after the third word of turn i + 1."""
    scene_id = f"t{template:05d}-{scene}"
    words, events = [], []
    at = SECOND
    for turn in range(6):
        for number in range(6):
            if number == 3 and 1 <= turn <= len(reactions):
                sound = sorted(NAMES)[(template + turn) % len(NAMES)]
                events.append(_event(turn - 1, turn, sound, reactions[turn - 1], at))
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


def _event(index: int, turn: int, sound: str, reaction: Reaction, at: int) -> PlacedEvent:
    return PlacedEvent(
        event=index,
        sound=sound,
        reaction=reaction,
        register_id="verbal_dry",
        take_id=f"{sound}-00",
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


def _counterfactuals(scenes: Sequence[MixedScene]) -> list[Counterfactual]:
    """One of each event of the scenes."""
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


def _make_items(scenes: Sequence[MixedScene], *tasks: Task, seed: int = 1) -> list[Item]:
    """All items of some tasks, of all tasks when none is named."""
    params = ALL.model_copy(update={"tasks": tasks or TASKS})
    return build_items(scenes, load_catalog(), params, seed, Questions(PROMPTS), _counterfactuals(scenes))


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """The catalog of the package."""
    return load_catalog()


@pytest.fixture(scope="session")
def questions() -> Questions:
    """The wording of the repository's prompts."""
    return Questions(PROMPTS)


@pytest.fixture(scope="session")
def counterfactuals() -> Callable[[Sequence[MixedScene]], list[Counterfactual]]:
    """From scenes to a counterfactual of each event."""
    return _counterfactuals


@pytest.fixture(scope="session")
def make_items() -> MakeItems:
    """From scenes and names of tasks (none: all) to their items; `seed` is 1 by default."""
    return _make_items


@pytest.fixture
def items(scenes: list[MixedScene]) -> list[Item]:
    """The items of all tasks about the twelve scenes."""
    return _make_items(scenes)


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
    """A folder in which every wav of the scenes and of their counterfactuals exists (one second of a quiet tone)."""
    tone = np.round(800 * np.sin(2 * np.pi * 440 * np.arange(SECOND) / SECOND)).astype(np.int16)
    data = encode(tone, container="WAV")
    for name in [*(scene.path for scene in scenes), *(made.path for made in _counterfactuals(scenes))]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path


@pytest.fixture
def transcripts(scenes: list[MixedScene]) -> dict[str, Transcript]:
    return {
        scene.scene_id: Transcript(
            scene_id=scene.scene_id,
            audio_sha256=scene.sha256,
            recogniser="whisper-base",
            words=tuple(
                HeardWord(word=word.word.upper(), start_sample=word.start_sample, end_sample=word.end_sample)
                for word in scene.words
            ),
        )
        for scene in scenes
    }
