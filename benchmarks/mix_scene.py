"""The scene of the mix benchmark: 13 utterances, 3 events, an ambience and five room responses of 1 s."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from cares.core.canonical import read_json, write_json
from cares.core.pcm import SAMPLE_RATE, Samples, samples_digest, write_samples
from cares.mix.choices import Choices
from cares.mix.levels import Levels
from cares.mix.params import MixParams
from cares.mix.sources import taps_digest
from cares.records.bank import Room, Take
from cares.records.timeline import Clip, ResponseRef, Rules, Timeline

UTTERANCES, EVENTS = 13, 3
EVENT_SAMPLES = 3 * SAMPLE_RATE
PARAMS = MixParams(
    master_lufs=-23.0,
    true_peak_dbtp=-1.0,
    voice_lufs=-20.0,
    event_lufs=(-20.0,),
    rare_lufs=-17.0,
    ambience_lufs=-32.0,
    ambience_offset_db=0.0,
    margin_db=6.0,
    even_out_db=0.0,
    duck_db=0.0,
    duck_labels="behavioral",
)
RULES = Rules(
    placement="matched", decoys_wanted=0, decoys=0, duck_labels="behavioral", voice_cdb=-2000,
    ambience_drawn_cdb=-3200, ambience_lowered_cdb=0, margin_cdb=600, master_cdb=-2300, true_peak_cdb=-100,
)  # fmt: skip


@dataclass(frozen=True)
class BenchScene:
    """Clips at 0 dB and what the levels are decided from."""

    clips: list[Clip]
    choices: Choices
    n_samples: int


def speech_like(n_samples: int, key: int) -> Samples:
    """Noise [n] in syllables of 200 ms, 16 bits."""
    rng = np.random.default_rng(key)
    syllables = np.abs(np.sin(np.pi * np.arange(n_samples) / (SAMPLE_RATE / 5))) ** 2
    noise = np.convolve(rng.normal(size=n_samples), np.ones(6) / 6, "same") * syllables * 4000
    return np.clip(np.round(noise), -32768, 32767).astype(np.int16)


def read_scene(root: Path) -> BenchScene:
    """The scene that `write_scene` wrote."""
    clips = [Clip.parse(value, root / "scene.json") for value in read_json(root / "scene.json")]
    return BenchScene(clips, _choices(clips[-1].n_samples, clips[-1].pcm_sha256), clips[-1].n_samples)


def write_scene(root: Path, seconds: int) -> None:
    """Write sources for CARES (FLAC, responses.npy) and the same clips for scaper (WAV, clips.json) below `root`."""
    total = seconds * SAMPLE_RATE
    turn = total // UTTERANCES
    length = turn - SAMPLE_RATE // 2
    utterances = [speech_like(length, key) for key in range(UTTERANCES)]
    speech, ambience = np.concatenate(utterances), (speech_like(total, 99) // 4).astype(np.int16)
    takes = [speech_like(EVENT_SAMPLES, 200 + key) for key in range(EVENTS)]
    for name, samples in [("speech", speech), ("ambience", ambience), *((f"take{i}", t) for i, t in enumerate(takes))]:
        write_samples(root / f"{name}.flac", samples)
    rng = np.random.default_rng(0)
    decay = rng.normal(size=(2 + EVENTS, SAMPLE_RATE)) * np.exp(-np.arange(SAMPLE_RATE) / 6000) * 0.05
    decay[:, 0] = 1
    (root / "data/rooms").mkdir(parents=True)
    taps = np.round(decay * 2**20).astype(np.int32)
    np.save(root / "data/rooms/responses.npy", taps.ravel())

    def clip(track: str, name: str, samples: Samples, start: int, n: int, at: int, **more: object) -> Clip:
        values = {"track": track, "path": f"{name}.flac", "pcm_sha256": samples_digest(samples), "gain_cdb": 0}
        values |= {"source_start": start, "n_samples": n, "at_sample": at, "fade_in": 352, "fade_out": 352}
        return Clip.model_validate(values | more)

    def response(place: int) -> ResponseRef:
        return ResponseRef(
            room_id="room", offset=place * SAMPLE_RATE, n_samples=SAMPLE_RATE, taps_sha256=taps_digest(taps[place])
        )

    clips = [
        clip("AB"[i % 2], "speech", speech, i * length, length, i * turn, response=response(i % 2))
        for i in range(UTTERANCES)
    ]
    events_at = [total * (i + 1) // (EVENTS + 1) for i in range(EVENTS)]
    clips += [
        clip("event", f"take{i}", takes[i], 0, EVENT_SAMPLES, at, event=i, response=response(2 + i))
        for i, at in enumerate(events_at)
    ]
    clips.append(clip("ambience", "ambience", ambience, 0, total, 0))
    _write_for_scaper(root, utterances, takes, ambience, [i * turn for i in range(UTTERANCES)], events_at)
    write_json(root / "scene.json", [clip.to_json() for clip in clips])


def timeline_of(levels: Levels, n_samples: int) -> Timeline:
    """A timeline over decided levels."""
    return Timeline(
        scene_id="t00000-0", template_id="t00000", split="train", location="home_indoor", genders=("F", "M"),
        n_samples=n_samples, room_id="room", ambience_take="ambience", clips=tuple(levels.clips),
        ducks={voice: tuple(ducks) for voice, ducks in levels.ducks.items()},
        master_gain_cdb=levels.master_gain_cdb, master_lufs_cdb=levels.master_lufs_cdb, words=(), events=(), gaps=(),
        rules=RULES,
    )  # fmt: skip


def _choices(n_samples: int, digest: str) -> Choices:
    ambience = Take(
        take_id="ambience", kind="ambience", name="home_indoor", split="train", path="ambience.flac",
        n_samples=n_samples, pcm_sha256=digest, source="made up", licence="CC0-1.0", author="none", url="",
    )  # fmt: skip
    room = Room(
        room_id="room", location="home_indoor", split="train", source="made up", size_mm=(4000, 5000, 2500),
        rt60_ms=500, responses=(),
    )  # fmt: skip
    return Choices((), ambience, room, {}, (), (-2000,) * EVENTS, -3200)


def _write_for_scaper(
    root: Path,
    utterances: list[Samples],
    takes: list[Samples],
    ambience: NDArray[np.int16],
    turns_at: list[int],
    events_at: list[int],
) -> None:
    """The same clips as files: <kind>/<label>/<clip>.wav, and clips.json with places in seconds and levels."""
    placed = []
    sounds = [("voice", clip, at, -20) for clip, at in zip(utterances, turns_at, strict=True)]
    sounds += [("event", clip, at, -20) for clip, at in zip(takes, events_at, strict=True)]
    for index, (label, clip, at, lufs) in enumerate(sounds):
        path = root / "foreground" / label / f"{index}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, clip, SAMPLE_RATE, subtype="PCM_16")
        seconds = {"at_s": at / SAMPLE_RATE, "duration_s": len(clip) / SAMPLE_RATE}
        placed.append({"label": label, "path": str(path), "snr_db": lufs + 32} | seconds)
    path = root / "background" / "room" / "ambience.wav"
    path.parent.mkdir(parents=True)
    soundfile.write(path, ambience, SAMPLE_RATE, subtype="PCM_16")
    spec = {"seconds": len(ambience) / SAMPLE_RATE, "background": str(path), "events": placed}
    (root / "clips.json").write_text(json.dumps(spec), encoding="utf-8")
