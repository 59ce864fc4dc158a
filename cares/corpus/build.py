"""Scenes of the corpus, each allocated, spoken, placed, mixed and measured; only the measurements are kept."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cares.allocation.allocate import allocate
from cares.allocation.bank import available_sounds
from cares.allocation.params import AllocationParams
from cares.audit.features import Example, measure
from cares.audit.params import AuditParams
from cares.catalog.load import load_catalog
from cares.core.canonical import Json
from cares.core.errors import CaresError
from cares.core.executor import map_items
from cares.core.params import Params
from cares.core.pcm import SAMPLE_RATE, encode
from cares.core.record import Record, read_records
from cares.core.store import ItemStore
from cares.corpus.lengths import Lengths
from cares.corpus.talk import SPEECH_FOLDER, make_talk
from cares.corpus.voice import Voice, make_voices
from cares.mix.backend import Backend, backend_from_environment, make_backend
from cares.mix.choices import Bank
from cares.mix.params import MixParams, TimelineParams
from cares.mix.pieces import PlacingError
from cares.mix.render import render
from cares.mix.sources import Sources
from cares.mix.timeline import SceneInputs, build_timeline
from cares.records.bank import Room
from cares.records.scene import Gender, Scene
from cares.sounds.bank import FOLDER, build_bank
from cares.sounds.params import SoundsParams
from cares.sounds.procedural.recipes import load_recipes
from cares.sounds.procedural.source import ProceduralSource
from cares.sounds.room_params import RoomsParams
from cares.sounds.rooms import ROOMS, build_rooms, write_rooms
from cares.speech.params import SpeechParams

ROOMS_FOLDER = Path("data/rooms")


@dataclass(frozen=True)
class Corpus:
    """What was measured, and how the corpus came out."""

    examples: list[Example]
    rare: frozenset[str]
    facts: Json


@dataclass(frozen=True)
class CorpusWork:
    """What all scenes share; takes, responses and, for a moment, speech lie below `root`."""

    root: Path
    bank: Bank
    lengths: Lengths
    speech: SpeechParams
    timeline: TimelineParams
    mix: MixParams
    context_ms: int
    seed: int
    backend: str


@dataclass(frozen=True)
class SceneOutcome:
    """One scene: its events, or why it could not be put together."""

    examples: list[Example]
    n_samples: int
    decoys: int
    reason: str


class _Worker:
    """What a worker process holds between scenes."""

    work: CorpusWork
    voices: Mapping[Gender, Sequence[Voice]]
    backend: Backend


def build_corpus(scenes: int, params: Params, lengths: Lengths, workers: int | None = None) -> Corpus:
    """Measure the events of so many scenes; the result depends on neither the workers nor the device.

    Takes, rooms, laws of placement and levels are those of params.yaml; takes come from the procedural source.

    Args:
        scenes: how many, 1 to 100,000.
        params: the parameters; `allocation.scenes` is replaced by `scenes`.
        lengths: how many words turns have.
        workers: processes; by default as many as `map_items` takes.

    Raises:
        InputError: a parameter is wrong.
        CaresError: no scene could be put together.
    """
    catalog, seed = load_catalog(), params.seed
    rare = frozenset(sound.id for sound in catalog.sounds.values() if sound.group == "rare")
    sections = params.section("allocation", AllocationParams).to_json() | {"scenes": scenes, "added": []}
    allocation_params = AllocationParams.parse(sections, "command line", "allocation")
    # a wrong value is found out before anything is synthesised
    speech, timeline = params.section("speech", SpeechParams), params.section("timeline", TimelineParams)
    mix, context_ms = params.section("mix", MixParams), params.section("audit", AuditParams).context_ms
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        source = ProceduralSource(load_recipes(), seed)
        sounds = params.section("sounds", SoundsParams)
        takes = build_bank(source, catalog, sounds, root / FOLDER, ItemStore("sounds"), workers)
        built = build_rooms(list(catalog.locations.values()), params.section("rooms", RoomsParams), seed)
        write_rooms(built, root / ROOMS_FOLDER)
        rooms = tuple(read_records(Room, root / ROOMS_FOLDER / ROOMS))
        allocation = allocate(allocation_params, seed, catalog, available_sounds(takes))
        work = CorpusWork(
            root=root,
            bank=Bank(tuple(takes), rooms, rare),
            lengths=lengths,
            speech=speech,
            timeline=timeline,
            mix=mix,
            context_ms=context_ms,
            seed=seed,
            backend=backend_from_environment(),
        )
        outcomes = measure_scenes(allocation.scenes, work, workers)
    examples = [example for outcome in outcomes for example in outcome.examples]
    if not any(not outcome.reason for outcome in outcomes):
        raise CaresError(f"no scene could be put together: {outcomes[0].reason}")
    return Corpus(examples, rare, _facts(outcomes))


def measure_scenes(scenes: Sequence[Scene], work: CorpusWork, workers: int | None = None) -> list[SceneOutcome]:
    """What became of each scene, in order; the same for any number of workers."""
    (work.root / SPEECH_FOLDER).mkdir(parents=True, exist_ok=True)
    return map_items(_outcome, scenes, desc="corpus", workers=workers, setup=_set_up, setup_args=(work,))


def corpus_params(params: Params, scenes: int) -> Json:
    """The values that a corpus depends on, for the record."""
    sections: dict[str, type[Record]] = {
        "allocation": AllocationParams,
        "rooms": RoomsParams,
        "timeline": TimelineParams,
        "mix": MixParams,
        "audit": AuditParams,
    }
    values: dict[str, Json] = {name: params.section(name, schema).to_json() for name, schema in sections.items()}
    values["allocation"]["scenes"] = scenes
    return {"seed": params.seed, **values}


def _set_up(work: CorpusWork) -> None:
    _Worker.work, _Worker.voices, _Worker.backend = work, make_voices(work.seed), make_backend(work.backend)


def _outcome(scene: Scene) -> SceneOutcome:
    work, backend = _Worker.work, _Worker.backend
    talk = make_talk(scene, work.lengths, _Worker.voices, work.speech, work.seed)
    inputs = SceneInputs(scene, talk.dialogue, talk.speech, talk.alignment)
    bank = work.bank.for_scene(scene)
    spoken = work.root / talk.speech.path
    spoken.write_bytes(encode(talk.samples, container="WAV"))
    try:
        decided = build_timeline(inputs, bank, work.timeline, work.mix, work.seed, Sources(work.root), backend)
        timeline = decided.timeline
        samples = render(scene.scene_id, [timeline], work.root, backend)
    except PlacingError as error:
        return SceneOutcome([], 0, 0, str(error))
    finally:
        spoken.unlink()
    return SceneOutcome(measure(timeline, samples, work.context_ms, with_text=False), len(samples), decided.decoys, "")


def _facts(outcomes: Sequence[SceneOutcome]) -> Json:
    mixed = [outcome for outcome in outcomes if not outcome.reason]
    seconds = [outcome.n_samples / SAMPLE_RATE for outcome in mixed]
    return {
        "scenes": len(mixed),
        "left_out": dict(sorted(Counter(outcome.reason for outcome in outcomes if outcome.reason).items())),
        "seconds": {
            "total": round(sum(seconds), 1),
            "mean": round(sum(seconds) / len(seconds), 1),
            "min": round(min(seconds), 1),
            "max": round(max(seconds), 1),
        },
        "decoys": sum(outcome.decoys for outcome in mixed),
    }
