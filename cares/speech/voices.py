"""The table of voices, and who speaks with which: matched in gender, two different ones a scene, evenly over scenes.

Voices that are held out speak in the scenes of the test split and nowhere else, and the other voices never there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.core.record import Record
from cares.core.rng import KeyedRandom
from cares.records.scene import Gender, Scene
from cares.speech.engines import SERVED, EngineName

VOICES_FILE = Path(__file__).with_name("voices.yaml")
Cast = tuple[str, str]


class Voice(Record):
    """One entry of voices.yaml: an engine's voice, its speaker's gender and accent, and its licence.

    Attributes:
        engine, model, voice: who speaks; `model` is its id in the registry, or what a server calls it.
        gender, accent: of the speaker.
        licence, non_commercial: of the model and what it speaks.
        default: whether the voice is used when no voices are named.
        url, request: address and further fields of every request, for the voices of a server.
        alike: voices that may be taken for this one; the two never speak in one scene while another is free.
        held_out: kept for the test split; set by `load_voices`, never in the file.
    """

    engine: EngineName
    model: Annotated[str, Field(min_length=1)]
    voice: str
    gender: Gender
    accent: Annotated[str, Field(min_length=1)]
    licence: Annotated[str, Field(min_length=1)]
    default: bool = False
    non_commercial: bool = False
    url: str = ""
    request: dict[str, str | int | float | bool] = Field(default={})
    alike: tuple[str, ...] = ()
    held_out: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.served and (self.url or self.request):
            raise ValueError("url and request are for the voices of a server (engine: openai)")
        return self

    @property
    def served(self) -> bool:
        """Whether a server speaks, so that its weights are not here."""
        return self.engine in SERVED

    @property
    def recorded_engine(self) -> str:
        """The engine's name for the records; "(served)" when the same samples are not promised again."""
        return f"{self.engine} (served)" if self.served else self.engine

    def key(self) -> Json:
        """What an item's key says of the voice: what its samples depend on."""
        return {"engine": self.engine, "model": self.model, "voice": self.voice, "request": dict(self.request)}


def load_voices(
    allowed: Sequence[str] = (), path: Path = VOICES_FILE, held_out: Sequence[str] = ()
) -> dict[str, Voice]:
    """The voices by id, in the file's order.

    Args:
        allowed: ids, or patterns such as "vctk_*"; none means the voices marked `default`.
        path: the table.
        held_out: ids or patterns of those among them that speak in the test split only.

    Raises:
        InputError: the file is missing or wrong, a name matches no voice, or a gender has fewer voices than the two
            that a scene of two such speakers needs.
    """
    table = read_table(path)
    chosen = {name: voice for name, voice in table.items() if voice.default}
    if allowed:
        named = _named(allowed, table, "speech.voices", path.name)
        chosen = {name: voice for name, voice in table.items() if name in named}
    kept = _named(held_out, chosen, "speech.held_out_voices", "speech.voices")
    if not kept:
        _check_two(chosen, path.name, "voices of gender")
        return chosen
    chosen = {name: voice.model_copy(update={"held_out": name in kept}) for name, voice in chosen.items()}
    _check_two(_of_split(chosen, "test"), "params.yaml", "speech.held_out_voices: held-out voices of gender")
    _check_two(_of_split(chosen, "train"), "params.yaml", "speech.held_out_voices: other voices of gender")
    return chosen


def read_table(path: Path = VOICES_FILE) -> dict[str, Voice]:
    """Every voice of the file by id; InputError when it is missing or wrong."""
    data = read_yaml(path)
    if not isinstance(data, dict) or not data:
        raise InputError(path.name, "", data, "a mapping of voice ids to voices")
    voices = {str(name): Voice.parse(value, path.name, str(name)) for name, value in data.items()}
    asked: dict[str, tuple[str, str, Json]] = {}
    for name, voice in voices.items():
        if voice.held_out:
            raise InputError(path.name, f"{name}.held_out", True, "speech.held_out_voices of params.yaml instead")
        for other in voice.alike:
            if other == name or other not in voices or name not in voices[other].alike:
                expected = f"another voice of the table that names {name} as well"
                raise InputError(path.name, f"{name}.alike", other, expected)
        way = (voice.engine, voice.url, dict(voice.request))
        if asked.setdefault(voice.model, way) != way:
            raise InputError(path.name, name, way, f"the engine, url and request of the other voices of {voice.model}")
    return voices


def _named(patterns: Sequence[str], voices: dict[str, Voice], field: str, where: str) -> set[str]:
    found: set[str] = set()
    for pattern in patterns:
        matching = {name for name in voices if fnmatchcase(name, pattern)}
        if not matching:
            known = ", ".join(list(voices)[:12]) + (", ..." if len(voices) > 12 else "")
            raise InputError("params.yaml", field, pattern, f"a voice of {where}: {known}", "List them: cares voices")
        found |= matching
    return found


def _check_two(voices: dict[str, Voice], file: str, field: str) -> None:
    for gender in ("F", "M"):
        count = sum(voice.gender == gender for voice in voices.values())
        if count < 2:
            raise InputError(file, f"{field} {gender}", count, "at least 2, for a scene of two such speakers")


def _of_split(voices: dict[str, Voice], split: str) -> dict[str, Voice]:
    """The voices that may speak in a split: all of them unless some are held out."""
    if not any(voice.held_out for voice in voices.values()):
        return voices
    return {name: voice for name, voice in voices.items() if voice.held_out == (split == "test")}


def cast_voices(scenes: Sequence[Scene], voices: dict[str, Voice], seed: int) -> dict[str, Cast]:
    """The voices of A and B in every scene.

    Within a split, scenes are taken in the order of their ids; each speaker gets the voice of its gender that was used
    least so far, a keyed draw deciding among equals, but no voice that is taken for the other speaker's while another
    is free. So the counts of a gender's voices differ by at most one, or a few where voices are alike, and scenes that
    are added behind leave the others' voices alone.
    """
    used: dict[str, Counter[str]] = {}
    casts: dict[str, Cast] = {}
    for scene in sorted(scenes, key=lambda scene: scene.scene_id):
        counts = used.setdefault(scene.split, Counter())
        draw = KeyedRandom(seed, "voices", scene.scene_id)
        picked: dict[str, str] = {}
        for speaker, gender in draw.shuffled(list(zip("AB", scene.genders, strict=True))):
            able = _of_split(voices, scene.split)
            free = [name for name, voice in able.items() if voice.gender == gender and name not in picked.values()]
            free = [name for name in free if not _alike(name, picked.values(), voices)] or free
            least = min(counts[name] for name in free)
            picked[speaker] = draw.choice([name for name in free if counts[name] == least])
            counts[picked[speaker]] += 1
        casts[scene.scene_id] = (picked["A"], picked["B"])
    return casts


def _alike(name: str, others: Iterable[str], voices: dict[str, Voice]) -> bool:
    return any(other in voices[name].alike for other in others)


def other_casts(scene: Scene, first: Cast, voices: dict[str, Voice], seed: int) -> list[Cast]:
    """Every other pair of different voices of the right genders, in keyed order: what to try when `first` fails.

    Pairs that are alike come last.
    """
    able = _of_split(voices, scene.split)
    by_gender = {gender: [name for name, voice in able.items() if voice.gender == gender] for gender in "FM"}
    pairs = [
        (a, b)
        for a in by_gender[scene.genders[0]]
        for b in by_gender[scene.genders[1]]
        if a != b and (a, b) != first
    ]  # fmt: skip
    shuffled = KeyedRandom(seed, "other_voices", scene.scene_id).shuffled(pairs)
    return sorted(shuffled, key=lambda pair: _alike(pair[0], pair[1:], voices))


def speaking_rate(seed: int, scene_id: str, speaker: str, spread_percent: int) -> float:
    """How fast a speaker talks in a scene: a factor within 1 +- `spread_percent` / 100, in whole percents."""
    return (
        KeyedRandom(seed, "speaking_rate", scene_id, speaker).between(100 - spread_percent, 100 + spread_percent) / 100
    )
