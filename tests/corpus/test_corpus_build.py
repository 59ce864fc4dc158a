"""The corpus is what the mix makes of made-up talk; neither workers nor order change what is measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cares.audit.features import FEATURES
from cares.core.params import Params
from cares.core.pcm import samples_digest, write_samples
from cares.core.record import read_records
from cares.corpus.build import CorpusWork, SceneOutcome, corpus_params, measure_scenes
from cares.corpus.lengths import Lengths
from cares.mix.choices import Bank
from cares.mix.params import MixParams, TimelineParams
from cares.records.bank import Response, Room, Take
from cares.records.scene import Scene
from cares.speech.params import SpeechParams

REPO = Path(__file__).parents[2]
SCENES = read_records(Scene, REPO / "tests/data/scenes_small.jsonl")[:2]
RATE = 44_100


def take(root: Path, kind: str, scene: Scene, name: str, seconds: float) -> Take:
    """A take of noise that dies away, or goes on as an ambience does."""
    rng = np.random.default_rng(sum(map(ord, name)))
    signal = rng.normal(size=round(seconds * RATE)) * 3000
    if kind == "event":
        signal *= np.exp(-np.arange(len(signal)) / len(signal) * 3)
    samples = np.clip(signal, -30_000, 30_000).astype(np.int16)
    path = f"data/sounds/takes/{kind}-{name}-{scene.split}.flac"
    write_samples(root / path, samples)
    return Take(
        take_id=f"{kind}-{name}-{scene.split}", kind="event" if kind == "event" else "ambience", name=name,
        split=scene.split, path=path, n_samples=len(samples), pcm_sha256=samples_digest(samples), source="test",
        licence="CC0-1.0", author="test", url="",
    )  # fmt: skip


def room(scene: Scene) -> Room:
    """A room whose responses are a single tap."""
    roles = (("A", 0), ("B", 0), ("event", 0))
    responses = tuple(Response(role=role, index=index, offset=0, n_samples=100) for role, index in roles)
    return Room(
        room_id=f"{scene.location}-{scene.split}", location=scene.location, split=scene.split, source="test",
        size_mm=(4000, 5000, 2500), rt60_ms=300, responses=responses,
    )  # fmt: skip


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> CorpusWork:
    root = tmp_path_factory.mktemp("corpus")
    takes = [take(root, "event", scene, event.sound, 1.0) for scene in SCENES for event in scene.events]
    takes += [take(root, "ambience", scene, scene.location, 12.0) for scene in SCENES]
    taps = np.zeros(100, np.int32)
    taps[0] = 1 << 20
    (root / "data/rooms").mkdir(parents=True)
    np.save(root / "data/rooms/responses.npy", taps)
    params = Params(REPO / "params.yaml")
    return CorpusWork(
        root=root,
        bank=Bank(tuple(takes), tuple(room(scene) for scene in SCENES), frozenset()),
        lengths=Lengths(),
        speech=params.section("speech", SpeechParams),
        timeline=params.section("timeline", TimelineParams),
        mix=params.section("mix", MixParams),
        context_ms=1500,
        seed=3,
        backend="numpy",
    )


def measured(outcomes: list[SceneOutcome]) -> list[tuple[float, ...]]:
    assert [outcome.reason for outcome in outcomes] == [""] * len(outcomes)
    return [example.measured for outcome in outcomes for example in outcome.examples]


def test_events_are_measured_in_the_mix_with_any_number_of_workers(work: CorpusWork) -> None:
    alone = measure_scenes(SCENES, work, workers=1)
    events = [(event.sound, event.reaction) for scene in SCENES for event in scene.events]
    assert [(e.sound, e.reaction) for outcome in alone for e in outcome.examples] == events
    assert all(example.text is None for outcome in alone for example in outcome.examples)
    np.testing.assert_array_equal(measured(alone), measured(measure_scenes(SCENES, work, workers=2)))
    np.testing.assert_array_equal(measured(alone)[::-1], measured(measure_scenes(SCENES[::-1], work, 1)[::-1])[::-1])
    assert not list((work.root / "data/speech").iterdir()), "the speech of a measured scene is not kept"


def test_matched_gaps_are_those_of_params(work: CorpusWork) -> None:
    low, high = work.timeline.gap_ms
    gaps = [row[FEATURES.index("gap_s")] for row in measured(measure_scenes(SCENES, work, workers=1))]
    assert all(low - 1 <= 1000 * gap <= high + 1 for gap in gaps)


def test_what_a_corpus_depends_on_is_kept(work: CorpusWork) -> None:
    kept = corpus_params(Params(REPO / "params.yaml"), 123)
    assert kept["allocation"]["scenes"] == 123
    assert kept["timeline"]["placement"] == "matched"
    assert {"seed", "mix", "audit", "rooms"} <= set(kept)
