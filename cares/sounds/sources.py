"""The sources that `sounds.source` names, in its order."""

from __future__ import annotations

from pathlib import Path

from cares.catalog.catalog import Catalog
from cares.sounds.folder import open_folder
from cares.sounds.freesound.source import open_pins
from cares.sounds.params import SoundsParams, SourceName
from cares.sounds.procedural import recipes
from cares.sounds.procedural.source import ProceduralSource
from cares.sounds.source import SoundSource


def open_sources(params: SoundsParams, catalog: Catalog, seed: int, root: Path = Path()) -> list[SoundSource]:
    """One source for each name; nothing is fetched or decoded yet.

    Args:
        root: the folder that paths in params.yaml are relative to, the repository's.

    Raises:
        InputError: a recipe, a manifest or a pin is not as it should be.
    """
    return [open_source(name, params, catalog, seed, root) for name in params.source]


def open_source(
    name: SourceName, params: SoundsParams, catalog: Catalog, seed: int, root: Path = Path()
) -> SoundSource:
    """The source of this name: see `open_sources`."""
    if name == "procedural":
        return ProceduralSource(recipes.load_recipes(), seed)
    if name == "folder":
        return open_folder(root / params.folder, catalog, seed)
    return open_pins(root / params.pins, catalog, seed)
