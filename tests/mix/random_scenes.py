"""Short made-up scenes at random: clips at 0 dB with sources and responses, as the levels are decided from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fixed_scene import RULES
from mix_world import RATE, noise, reference

from cares.core.pcm import Samples, samples_digest, write_samples
from cares.core.rng import KeyedRandom
from cares.mix.backend import NumpyBackend
from cares.mix.choices import Choices
from cares.mix.engine import Mixer
from cares.mix.levels import Levels, settle
from cares.mix.params import MixParams
from cares.mix.sources import Sources
from cares.records.bank import Room, Take
from cares.records.timeline import Clip, Duck, Timeline

TAIL = 4_000


@dataclass(frozen=True)
class RandomScene:
    """A settled scene, and what it was drawn as."""

    root: Path
    timeline: Timeline
    levels: Levels
    choices: Choices


def random_scene(root: Path, seed: int, params: MixParams) -> RandomScene:
    """Two or three utterances a voice, none to three events of 50 ms to 1.5 s, an ambience; 3 to 6 s in all."""
    random = KeyedRandom(seed, "scene")
    n_samples = random.between(3 * RATE, 6 * RATE) // 4410 * 4410
    turns = random.between(4, 6)
    length = n_samples // (turns + 1)
    (root / "data/rooms").mkdir(parents=True, exist_ok=True)
    np.save(root / "data/rooms/responses.npy", _responses(seed))
    clips = []
    for turn in range(turns):
        loud = random.between(600, 3000)
        syllables = np.abs(np.sin(np.pi * np.arange(length) / random.between(5000, 12000))) ** 0.5
        samples = np.clip(np.round(noise(length, random.below(10**6), loud) * syllables), -32768, 32767)
        clips.append(_clip(root, f"turn{turn}", samples, "AB"[turn % 2], turn * length + 2000, None, turn % 2, 200))
    count = random.between(0, 3)
    for event in range(count):
        samples = _event(random, random.between(RATE // 20, RATE * 3 // 2))
        at = random.between(0, n_samples - len(samples))
        clips.append(_clip(root, f"event{event}", samples, "event", at, event, 2, 0))
    ambience = np.round(noise(n_samples, random.below(10**6), random.between(100, 2000)))
    clips.append(_clip(root, "ambience", ambience, "ambience", 0, None, None, 300))
    drawn = tuple(random.choice((-2000, -2300)) for _ in range(count))
    take = Take(
        take_id="a", kind="ambience", name="park", split="train", path="ambience.flac", n_samples=n_samples,
        pcm_sha256=clips[-1].pcm_sha256, source="test", licence="CC0-1.0", author="", url="",
    )  # fmt: skip
    room = Room(
        room_id="r", location="park", split="train", source="test", size_mm=(1, 1, 1), rt60_ms=100, responses=()
    )
    choices = Choices((), take, room, {}, (), drawn, -3200 + random.between(-300, 300))
    ducks = {"A": [_duck(random, n_samples)] if random.below(2) else [], "B": []}
    mixer = Mixer(Sources(root), NumpyBackend(), keep=True)
    levels = settle(list(clips), ducks, choices, params, n_samples, mixer, NumpyBackend())  # type: ignore[arg-type]
    timeline = Timeline(
        scene_id="t00000-0", template_id="t00000", split="train", location="park", genders=("F", "M"),
        n_samples=n_samples, room_id="r", ambience_take="a", clips=tuple(levels.clips),
        ducks={voice: tuple(found) for voice, found in levels.ducks.items()},
        master_gain_cdb=levels.master_gain_cdb, master_lufs_cdb=levels.master_lufs_cdb, words=(), events=(), gaps=(),
        rules=RULES,
    )  # fmt: skip
    return RandomScene(root, timeline, levels, choices)


def _event(random: KeyedRandom, length: int) -> Samples:
    """Noise, a chirp or a train of blows, which dies away."""
    time = np.arange(length)
    kind = random.below(3)
    if kind == 0:
        signal = noise(length, random.below(10**6), 3000)
    elif kind == 1:
        signal = 8000 * np.sin(2 * np.pi * time * (0.005 + time / length * 0.02))
    else:
        signal = noise(length, random.below(10**6), 3000) * (time % random.between(2000, 9000) < 400)
    return np.clip(np.round(signal * np.exp(-2 * time / length)), -32768, 32767).astype(np.int16)


def _responses(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    decay = rng.normal(size=(3, TAIL)) * np.exp(-np.arange(TAIL) / (TAIL / 6)) * 0.05
    decay[:, 0] = rng.uniform(0.3, 1.0, 3)
    return np.round(decay * 2**20).astype(np.int32).ravel()


def _clip(
    root: Path, name: str, samples: np.ndarray, track: str, at: int, event: int | None, place: int | None, fade: int
) -> Clip:
    whole = samples.astype(np.int16)
    write_samples(root / f"{name}.flac", whole)
    responses = np.load(root / "data/rooms/responses.npy")
    response = None if place is None else reference(responses, place * TAIL, TAIL)
    values = {"track": track, "event": event, "path": f"{name}.flac", "pcm_sha256": samples_digest(whole)}
    values |= {"source_start": 0, "n_samples": len(whole), "at_sample": at, "gain_cdb": 0, "response": response}
    return Clip.model_validate(values | {"fade_in": fade, "fade_out": fade})


def _duck(random: KeyedRandom, n_samples: int) -> Duck:
    start = random.between(0, n_samples - 2)
    return Duck(
        start_sample=start,
        end_sample=random.between(start + 1, n_samples),
        depth_cdb=random.between(0, 400),
        ramp_samples=2_205,
        reason="event",
        event=0,
    )
