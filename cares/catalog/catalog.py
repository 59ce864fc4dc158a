"""The label space as one read-only object, with what the stages ask of it.

Its ids are those of the published CARES benchmark; what is said of each is the project's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from cares.catalog.types import Location, Register, Relation, Sound, SoundGroup, Theme
from cares.records.scene import Reaction


@dataclass(frozen=True, eq=False)
class Catalog:
    """Entries by id, in the order of their files.

    `categories` maps each category to its sub-types. `alike` are the groups of confusable.yaml; what a scene has to
    keep apart is `confusable`.
    """

    sounds: Mapping[str, Sound]
    locations: Mapping[str, Location]
    relations: Mapping[str, Relation]
    themes: Mapping[str, Theme]
    registers: Mapping[str, Register]
    categories: Mapping[str, tuple[str, ...]]
    alike: tuple[frozenset[str], ...]

    def sounds_at(self, location: str, groups: Iterable[SoundGroup] | None = None) -> tuple[Sound, ...]:
        """The sounds that may occur at `location`, of every group or of `groups`; KeyError for an unknown location."""
        if location not in self.locations:
            raise KeyError(location)
        kept = None if groups is None else frozenset(groups)
        return tuple(
            sound
            for sound in self.sounds.values()
            if location in sound.locations and (kept is None or sound.group in kept)
        )

    def registers_of(self, reaction: Reaction) -> tuple[Register, ...]:
        """The registers that realise `reaction`."""
        return tuple(register for register in self.registers.values() if register.reaction == reaction)

    def confusable(self, sound: str) -> frozenset[str]:
        """The sounds that must not share a scene with `sound`: symmetric, without `sound`; KeyError if it is unknown.

        Either the two sound alike, or a word that names one occurs in what names the other, so that a remark on one
        cannot be told from a remark on the other.
        """
        return self._confusable[sound]

    @cached_property
    def _confusable(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {name: set() for name in self.sounds}
        for group in self.alike:
            for name in group:
                found[name] |= group
        for one in self.sounds.values():
            for other in self.sounds.values():
                if any(one.mention_in(text) for text in (*other.word_forms, *other.names, other.display, other.phrase)):
                    found[one.id].add(other.id)
                    found[other.id].add(one.id)
        return {name: frozenset(others - {name}) for name, others in found.items()}
