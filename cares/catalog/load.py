"""Reads the catalog's files and validates every key and every cross-reference before a stage uses them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from cares.catalog.catalog import Catalog
from cares.catalog.types import Location, Register, Relation, Sound, Theme
from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.params import read_yaml

__all__ = ["Catalog", "load_catalog"]

E = TypeVar("E", Location, Register, Relation, Sound, Theme)
_HERE = Path(__file__).parent
_FORM = re.compile(r"[a-z0-9]+(?:[ '-][a-z0-9]+)*")


def load_catalog(folder: Path | None = None) -> Catalog:
    """The validated catalog in `folder` (default: the one that comes with the package), read once per process.

    Raises:
        InputError: a file is missing or not as it should be; names file, entry and field.
    """
    return _load((folder or _HERE).absolute())


@lru_cache(maxsize=8)
def _load(folder: Path) -> Catalog:
    categories = _categories(folder / "categories.yaml")
    locations = _entries(Location, folder / "locations.yaml")
    for location in locations.values():
        _check_room(location, folder / "locations.yaml")
    files = sorted((folder / "sounds").glob("*.yaml"))
    if not files:
        raise InputError(folder / "sounds", "", "no *.yaml file", "at least one file of sounds")
    sounds: dict[str, Sound] = {}
    for file in files:
        for name, sound in _entries(Sound, file, sounds).items():
            _check_sound(sound, file, locations, categories)
            sounds[name] = sound
    registers = _entries(Register, folder / "registers.yaml")
    for register in registers.values():
        _check_register(register, folder / "registers.yaml")
    return Catalog(
        sounds=MappingProxyType(sounds),
        locations=MappingProxyType(locations),
        relations=MappingProxyType(_entries(Relation, folder / "relations.yaml")),
        themes=MappingProxyType(_entries(Theme, folder / "themes.yaml")),
        registers=MappingProxyType(registers),
        categories=MappingProxyType(categories),
        alike=_alike(folder / "confusable.yaml", sounds),
    )


def _entries(kind: type[E], file: Path, taken: Collection[str] = ()) -> dict[str, E]:
    """The entries of one file by id; an id that the file repeats, or that is already `taken`, is an error."""
    found: dict[str, E] = {}
    for number, value in enumerate(_list(file), 1):
        name = value.get("id") if isinstance(value, dict) else None
        entry = kind.parse(value, file, name if isinstance(name, str) else f"entry {number}")
        if entry.id in found or entry.id in taken:
            raise InputError(file, f"{entry.id}.id", entry.id, "an id that no other entry has")
        found[entry.id] = entry
    return found


def _list(file: Path) -> list[Json]:
    data = read_yaml(file)
    if not isinstance(data, list) or not data:
        raise InputError(file, "", data, "a list of at least one entry")
    return data


def _categories(file: Path) -> dict[str, tuple[str, ...]]:
    data = read_yaml(file)
    if not isinstance(data, dict) or not data:
        raise InputError(file, "", data, "a mapping of category to sub-types")
    for name, subs in data.items():
        if not isinstance(subs, list) or not subs or not all(isinstance(sub, str) for sub in subs):
            raise InputError(file, str(name), subs, "a list of at least one sub-type")
        if len(set(subs)) < len(subs):
            raise InputError(file, str(name), subs, "every sub-type only once")
    return {str(name): tuple(subs) for name, subs in data.items()}


def _check_sound(
    sound: Sound, file: Path, locations: Collection[str], categories: Mapping[str, tuple[str, ...]]
) -> None:
    def wrong(field: str, value: object, expected: str) -> InputError:
        return InputError(file, f"{sound.id}.{field}", value, expected)

    if sound.category not in categories:
        raise wrong("category", sound.category, f"one of {', '.join(categories)}")
    if sound.sub_type not in categories[sound.category]:
        raise wrong("sub_type", sound.sub_type, f"one of {', '.join(categories[sound.category])}")
    for location in sound.locations:
        if location not in locations:
            raise wrong("locations", location, "the id of an entry in locations.yaml")
    if len(set(sound.locations)) < len(sound.locations):
        raise wrong("locations", list(sound.locations), "every location only once")
    if sound.group == "local" and len(sound.locations) != 1:
        raise wrong("locations", list(sound.locations), "exactly one location for a local sound")
    if sound.group != "local" and len(sound.locations) < 2:
        raise wrong("locations", list(sound.locations), "at least two locations for a sound that is not local")
    if sound.duration_s[0] > sound.duration_s[1]:
        raise wrong("duration_s", list(sound.duration_s), "the shorter duration first")
    for form in sound.word_forms:
        if not _FORM.fullmatch(form):
            raise wrong("word_forms", form, "lower-case words between single spaces or hyphens")
    if len(set(sound.word_forms)) < len(sound.word_forms):
        raise wrong("word_forms", list(sound.word_forms), "every form only once")
    for field, texts in (("display", [sound.display]), ("phrase", [sound.phrase]), ("names", sound.names)):
        for text in texts:
            if sound.mention_in(text) is None:
                raise wrong(field, text, "a text that holds one of the word forms, since it is to name the sound")


def _check_room(location: Location, file: Path) -> None:
    for field in ("length_m", "width_m", "height_m", "rt60_s"):
        low, high = getattr(location.room, field)
        if not 0 < low <= high:
            raise InputError(file, f"{location.id}.room.{field}", [low, high], "two numbers above 0, the smaller first")


def _check_register(register: Register, file: Path) -> None:
    named = register.reaction in ("pivot", "verbal")
    for cue in register.cues:
        if ("{sound}" in cue) != named or set("{}") & set(cue.replace("{sound}", "")):
            expected = "{sound} in the cue, and no other braces" if named else "no braces, since the sound is not named"
            raise InputError(file, f"{register.id}.cues", cue, expected)


def _alike(file: Path, sounds: Collection[str]) -> tuple[frozenset[str], ...]:
    groups = []
    for number, group in enumerate(_list(file), 1):
        if not isinstance(group, list) or len(group) < 2:
            raise InputError(file, f"group {number}", group, "a list of at least two sounds")
        for name in group:
            if name not in sounds:
                raise InputError(file, f"group {number}", name, "the id of a sound")
        if len(set(map(str, group))) < len(group):
            raise InputError(file, f"group {number}", group, "every sound only once")
        groups.append(frozenset(map(str, group)))
    return tuple(groups)
