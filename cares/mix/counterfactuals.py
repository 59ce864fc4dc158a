"""Counterfactual mixes for the benchmark: each scene without each of its events, all gains and ducks kept."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
import soundfile

from cares.core.atomic import write_bytes
from cares.core.canonical import Json, file_digest
from cares.core.errors import CaresError, InputError
from cares.core.executor import map_items
from cares.core.pcm import Samples, encode, read_samples
from cares.core.record import write_records
from cares.core.record_file import LazySequence, by_id
from cares.core.store import ItemStore, item_key, source_digest
from cares.mix.backend import make_backend
from cares.mix.engine import Mixer
from cares.mix.render import event_numbers, select
from cares.mix.scenes import CODE
from cares.mix.sources import Sources
from cares.mix.work import held, set_up
from cares.records.item import Counterfactual
from cares.records.scene import Split
from cares.records.timeline import Clip, MixedScene, Timeline

FOLDER = Path("data/bench/counterfactuals")


@dataclass(frozen=True)
class FinishedScene:
    """A scene's timeline and the file that was made of it."""

    timeline: Timeline
    mixed: MixedScene


def join_finished(
    timelines: Mapping[str, Timeline] | Iterable[Timeline],
    scenes: Mapping[str, MixedScene] | Iterable[MixedScene],
    splits: Collection[Split],
) -> Sequence[FinishedScene]:
    """The finished scenes of some splits with their timelines, in order; InputError where a timeline is missing.

    Of a `RecordFile` nothing is held: a scene's records are read when its turn comes.
    """
    timeline_of, scene_of = by_id(timelines), by_id(scenes)
    for name in scene_of:
        if name not in timeline_of:
            expected = "a scene that data/timelines.jsonl holds"
            raise InputError("data/scenes/scenes.jsonl", "scene_id", name, expected, "Run dvc repro.")
    wanted = [name for name, scene in scene_of.items() if scene.split in splits]
    return LazySequence(wanted, lambda name: FinishedScene(timeline_of[name], scene_of[name]))


def mute_events(finished: Sequence[FinishedScene], out: Path, root: Path, backend: str) -> list[Counterfactual]:
    """Write <scene_id>-<event>.wav of every event into `out`, then manifest.jsonl.

    Args:
        finished: the scenes; their files lie under `root`.
        out: an empty folder, which becomes data/bench/counterfactuals.
        root: the folder that paths in records are relative to.
        backend: name of the backend; it does not change the files.

    Raises:
        InputError: a scene's file is missing or is not the one that its record names.
        CaresError: a mix differs from its scene elsewhere than where the event sounds, or nowhere.
    """
    workers = 1 if backend == "torch-cuda" else None
    setup_args = (_Muter, root, out, backend)
    done = map_items(_mute, finished, desc="counterfactuals", workers=workers, setup=set_up, setup_args=setup_args)
    made = [counterfactual for of_scene in done for counterfactual in of_scene]
    write_records(out / "manifest.jsonl", made)
    return made


def _mute(finished: FinishedScene) -> list[Counterfactual]:
    return held(_Muter).mute(finished)


class _Muter:
    """Renders the counterfactuals of scene after scene in one process."""

    def __init__(self, root: Path, out: Path, backend: str) -> None:
        self._root, self._out, self._backend = root, out, make_backend(backend)
        self._store = ItemStore("counterfactual")

    def mute(self, finished: FinishedScene) -> list[Counterfactual]:
        """Write the files of one scene."""
        timeline, mixed = finished.timeline, finished.mixed
        path = self._root / mixed.path
        original = read_samples(path)
        if (found := file_digest(path)) != mixed.sha256:
            raise InputError(mixed.path, "file", found, f"SHA-256 {mixed.sha256}", "The file changed; run dvc repro.")
        events = event_numbers(timeline)
        keys = {event: self._key(finished, event) for event in events}
        pieces = {event: self._store.get(key) for event, key in keys.items()}
        # what the scene's counterfactuals share is convolved once
        mixer = Mixer(Sources(self._root), self._backend, keep=True)
        made = []
        for event in events:
            piece = pieces[event] or self._store.put(keys[event], *self._differing(finished, event, mixer, original))
            first, end = piece.value["first_sample"], piece.value["end_sample"]
            samples = original.copy()
            samples[first:end] = soundfile.read(io.BytesIO(piece.blob), dtype="int16")[0]
            data = encode(samples, container="WAV")
            name = f"{timeline.scene_id}-{event}.wav"
            write_bytes(self._out / name, data)
            made.append(
                Counterfactual(
                    scene_id=timeline.scene_id,
                    event=event,
                    split=timeline.split,
                    path=(FOLDER / name).as_posix(),
                    sha256=hashlib.sha256(data).hexdigest(),
                    of_sha256=mixed.sha256,
                    n_samples=len(samples),
                    first_sample=first,
                    end_sample=end,
                )
            )
        return made

    def _key(self, finished: FinishedScene, event: int) -> str:
        """What a counterfactual depends on beside its number: what its scene depends on, and the scene's file."""
        return item_key(
            code=source_digest(*CODE),
            timeline=finished.timeline.to_json(),
            of_sha256=finished.mixed.sha256,
            event=event,
            versions=[np.__version__, scipy.__version__],
        )

    def _differing(self, finished: FinishedScene, event: int, mixer: Mixer, original: Samples) -> tuple[Json, bytes]:
        """Where the scene without an event differs from the scene, and its samples there."""
        timeline, path = finished.timeline, finished.mixed.path
        samples = mixer.finished(select(timeline, {event}), timeline.master_gain_cdb)
        if len(samples) != len(original):
            raise CaresError(f"{path}: {len(original)} samples, its timeline says {len(samples)}; run dvc repro")
        differing = np.flatnonzero(samples != original)
        _check_place(path, event, differing, [clip for clip in timeline.clips if clip.event == event])
        first, end = int(differing[0]), int(differing[-1]) + 1
        return {"first_sample": first, "end_sample": end}, encode(samples[first:end])


def _check_place(path: str, event: int, differing: np.ndarray, clips: Sequence[Clip]) -> None:
    """The samples that differ lie where the event's clips and their reverberation sound."""
    if not len(differing):
        raise CaresError(f"{path}: event {event} changes no sample; it cannot be heard")
    start = min(clip.at_sample for clip in clips)
    end = max(clip.at_sample + clip.n_samples + (clip.response.n_samples if clip.response else 0) for clip in clips)
    if differing[0] < start or differing[-1] >= end:
        raise CaresError(
            f"{path}: without event {event} samples {differing[0]} to {differing[-1]} differ, "
            f"but it sounds from {start} to {end}; the file is not of this timeline, run dvc repro"
        )
