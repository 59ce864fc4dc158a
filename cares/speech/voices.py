"""The table of voices, and who speaks with which: matched in gender, two different ones a scene, evenly over scenes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.core.record import Record
from cares.core.rng import KeyedRandom
from cares.records.scene import Gender, Scene

VOICES_FILE = Path(__file__).with_name("voices.yaml")
Cast = tuple[str, str]


class Voice(Record):
    """One entry of voices.yaml: an engine's voice, its speaker's gender and accent, and its licence."""

    engine: Literal["kokoro", "piper"]
    model: str
    voice: str
    gender: Gender
    accent: str
    licence: str


def load_voices(allowed: Sequence[str] = (), path: Path = VOICES_FILE) -> dict[str, Voice]:
    """The voices by id, in the file's order, or only those in `allowed`.

    Raises:
        InputError: the file is missing or wrong, an allowed voice is not in it, or a gender has fewer voices than the
            two that a scene of two such speakers needs.
    """
    data = read_yaml(path)
    if not isinstance(data, dict) or not data:
        raise InputError(path.name, "", data, "a mapping of voice ids to voices")
    voices = {str(name): Voice.parse(value, path.name, str(name)) for name, value in data.items()}
    for name in allowed:
        if name not in voices:
            raise InputError("params.yaml", "speech.voices", name, f"a voice of {path.name}: {', '.join(voices)}")
    chosen = {name: voice for name, voice in voices.items() if not allowed or name in allowed}
    for gender in ("F", "M"):
        count = sum(voice.gender == gender for voice in chosen.values())
        if count < 2:
            raise InputError(
                path.name, f"voices of gender {gender}", count, "at least 2, for a scene of two such speakers"
            )
    return chosen


def cast_voices(scenes: Sequence[Scene], voices: dict[str, Voice], seed: int) -> dict[str, Cast]:
    """The voices of A and B in every scene.

    Within a split, scenes are taken in the order of their ids; each speaker gets the voice of its gender that was used
    least so far, a keyed draw deciding among equals. So the counts of a gender's voices differ by at most one, and
    scenes that are added behind leave the others' voices alone.
    """
    used: dict[str, Counter[str]] = {}
    casts: dict[str, Cast] = {}
    for scene in sorted(scenes, key=lambda scene: scene.scene_id):
        counts = used.setdefault(scene.split, Counter())
        draw = KeyedRandom(seed, "voices", scene.scene_id)
        picked: dict[str, str] = {}
        for speaker, gender in draw.shuffled(list(zip("AB", scene.genders, strict=True))):
            free = [name for name, voice in voices.items() if voice.gender == gender and name not in picked.values()]
            least = min(counts[name] for name in free)
            picked[speaker] = draw.choice([name for name in free if counts[name] == least])
            counts[picked[speaker]] += 1
        casts[scene.scene_id] = (picked["A"], picked["B"])
    return casts


def other_casts(scene: Scene, first: Cast, voices: dict[str, Voice], seed: int) -> list[Cast]:
    """Every other pair of different voices of the right genders, in keyed order: what to try when `first` fails."""
    by_gender = {gender: [name for name, voice in voices.items() if voice.gender == gender] for gender in "FM"}
    pairs = [
        (a, b)
        for a in by_gender[scene.genders[0]]
        for b in by_gender[scene.genders[1]]
        if a != b and (a, b) != first
    ]  # fmt: skip
    return KeyedRandom(seed, "other_voices", scene.scene_id).shuffled(pairs)


def speaking_rate(seed: int, scene_id: str, speaker: str, spread_percent: int) -> float:
    """How fast a speaker talks in a scene: a factor within 1 +- `spread_percent` / 100, in whole percents."""
    return (
        KeyedRandom(seed, "speaking_rate", scene_id, speaker).between(100 - spread_percent, 100 + spread_percent) / 100
    )
