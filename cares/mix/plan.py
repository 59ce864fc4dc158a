"""The timeline stage's work: all scenes, in processes, from the item store where nothing changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cares.core.canonical import Json, digest
from cares.core.errors import InputError
from cares.core.executor import stream_items
from cares.core.record import Record
from cares.core.record_file import LazySequence, by_id
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
    scenes: Mapping[str, Scene] | Iterable[Scene],
    dialogues: Mapping[str, Dialogue] | Iterable[Dialogue],
    speeches: Mapping[str, SceneSpeech] | Iterable[SceneSpeech],
    alignments: Mapping[str, SceneAlignment] | Iterable[SceneAlignment],
) -> Sequence[SceneInputs]:
    """The records of every accepted dialogue, in the order of the dialogues; InputError where one is missing.

    Of a `RecordFile` nothing is held: a scene's records are read when its turn comes.
    """
    scene_of, dialogue_of, speech_of = by_id(scenes), by_id(dialogues), by_id(speeches)
    alignment_of = by_id(alignments)
    for dialogue in dialogue_of.values():
        scene, speech = scene_of.get(dialogue.scene_id), speech_of.get(dialogue.scene_id)
        if scene is None:
            raise InputError("data/allocation/scenes.jsonl", dialogue.scene_id, "no such scene", "a line for it")
        if speech is None:
            raise InputError(SPEECH, dialogue.scene_id, "no such scene", "a line for it")
        events = [segment.event for turn in dialogue.turns for segment in turn.segments if segment.event is not None]
        if sorted(events) != list(range(len(scene.events))):
            expected = f"each of the scene's {len(scene.events)} events once"
            raise InputError("data/dialogues/accepted.jsonl", f"{dialogue.scene_id}.turns.event", events, expected)
        if dialogue.scene_id not in alignment_of and not speech.failure:
            raise InputError(ALIGNMENT, dialogue.scene_id, "no such scene", "a line for it")

    def joined(name: str) -> SceneInputs:
        alignment = alignment_of.get(name) or SceneAlignment(scene_id=name, words=())
        return SceneInputs(scene_of[name], dialogue_of[name], speech_of[name], alignment)

    return LazySequence(list(dialogue_of), joined)


def plan_scenes(items: Sequence[SceneInputs], work: TimelineWork) -> Iterator[Outcome]:
    """The outcome of every scene, in order; an error in an input file stops the run, a scene's own failure does not."""
    return stream_items(_outcome, items, desc="timeline", setup=set_up, setup_args=(_Planner, work))


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


@dataclass
class OutcomeTally:
    """Counts for metrics/timeline.json over outcomes that are told one by one: placed, left out and why, limited."""

    left_out: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    margins: list[int] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count one scene's outcome."""
        self.counts.update(scenes=1, decoys_wanted=outcome.decoys_wanted, decoys_placed=outcome.decoys)
        timeline = outcome.timeline
        if timeline is None:
            self.left_out[outcome.scene_id] = outcome.reason
            return
        events = timeline.events
        self.counts.update(
            placed=1,
            events=len(events),
            events_peak_limited=sum(event.peak_limited for event in events),
            events_faded=sum(event.take_faded for event in events),
            events_extending_scene=sum(event.scene_extended for event in events),
            ambiences_lowered=timeline.rules.ambience_lowered_cdb > 0,
            voice_peaks_lowered=sum(duck.reason == "peak" for ducks in timeline.ducks.values() for duck in ducks),
            n_samples=timeline.n_samples,
        )
        self.margins += [event.margin_cdb for event in events]

    def figures(self) -> Json:
        """The counts, the least margin of an event, and the seconds of all timelines."""
        names = (
            "scenes", "placed", "events", "decoys_wanted", "decoys_placed", "events_peak_limited", "events_faded",
            "events_extending_scene", "ambiences_lowered", "voice_peaks_lowered",
        )  # fmt: skip
        return {
            **{name: self.counts[name] for name in names},
            "left_out": self.left_out,
            "margin_db_min": min(self.margins) / 100 if self.margins else None,
            "seconds": round(self.counts["n_samples"] / 44_100, 1),
        }
