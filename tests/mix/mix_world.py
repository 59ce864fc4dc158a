"""A small made-up project: speech-like noise for the hand-written dialogues, takes, ambiences, rooms and responses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cares.core.pcm import Samples, samples_digest, write_samples
from cares.core.record import read_records
from cares.mix.choices import Bank
from cares.mix.params import MixParams, TimelineParams
from cares.mix.sources import taps_digest
from cares.mix.timeline import SceneInputs
from cares.records.bank import Response, Room, Take
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene, Split
from cares.records.speech import SceneAlignment, SceneSpeech, SpokenSegment, Utterance, Word
from cares.records.timeline import ResponseRef

DATA = Path(__file__).parents[1] / "data"
RATE = 44_100
SEED = 7

TIMELINE = TimelineParams(
    placement="matched",
    gap_ms=(500, 850),
    event_gap_max_ms=850,
    onset_before_ms=(50, 250),
    release_ms=(30, 120),
    decoys=True,
    decoy_clear_ms=1000,
    lead_in_ms=(300, 800),
    lead_out_ms=(500, 1000),
    event_max_ms=6000,
    extension_max_ms=2000,
    event_spacing_ms=200,
    event_fade_ms=400,
    edge_fade_ms=5,
    crossfade_ms=1000,
)
MIX = MixParams(
    master_lufs=-23.0,
    true_peak_dbtp=-1.0,
    voice_lufs=-20.0,
    event_lufs=(-20.0, -23.0),
    rare_lufs=-17.0,
    ambience_lufs=-32.0,
    ambience_offset_db=3.0,
    margin_db=6.0,
    even_out_db=5.0,
    duck_db=4.0,
    duck_labels="behavioral",
)


def reference(responses: NDArray[Any], offset: int, n_samples: int) -> ResponseRef:
    """What an edit decision list says of some of the integers of responses.npy."""
    digest = taps_digest(responses[offset : offset + n_samples])
    return ResponseRef(room_id="r", offset=offset, n_samples=n_samples, taps_sha256=digest)


def noise(n: int, seed: int, rms: float = 3000.0) -> NDArray[np.float64]:
    """Pinkish noise [n] of a given RMS, in 16-bit steps."""
    white = np.random.default_rng(seed).normal(size=n + 64)
    smooth = np.convolve(white, np.ones(12) / 12, "same")[32 : 32 + n] + 0.2 * white[:n]
    return np.asarray(smooth * rms / smooth.std())


def to_int16(signal: NDArray[np.float64]) -> Samples:
    """Rounded to 16 bits; what does not fit is a mistake of the test."""
    assert np.abs(signal).max() < 32767
    return np.round(signal).astype(np.int16)


@dataclass
class World:
    """The project's folder and records."""

    root: Path
    inputs: list[SceneInputs]
    bank: Bank


def make_world(root: Path, take_samples: int = 2 * RATE, ambience_samples: int = 4 * RATE, tail: int = 9000) -> World:
    """Write the sound files and responses below `root`."""
    scenes = {scene.scene_id: scene for scene in read_records(Scene, DATA / "scenes_small.jsonl")}
    dialogues = read_records(Dialogue, DATA / "dialogues_small.jsonl")
    inputs = [_spoken(root, scenes[dialogue.scene_id], dialogue, index) for index, dialogue in enumerate(dialogues)]
    takes = []
    for item in inputs:
        for event in item.scene.events:
            takes.append(make_take(root, "event", event.sound, item.scene.split, take_samples))
        takes.append(make_take(root, "ambience", item.scene.location, item.scene.split, ambience_samples))
    rooms = tuple(
        Room(
            room_id=f"{item.scene.location}-{item.scene.split}",
            location=item.scene.location,
            split=item.scene.split,
            source="test",
            size_mm=(4000, 5000, 2500),
            rt60_ms=300,
            responses=tuple(
                Response(role=role, index=index, offset=place * tail, n_samples=tail)
                for place, (role, index) in enumerate((("A", 0), ("B", 0), ("event", 0), ("event", 1)))
            ),
        )
        for item in inputs
    )
    rng = np.random.default_rng(3)
    decay = rng.normal(size=(4, tail)) * np.exp(-np.arange(tail) / (tail / 8)) * 0.06
    decay[:, 0] = 1.0
    (root / "data/rooms").mkdir(parents=True)
    np.save(root / "data/rooms/responses.npy", np.round(decay * 2**20).astype(np.int32).ravel())
    return World(root, inputs, Bank(tuple(takes), rooms, frozenset({"train_horn"})))


def make_take(root: Path, kind: str, name: str, split: Split, n_samples: int, rms: float = 3000.0) -> Take:
    """A take of noise that dies away (an event) or goes on (an ambience)."""
    assert kind in ("event", "ambience")
    take_id = f"{name}-{split}" if kind == "event" else f"amb-{name}-{split}"
    signal = noise(n_samples, sum(map(ord, take_id)), rms)
    if kind == "event":
        signal *= np.exp(-np.arange(n_samples) / max(1, n_samples) * 2)
    samples = to_int16(signal)
    path = f"data/sounds/takes/{take_id}.flac"
    write_samples(root / path, samples)
    return Take(
        take_id=take_id,
        kind="event" if kind == "event" else "ambience",
        name=name,
        split=split,
        path=path,
        n_samples=n_samples,
        pcm_sha256=samples_digest(samples),
        source="test",
        licence="CC0-1.0",
        author="test",
        url="",
    )


def _spoken(root: Path, scene: Scene, dialogue: Dialogue, seed: int) -> SceneInputs:
    """Each word a burst of noise, 60 ms between words, silence around every utterance."""
    rng = np.random.default_rng(seed)
    parts: list[NDArray[np.float64]] = []
    utterances: list[Utterance] = []
    words: list[Word] = []
    at = 0
    for turn_index, turn in enumerate(dialogue.turns):
        groups: list[list[int]] = []
        for index, segment in enumerate(turn.segments):
            if segment.event is None:
                if segment.delivery == "joined":
                    groups[-1].append(index)
                else:
                    groups.append([index])
        for group in groups:
            start, cursor = at, at + RATE // 5
            parts.append(np.zeros(RATE // 5))
            for index in group:
                for text in turn.segments[index].text.split():
                    length = int(rng.integers(2500, 6000))
                    envelope = np.sin(np.pi * np.arange(length) / length) ** 0.3
                    loud = 2200.0 if turn.speaker == "A" else 1100.0
                    parts += [noise(length, cursor, loud) * envelope, np.zeros(RATE * 6 // 100)]
                    words.append(
                        Word(
                            utterance=len(utterances),
                            word=text,
                            start_sample=cursor,
                            end_sample=cursor + length,
                            confidence=0.9,
                            interpolated=any(letter.isdigit() for letter in text),
                        )
                    )
                    cursor += length + RATE * 6 // 100
            parts.append(np.zeros(RATE // 4))
            at = cursor + RATE // 4
            utterances.append(
                Utterance(
                    index=len(utterances),
                    turn=turn_index,
                    speaker=turn.speaker,
                    text=" ".join(turn.segments[index].text for index in group),
                    segments=tuple(
                        SpokenSegment(turn=turn_index, segment=index, n_words=len(turn.segments[index].text.split()))
                        for index in group
                    ),
                    cut=turn.segments[group[0]].delivery == "cut",
                    voice="a" if turn.speaker == "A" else "b",
                    engine="test",
                    tries=1,
                    word_error_rate=0.0,
                    start_sample=start,
                    n_samples=at - start,
                )
            )
    samples = to_int16(np.concatenate(parts))
    path = f"data/speech/{scene.scene_id}.flac"
    write_samples(root / path, samples)
    speech = SceneSpeech(
        scene_id=scene.scene_id,
        split=scene.split,
        path=path,
        pcm_sha256=samples_digest(samples),
        voices=("a", "b"),
        utterances=tuple(utterances),
    )
    return SceneInputs(scene, dialogue, speech, SceneAlignment(scene_id=scene.scene_id, words=tuple(words)))
