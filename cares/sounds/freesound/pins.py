"""The pins: which recordings of Freesound are used, by id and hash, in a file that is kept with the code."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from cares.catalog.catalog import Catalog
from cares.core.errors import InputError
from cares.core.record import Record, read_records, write_records
from cares.records.bank import Sha256
from cares.records.scene import Split
from cares.sounds.licences import spdx
from cares.sounds.source import Kind

Seconds = Annotated[float, Field(ge=0)]


class Pin(Record):
    """A recording as it was found: what it is a take of, its id, and the SHA-256 of its preview's bytes.

    `start_s` and `end_s` may be written in to take a part of it, `split` to say where it must go.
    """

    kind: Kind
    name: str
    id: Annotated[int, Field(ge=1)]
    preview: Literal["preview-hq-ogg"]
    sha256: Sha256
    licence: str
    author: Annotated[str, Field(min_length=1)]
    url: Annotated[str, Field(min_length=1)]
    start_s: Seconds | None = None
    end_s: Seconds | None = None
    split: Split | None = None


def read_pins(path: Path, catalog: Catalog) -> list[Pin]:
    """The pins of a file; none when there is no such file.

    Raises:
        InputError: a line is no pin, names what the catalog lacks, has another licence, or occurs twice.
    """
    pins = read_records(Pin, path) if path.is_file() else []
    lines: dict[tuple[str, str, int], int] = {}
    for number, pin in enumerate(pins, 1):
        where = f"line {number}"
        known = catalog.sounds if pin.kind == "event" else catalog.locations
        if pin.name not in known:
            raise InputError(path, f"{where}: name", pin.name, "a sound or location of the catalog")
        if spdx(pin.licence) != pin.licence:
            raise InputError(path, f"{where}: licence", pin.licence, "CC0-1.0, CC-BY-3.0 or CC-BY-4.0")
        if pin.end_s is not None and pin.end_s <= (pin.start_s or 0.0):
            raise InputError(path, f"{where}: end_s", pin.end_s, "a time after start_s")
        first = lines.setdefault((pin.kind, pin.name, pin.id), number)
        if first != number:
            raise InputError(path, f"{where}: id", pin.id, f"another sound than line {first} has")
    return pins


def write_pins(path: Path, pins: Iterable[Pin]) -> None:
    """Write pins, sorted by what they are takes of and by id."""
    ordered = sorted(pins, key=_place)
    write_records(path, ordered)


def _place(pin: Pin) -> tuple[str, str, int]:
    return pin.kind, pin.name, pin.id
