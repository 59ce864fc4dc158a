"""The procedural source: every sound that has a recipe, in as many takes as wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from cares.core.canonical import Json
from cares.core.pcm import SAMPLE_RATE
from cares.sounds.procedural.recipes import RecipeBook, RecipeFile
from cares.sounds.procedural.render import render
from cares.sounds.signal import Signal
from cares.sounds.source import Ask, Job, Kind, Provenance, Wanted

PROVENANCE = Provenance(source="procedural", licence="CC0-1.0", author="CARES procedural source", url="")
_CODE = (
    "cares.core.pcm",
    "cares.core.rng",
    "cares.sounds.bank",
    "cares.sounds.procedural",
    "cares.sounds.quality",
    "cares.sounds.signal",
)


@dataclass(frozen=True)
class ProceduralJob:
    """One take of a recipe, a function of (recipe, seed, take id) and the code."""

    wanted: Wanted
    entry: RecipeFile
    seed: int

    @property
    def source(self) -> str:
        """Synthesis."""
        return PROVENANCE.source

    @property
    def origin(self) -> str:
        """The recipe's file."""
        return f"cares/catalog/recipes/{self.entry.file}"

    @property
    def recording(self) -> str:
        """None: it is synthesised."""
        return ""

    @property
    def code(self) -> tuple[str, ...]:
        """Synthesis and checks."""
        return _CODE

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
    name: str = "procedural"

    def offered(self, kind: Kind) -> tuple[str, ...]:
        """The ids that have a recipe, sorted."""
        return tuple(self._recipes(kind))

    def jobs(self, kind: Kind, name: str, seconds: tuple[float, float], ask: Ask) -> list[Job]:
        """As many takes as asked for, none where there is no recipe: see `SoundSource.jobs`."""
        if name not in self._recipes(kind):
            return []
        shortest, longest = (round(second * SAMPLE_RATE) for second in seconds)
        splits = ask.counts[kind].splits()
        return [self.job(Wanted(kind, name, number, split, shortest, longest)) for number, split in enumerate(splits)]

    def job(self, wanted: Wanted) -> ProceduralJob:
        """How to make one take; KeyError when no recipe makes it."""
        return ProceduralJob(wanted, self._recipes(wanted.kind)[wanted.name], self.seed)

    def _recipes(self, kind: Kind) -> dict[str, RecipeFile]:
        return dict(self.book.sounds if kind == "event" else self.book.ambiences)
