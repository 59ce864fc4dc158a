"""The procedural source: every sound that has a recipe, in as many takes as wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from cares.core.canonical import Json
from cares.sounds.procedural.recipes import RecipeBook, RecipeFile
from cares.sounds.procedural.render import render
from cares.sounds.signal import Signal
from cares.sounds.source import Kind, Provenance, Wanted

PROVENANCE = Provenance(source="procedural", licence="CC0-1.0", author="CARES procedural source", url="")


@dataclass(frozen=True)
class ProceduralJob:
    """One take of a recipe, a function of (recipe, seed, take id) and the code."""

    wanted: Wanted
    entry: RecipeFile
    seed: int

    @property
    def origin(self) -> str:
        """The recipe's file."""
        return f"cares/catalog/recipes/{self.entry.file}"

    def inputs(self) -> Json:
        """Recipe, seed, take and versions of the libraries that compute."""
        return {
            "recipe": self.entry.recipe.to_json(),
            "seed": self.seed,
            "wanted": list(self.wanted),
            "versions": [np.__version__, scipy.__version__],
        }

    def make(self) -> tuple[Signal, Provenance]:
        """Synthesise the take."""
        wanted = self.wanted
        return render(self.entry.recipe, self.seed, wanted.take_id, wanted.shortest, wanted.longest), PROVENANCE


@dataclass(frozen=True)
class ProceduralSource:
    """Synthesis from the recipes of `book`, seeded by the data set's seed."""

    book: RecipeBook
    seed: int

    def offered(self, kind: Kind) -> tuple[str, ...]:
        """The ids that have a recipe, sorted."""
        return tuple(self._recipes(kind))

    def capacity(self, kind: Kind, name: str) -> None:
        """No limit."""
        return

    def job(self, wanted: Wanted) -> ProceduralJob:
        """How to make one take; KeyError when no recipe makes it."""
        return ProceduralJob(wanted, self._recipes(wanted.kind)[wanted.name], self.seed)

    def _recipes(self, kind: Kind) -> dict[str, RecipeFile]:
        return dict(self.book.sounds if kind == "event" else self.book.ambiences)
