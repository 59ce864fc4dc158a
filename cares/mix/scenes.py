"""The mix stage's work: render every timeline or take it from the item store, measure the files, annotate them."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
import soundfile

from cares.core.atomic import write_bytes
from cares.core.canonical import Json, file_digest
from cares.core.errors import InputError
from cares.core.executor import stream_items
from cares.core.pcm import SAMPLE_RATE, Samples, encode
from cares.core.record import write_records
from cares.core.record_file import LazySequence, by_id
from cares.core.store import Entry, ItemStore, item_key, source_digest
from cares.mix.backend import make_backend
from cares.mix.loudness import integrated_lufs, to_float
from cares.mix.params import to_cdb
from cares.mix.render import render, render_batch
from cares.mix.true_peak import true_peak_dbtp
from cares.mix.work import held, set_up
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.records.speech import SceneSpeech
from cares.records.timeline import MixedScene, Timeline

FOLDER = Path("data/scenes")
CODE = ("cares.core.pcm", "cares.mix", "cares.records.timeline")


@dataclass(frozen=True)
class MixItem:
    """A timeline and the records that its annotation quotes."""

    timeline: Timeline
    scene: Scene
    dialogue: Dialogue
    speech: SceneSpeech


def join_timelines(
    timelines: Mapping[str, Timeline] | Iterable[Timeline],
    scenes: Mapping[str, Scene] | Iterable[Scene],
    dialogues: Mapping[str, Dialogue] | Iterable[Dialogue],
    speeches: Mapping[str, SceneSpeech] | Iterable[SceneSpeech],
) -> Sequence[MixItem]:
    """The records of every timeline, in order; InputError where one is missing.

    Of a `RecordFile` nothing is held: a scene's records are read when its turn comes.
    """
    timeline_of, scene_of, dialogue_of, speech_of = by_id(timelines), by_id(scenes), by_id(dialogues), by_id(speeches)
    for name in timeline_of:
        if not (name in scene_of and name in dialogue_of and name in speech_of):
            expected = "its scene, dialogue and speech to be present"
            raise InputError("data/timelines.jsonl", "scene_id", name, expected, "Run dvc repro.")
    return LazySequence(
        list(timeline_of), lambda name: MixItem(timeline_of[name], scene_of[name], dialogue_of[name], speech_of[name])
    )


def batch_size(backend: str) -> int:
    """How many scenes are mixed together: one on a CPU, CARES_MIX_BATCH (default 8) on a CUDA device."""
    given = os.environ.get("CARES_MIX_BATCH", "8")
    if not given.isdigit() or int(given) < 1:
        raise InputError("environment", "CARES_MIX_BATCH", given, "a whole number of at least 1")
    return int(given) if backend == "torch-cuda" else 1


def mix_scenes(
    items: Sequence[MixItem], out: Path, root: Path, backend: str, batch: int | None = None
) -> list[MixedScene]:
    """Write <scene_id>.wav of every item into `out`, then scenes.jsonl and SHA256SUMS.

    Args:
        out: an empty folder, which becomes data/scenes.
        root: the folder that paths in records are relative to.
        backend: name of the backend; it does not change the files.
        batch: scenes to mix together, `batch_size(backend)` by default; it does not change the files.

    Returns:
        The scenes as in scenes.jsonl, but without words and transcript, of which a large set has too many to be held.
    """
    size = batch or batch_size(backend)
    batches = LazySequence(range(0, len(items), size), lambda at: tuple(items[at : at + size]))
    # one process feeds a GPU
    workers = 1 if backend == "torch-cuda" else None
    done = stream_items(
        _mix, batches, desc="mix", workers=workers, setup=set_up, setup_args=(_Renderer, root, out, backend)
    )
    mixed: list[MixedScene] = []
    write_records(out / "scenes.jsonl", _noted(done, mixed))
    sums = {Path(scene.path).name: scene.sha256 for scene in mixed}
    sums["scenes.jsonl"] = file_digest(out / "scenes.jsonl")
    lines = [f"{sums[name]}  {name}\n" for name in sorted(sums)]
    write_bytes(out / "SHA256SUMS", "".join(lines).encode("utf-8"))
    return mixed


def _noted(done: Iterable[Sequence[MixedScene]], mixed: list[MixedScene]) -> Iterator[MixedScene]:
    """The scenes one by one; what is to be kept of them goes to `mixed`."""
    for scenes in done:
        for scene in scenes:
            mixed.append(scene.model_copy(update={"words": (), "transcript": ""}))
            yield scene


def transcript(speech: SceneSpeech) -> str:
    """What is said, a line a turn: "A: ..."."""
    turns: dict[int, list[str]] = {}
    speakers = {}
    for utterance in speech.utterances:
        turns.setdefault(utterance.turn, []).append(utterance.text)
        speakers[utterance.turn] = utterance.speaker
    return "\n".join(f"{speakers[turn]}: {' '.join(turns[turn])}" for turn in sorted(turns))


def describe_mixes(mixed: Sequence[MixedScene]) -> Json:
    """Loudness, true peak, margins and length over all finished files, for metrics/mix.json."""
    loudness = [scene.integrated_lufs_cdb / 100 for scene in mixed]
    margins = [event.margin_cdb / 100 for scene in mixed for event in scene.events]
    seconds = [scene.n_samples / SAMPLE_RATE for scene in mixed]
    return {
        "scenes": len(mixed),
        "events": len(margins),
        "integrated_lufs": {
            "min": min(loudness),
            "max": max(loudness),
            "mean": round(sum(loudness) / len(loudness), 3),
        },
        "true_peak_dbtp_max": max(scene.true_peak_cdb for scene in mixed) / 100,
        "event_margin_db": {
            "min": min(margins, default=None),
            "mean": round(sum(margins) / len(margins), 2) if margins else None,
        },
        "seconds": {"min": round(min(seconds), 1), "max": round(max(seconds), 1), "total": round(sum(seconds), 1)},
    }


def _key(timeline: Timeline) -> str:
    """What a mixed scene depends on: its edit decision list, which has the hashes of all sources, and the code."""
    versions = [np.__version__, scipy.__version__]
    return item_key(code=source_digest(*CODE), timeline=timeline.to_json(), versions=versions)


def _mix(items: tuple[MixItem, ...]) -> list[MixedScene]:
    return held(_Renderer).mix(items)


class _Renderer:
    """Renders scene after scene, or batch after batch, in one process."""

    def __init__(self, root: Path, out: Path, backend: str) -> None:
        self._root, self._out, self._backend, self._store = root, out, make_backend(backend), ItemStore("mix")

    def mix(self, items: tuple[MixItem, ...]) -> list[MixedScene]:
        """Write the files of some scenes and annotate them; what the item store has is not rendered again."""
        keys = [_key(item.timeline) for item in items]
        entries = {key: entry for key in keys if (entry := self._store.get(key)) is not None}
        missing = {key: item.timeline for key, item in zip(keys, items, strict=True) if key not in entries}
        for key, samples in zip(missing, self._rendered(list(missing.values())), strict=True):
            signal = to_float(samples)
            figures = {
                "integrated_lufs_cdb": to_cdb(integrated_lufs(signal)),
                "true_peak_cdb": to_cdb(true_peak_dbtp(signal)),
            }
            entries[key] = self._store.put(key, figures, encode(samples))
        return [self._finish(item, entries[key]) for key, item in zip(keys, items, strict=True)]

    def _rendered(self, timelines: Sequence[Timeline]) -> list[Samples]:
        if len(timelines) == 1:
            return [render(timelines[0].scene_id, timelines, self._root, self._backend)]
        return render_batch(timelines, self._root, self._backend)

    def _finish(self, item: MixItem, entry: Entry) -> MixedScene:
        timeline, scene = item.timeline, item.scene
        samples, _ = soundfile.read(io.BytesIO(entry.blob), dtype="int16")
        data = encode(samples, container="WAV")
        name = f"{timeline.scene_id}.wav"
        write_bytes(self._out / name, data)
        return MixedScene(
            scene_id=timeline.scene_id,
            template_id=timeline.template_id,
            split=timeline.split,
            path=(FOLDER / name).as_posix(),
            sha256=hashlib.sha256(data).hexdigest(),
            n_samples=len(samples),
            **entry.value,
            location=scene.location,
            relation=scene.relation,
            roles=scene.roles,
            genders=scene.genders,
            voices=item.speech.voices,
            topic=item.dialogue.topic,
            transcript=transcript(item.speech),
            words=timeline.words,
            events=timeline.events,
        )
