"""The timeline stage's work: all scenes, in processes, from the item store where nothing changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cares.core.canonical import Json, digest
from cares.core.errors import InputError
from cares.core.executor import map_items
from cares.core.record import Record
from cares.core.store import ItemStore, item_key, source_digest
from cares.mix.backend import make_backend
from cares.mix.choices import Bank
from cares.mix.params import MixParams, TimelineParams
from cares.mix.pieces import ALIGNMENT, SPEECH, PlacingError
from cares.mix.sources import Sources
from cares.mix.timeline import SceneInputs, build_timeline
from cares.mix.work import held, set_up
from cares.records.bank import Room
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.records.speech import SceneAlignment, SceneSpeech
from cares.records.timeline import Timeline

CODE = (
    "cares.core.rng",
    "cares.mix",
    "cares.records.bank",
    "cares.records.dialogue",
    "cares.records.speech",
    "cares.records.timeline",
)


class Outcome(Record):
    """A scene's timeline, or the reason why it was left out."""

    scene_id: str
    timeline: Timeline | None
    reason: str
    decoys_wanted: int
    decoys: int


@dataclass(frozen=True)
class TimelineWork:
    """What all scenes share.

    Args:
        backend: name of the backend (see `make_backend`); it does not change the result.
        root: the folder that paths in records are relative to.
    """

    bank: Bank
    timeline: TimelineParams
    mix: MixParams
    seed: int
    backend: str
    root: Path


def join_inputs(
    scenes: Sequence[Scene],
    dialogues: Sequence[Dialogue],
    speeches: Sequence[SceneSpeech],
    alignments: Sequence[SceneAlignment],
) -> list[SceneInputs]:
    """The records of every accepted dialogue, in the order of the dialogues; InputError where one is missing."""
    scene_of = {scene.scene_id: scene for scene in scenes}
    speech_of = {speech.scene_id: speech for speech in speeches}
    alignment_of = {alignment.scene_id: alignment for alignment in alignments}
    joined = []
    for dialogue in dialogues:
        scene, speech = scene_of.get(dialogue.scene_id), speech_of.get(dialogue.scene_id)
        if scene is None:
            raise InputError("data/allocation/scenes.jsonl", dialogue.scene_id, "no such scene", "a line for it")
        if speech is None:
            raise InputError(SPEECH, dialogue.scene_id, "no such scene", "a line for it")
        events = [segment.event for turn in dialogue.turns for segment in turn.segments if segment.event is not None]
        if sorted(events) != list(range(len(scene.events))):
            expected = f"each of the scene's {len(scene.events)} events once"
            raise InputError("data/dialogues/accepted.jsonl", f"{dialogue.scene_id}.turns.event", events, expected)
        alignment = alignment_of.get(dialogue.scene_id)
        if alignment is None and not speech.failure:
            raise InputError(ALIGNMENT, dialogue.scene_id, "no such scene", "a line for it")
        joined.append(
            SceneInputs(scene, dialogue, speech, alignment or SceneAlignment(scene_id=scene.scene_id, words=()))
        )
    return joined


def plan_scenes(items: Sequence[SceneInputs], work: TimelineWork) -> list[Outcome]:
    """The outcome of every scene, in order; an error in an input file stops the run, a scene's own failure does not."""
    return map_items(_outcome, items, desc="timeline", setup=set_up, setup_args=(_Planner, work))


def _outcome(item: SceneInputs) -> Outcome:
    return held(_Planner).outcome(item)


class _Planner:
    """Plans scene after scene in one process."""

    def __init__(self, work: TimelineWork) -> None:
        self._work, self._store, self._backend = work, ItemStore("timeline"), make_backend(work.backend)
        self._digests: dict[str, str] = {}

    def outcome(self, item: SceneInputs) -> Outcome:
        """From the store, or worked out and kept there."""
        work, scene = self._work, item.scene
        bank, sources = work.bank.for_scene(scene), Sources(work.root)
        key = self._key(item, bank, sources)
        entry = self._store.get(key)
        if entry is None:
            try:
                decided = build_timeline(item, bank, work.timeline, work.mix, work.seed, sources, self._backend)
                outcome = Outcome(
                    scene_id=scene.scene_id,
                    timeline=decided.timeline,
                    reason="",
                    decoys_wanted=decided.decoys_wanted,
                    decoys=decided.decoys,
                )
            except PlacingError as error:
                outcome = Outcome(scene_id=scene.scene_id, timeline=None, reason=str(error), decoys_wanted=0, decoys=0)
            entry = self._store.put(key, outcome.to_json())
        return Outcome.parse(entry.value, self._store.path(key))

    def _key(self, item: SceneInputs, bank: Bank, sources: Sources) -> str:
        work = self._work
        return item_key(
            code=source_digest(*CODE),
            scene=item.scene.to_json(),
            turns=[turn.to_json() for turn in item.dialogue.turns],
            speech=item.speech.to_json(),
            alignment=item.alignment.to_json(),
            takes=[take.to_json() for take in bank.takes],
            rooms=[room.to_json() for room in bank.rooms],
            responses=[self._responses_digest(room, sources) for room in bank.rooms],
            rare=sorted(bank.rare),
            timeline=work.timeline.to_json(),
            mix=work.mix.to_json(),
            seed=work.seed,
        )

    def _responses_digest(self, room: Room, sources: Sources) -> str:
        """One digest of the room's integers; they are read once a process and room."""
        if room.room_id not in self._digests:
            found = [sources.reference(room.room_id, response).taps_sha256 for response in room.responses]
            self._digests[room.room_id] = digest(found)
        return self._digests[room.room_id]


def describe_outcomes(outcomes: Sequence[Outcome]) -> Json:
    """Counts for metrics/timeline.json: what was placed, left out and why, limited, faded, extended."""
    timelines = [outcome.timeline for outcome in outcomes if outcome.timeline is not None]
    events = [event for timeline in timelines for event in timeline.events]
    peaks = [duck for timeline in timelines for ducks in timeline.ducks.values() for duck in ducks]
    return {
        "scenes": len(outcomes),
        "placed": len(timelines),
        "left_out": {outcome.scene_id: outcome.reason for outcome in outcomes if outcome.timeline is None},
        "events": len(events),
        "decoys_wanted": sum(outcome.decoys_wanted for outcome in outcomes),
        "decoys_placed": sum(outcome.decoys for outcome in outcomes),
        "events_peak_limited": sum(event.peak_limited for event in events),
        "events_faded": sum(event.take_faded for event in events),
        "events_extending_scene": sum(event.scene_extended for event in events),
        "ambiences_lowered": sum(t.rules.ambience_lowered_cdb > 0 for t in timelines),
        "voice_peaks_lowered": sum(duck.reason == "peak" for duck in peaks),
        "margin_db_min": min((event.margin_cdb / 100 for event in events), default=None),
        "seconds": round(sum(timeline.n_samples for timeline in timelines) / 44_100, 1),
    }
