"""How speakers talk and how they stand to the topic."""

from __future__ import annotations

from cares.core.params import read_yaml
from cares.core.record import Record
from cares.dialogue.plan import DATA


class Manners(Record):
    """Ways of talking ("is a worrier") and stances with {a} and {b} for the speakers."""

    voices: tuple[str, ...]
    stances: tuple[str, ...]


def load_manners() -> Manners:
    """The manners of data/manners.yaml."""
    path = DATA / "manners.yaml"
    return Manners.parse(read_yaml(path), path)
