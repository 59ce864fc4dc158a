"""What is searched for at Freesound: a rule that makes terms of a display name, and the catalog's exceptions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

import cares.catalog
from cares.catalog.catalog import Catalog
from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.core.record import Record
from cares.sounds.recorded import AMBIENCE_S, LONGER, SHORTER
from cares.sounds.source import Kind

FILE = Path(cares.catalog.__file__).parent / "freesound.yaml"
LICENCE_FILTER = 'license:("Creative Commons 0" OR "Attribution")'
# words that a display name needs and a search does not: every term of a query is mandatory
_LEFT_OUT = frozenset(
    [
        "a",
        "an",
        "at",
        "being",
        "by",
        "down",
        "dropped",
        "for",
        "in",
        "into",
        "of",
        "off",
        "on",
        "out",
        "over",
        "the",
        "up",
    ]
)
_SPARE_S = 2.0


class Terms(Record):
    """Terms for one sound or ambience, where the rule's would find other sounds; `without` must not occur."""

    query: Annotated[str, Field(pattern=r"^[a-z0-9'-]+( [a-z0-9'-]+)*$")]
    without: tuple[str, ...] = ()


class TermsFile(Record):
    """The catalog's file: words that no event's or no ambience's recording may have, and exceptions by id."""

    events_without: tuple[str, ...]
    ambiences_without: tuple[str, ...]
    sounds: dict[str, Terms]
    ambiences: dict[str, Terms]


def load_terms(catalog: Catalog, file: Path = FILE) -> TermsFile:
    """The catalog's terms; InputError for an unknown key, sound or location, or an ambience without terms."""
    terms = TermsFile.parse(read_yaml(file), file)
    for field, given, known in (
        ("sounds", terms.sounds, catalog.sounds),
        ("ambiences", terms.ambiences, catalog.locations),
    ):
        for name in given:
            if name not in known:
                raise InputError(file, f"{field}.{name}", name, "an id of the catalog")
    for location in catalog.locations:
        if location not in terms.ambiences:
            raise InputError(file, f"ambiences.{location}", "nothing", "terms for it")
    return terms


def rule(display: str) -> str:
    """Terms of a display name: its words without the ones that only join them."""
    words = display.lower().replace("-", " ").split()
    return " ".join(word for word in words if word not in _LEFT_OUT)


def query(kind: Kind, name: str, catalog: Catalog, terms: TermsFile) -> str:
    """The query for a sound or an ambience: its terms, and with a minus sign the words that must not occur."""
    if kind == "ambience":
        chosen, common = terms.ambiences[name], terms.ambiences_without
    else:
        chosen = terms.sounds.get(name) or Terms(query=rule(catalog.sounds[name].display))
        common = terms.events_without
    there = set(chosen.query.split())
    unwanted = dict.fromkeys([*chosen.without, *(word for word in common if word not in there)])
    return " ".join([chosen.query, *(f"-{word}" for word in unwanted)])


def condition(kind: Kind, name: str, catalog: Catalog) -> str:
    """The filter: licences that permit to pass it on, and lengths that a take can be cut from."""
    if kind == "ambience":
        low, high = AMBIENCE_S
    else:
        shortest, longest = catalog.sounds[name].duration_s
        low, high = SHORTER * shortest, LONGER * longest + _SPARE_S
    return f"{LICENCE_FILTER} duration:[{low:g} TO {high:g}]"
