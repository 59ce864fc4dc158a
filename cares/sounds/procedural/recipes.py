"""Reads the recipes, data files beside the catalog, and checks them against it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import cares.catalog
from cares.catalog.catalog import Catalog
from cares.catalog.load import load_catalog
from cares.core.canonical import digest
from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.sounds.procedural.vocabulary import Recipe

AMBIENCES = "ambiences.yaml"
_HERE = Path(cares.catalog.__file__).parent / "recipes"


class RecipeFile(NamedTuple):
    """A recipe and the name of the file that holds it."""

    file: str
    recipe: Recipe


class RecipeBook(NamedTuple):
    """Recipes of sounds by sound id, and of ambiences by location id, sorted."""

    sounds: Mapping[str, RecipeFile]
    ambiences: Mapping[str, RecipeFile]


@lru_cache(maxsize=8)
def load_recipes(folder: Path = _HERE) -> RecipeBook:
    """The recipes in `folder` (default: those that come with the package).

    Each file maps ids to recipes: ambiences.yaml has the locations', every other file sounds'.

    Raises:
        InputError: an unknown key, a number out of range, an id that the catalog lacks or that occurs twice, or one
            recipe for two sounds that share a location.
    """
    catalog = load_catalog()
    sounds: dict[str, RecipeFile] = {}
    ambiences: dict[str, RecipeFile] = {}
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise InputError(folder, "", "no *.yaml file", "at least one file of recipes")
    for file in files:
        known, found = (catalog.locations, ambiences) if file.name == AMBIENCES else (catalog.sounds, sounds)
        for name, entry in _read(file).items():
            if name not in known:
                kind = "location" if file.name == AMBIENCES else "sound"
                raise InputError(file, name, name, f"the id of a {kind} of the catalog")
            if name in found:
                raise InputError(file, name, name, f"an id without a recipe so far; {found[name].file} has one")
            found[name] = entry
    _check_different(sounds, catalog, folder)
    return RecipeBook(MappingProxyType(dict(sorted(sounds.items()))), MappingProxyType(dict(sorted(ambiences.items()))))


def _read(file: Path) -> dict[str, RecipeFile]:
    data = read_yaml(file)
    if not isinstance(data, dict) or not data:
        raise InputError(file, "", data, "a mapping of ids to recipes")
    found = {}
    for name, value in data.items():
        recipe = Recipe.parse(value, file, str(name))
        found[str(name)] = RecipeFile(file.name, recipe)
    return found


def _check_different(sounds: Mapping[str, RecipeFile], catalog: Catalog, folder: Path) -> None:
    owners: dict[str, list[str]] = {}
    for name, entry in sounds.items():
        same = owners.setdefault(digest(entry.recipe.to_json()), [])
        for other in same:
            if set(catalog.sounds[name].locations) & set(catalog.sounds[other].locations):
                expected = f"another recipe than that of {other}, which occurs in the same place"
                raise InputError(folder / entry.file, name, name, expected)
        same.append(name)
