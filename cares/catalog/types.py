"""Entries of the catalog; the files are beside this module, the loader in `load.py`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record
from cares.records.scene import Reaction

SoundGroup = Literal["local", "shared", "anywhere", "vocal", "rare"]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
Seconds = Annotated[float, Field(gt=0, le=30)]


class Sound(Record):
    """A sound of the label space.

    `display` is a noun phrase without article for people and questions ("dog bark"); `phrase` is the noun phrase with
    article for prompts ("a dog barking", "the train horn"). `names` are what a speaker would put after "that" or "the",
    singular and countable where the language allows it ("dog", "barking dog"). `word_forms` are all lower-case words or
    phrases, inflected forms included, by which a speaker would name the sound or its source; the lint searches them on
    word boundaries, and every display, phrase and name holds one.
    `locations` are where it may occur: exactly those of the published label space for local and shared sounds, the
    plausible ones for the others.
    """

    id: Name
    group: SoundGroup
    display: str
    phrase: str
    names: Annotated[tuple[str, ...], Field(min_length=1)]
    word_forms: Annotated[tuple[str, ...], Field(min_length=1)]
    audioset: str
    category: str
    sub_type: str
    locations: Annotated[tuple[str, ...], Field(min_length=1)]
    duration_s: tuple[Seconds, Seconds]

    def mention_in(self, text: str) -> str | None:
        """The first word or phrase of `text` that names the sound, lower-case, or None.

        Whole words only, in any case; a hyphen separates words as a space does, and a possessive ending is left out.
        """
        found = _mention(self.word_forms).search(text.lower().replace("\u2019", "'"))
        return found.group() if found else None


class RoomRecipe(Record):
    """Ranges from which rooms of a location are drawn: length, width, height in metres, reverberation time in seconds.

    Outdoors the box is large and `rt60_s` short: a ground reflection and little else.
    """

    kind: Literal["indoor", "vehicle", "outdoor"]
    length_m: tuple[float, float]
    width_m: tuple[float, float]
    height_m: tuple[float, float]
    rt60_s: tuple[float, float]


class Location(Record):
    """Where a scene plays; `phrase` completes "They are ..." ("at an airport gate")."""

    id: Name
    display: str
    phrase: str
    audioset: str
    ambience: str
    room: RoomRecipe


class Relation(Record):
    """How the two speakers know each other; `pair` is the plural for prompts ("two old college friends")."""

    id: str
    pair: str
    manner: str


class Register(Record):
    """A way of realising a reaction; `cues` are what the skeleton says of the turn, with {sound} where it is named."""

    id: Name
    reaction: Reaction
    title: str
    description: str
    cues: Annotated[tuple[str, ...], Field(min_length=1)]


class Theme(Record):
    """What a template's scenes revolve around; topics are found within it."""

    id: Name
    phrase: str
    examples: Annotated[tuple[str, ...], Field(min_length=2)]


@lru_cache(maxsize=1024)
def _mention(forms: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    joined = "|".join(r"[\s-]+".join(map(re.escape, re.split(r"[ -]", form))) for form in longest_first)
    return re.compile(rf"(?<!\w)(?:{joined})(?!\w)")
