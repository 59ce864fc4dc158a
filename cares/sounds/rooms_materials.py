"""What surfaces absorb: the materials of each location, in octave bands."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pyroomacoustics.parameters import materials_absorption_table

import cares.catalog
from cares.catalog.types import Location
from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.core.record import Record
from cares.sounds.rooms_bands import BANDS_HZ

WALLS = ("west", "east", "south", "north", "floor", "ceiling")
FILE = Path(cares.catalog.__file__).parent / "materials.yaml"
_MIXED = 0.5
_HIGHEST = 0.99
Share = Annotated[float, Field(ge=0, le=1)]
Four = Annotated[tuple[str, ...], Field(min_length=4, max_length=4)]


class Surfaces(Record):
    """Materials of a room indoors; `walls` are west, east, south and north."""

    floor: str
    ceiling: str
    walls: Four


class Materials(Record):
    """The catalog's file: energy absorption of grounds, surfaces of the rooms indoors, ground outdoors."""

    ground: dict[str, Annotated[tuple[Share, ...], Field(min_length=6, max_length=6)]]
    indoors: dict[str, Surfaces]
    outdoors: dict[str, str]


@lru_cache(maxsize=4)
def load_materials(file: Path = FILE) -> Materials:
    """The catalog's materials; InputError for an unknown key or material."""
    materials = Materials.parse(read_yaml(file), file)
    for location, surfaces in materials.indoors.items():
        for name in (surfaces.floor, surfaces.ceiling, *surfaces.walls):
            if name not in materials_absorption_table:
                raise InputError(file, f"indoors.{location}", name, "a material of pyroomacoustics' database")
    for location, name in materials.outdoors.items():
        if name not in materials.ground:
            raise InputError(file, f"outdoors.{location}", name, f"one of {', '.join(materials.ground)}")
    return materials


def surface_names(location: Location, file: Path = FILE) -> tuple[str, ...]:
    """The materials of a location in the order of `WALLS`; outdoors the ground alone.

    Raises:
        InputError: the file has no entry for it.
    """
    materials, outdoor = load_materials(file), location.room.kind == "outdoor"
    known = materials.outdoors if outdoor else materials.indoors
    if location.id not in known:
        raise InputError(file, f"{'outdoors' if outdoor else 'indoors'}.{location.id}", "nothing", "its materials")
    if outdoor:
        return (materials.outdoors[location.id],)
    surfaces = materials.indoors[location.id]
    return (*surfaces.walls, surfaces.floor, surfaces.ceiling)


def indoor_absorption(location: Location, size_m: tuple[float, float, float]) -> NDArray[np.float64]:
    """Energy absorption of the six surfaces in every band: [6, 8], each half its own and half the room's mean.

    The mean, weighted by area, stands for the furniture and people that scatter sound from one pair of walls to the
    others; without it a box with one absorbing pair rings between the hard ones.
    """
    own = np.stack([_in_bands(tuple(materials_absorption_table[name]["coeffs"])) for name in surface_names(location)])
    length, width, height = size_m
    areas = np.array([width * height, width * height, length * height, length * height, length * width, length * width])
    mean = areas @ own / areas.sum()
    return np.asarray((1 - _MIXED) * own + _MIXED * mean, np.float64)


def ground_absorption(location: Location, exponent: float) -> NDArray[np.float64]:
    """Energy absorption of the ground in every band [8]; reflected energy is that of the material to `exponent`."""
    (name,) = surface_names(location)
    return np.asarray(1.0 - (1.0 - _in_bands(load_materials().ground[name])) ** exponent, np.float64)


def _in_bands(coefficients: tuple[float, ...]) -> NDArray[np.float64]:
    """A list from 125 Hz on, its last value taken for the bands above it."""
    values = np.array([*coefficients, *[coefficients[-1]] * (len(BANDS_HZ) - len(coefficients))])
    return np.asarray(np.minimum(values, _HIGHEST), np.float64)
