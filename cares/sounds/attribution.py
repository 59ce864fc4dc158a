"""Who made each take and room, and under which licence: takes are checked, and all is listed for who passes it on."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from cares.core.atomic import write_bytes
from cares.core.errors import InputError
from cares.core.record import Record
from cares.core.text import no_formula
from cares.records.bank import Room, Take
from cares.sounds.licences import LICENCES

ATTRIBUTION = "ATTRIBUTION.csv"
_TAKE_FIELDS = ("take_id", "path", "source", "licence", "author", "url", "edits", "pcm_sha256")
_ROOM_FIELDS = ("room_id", "source", "licence", "author", "url", "edits")


def check_provenance(takes: Sequence[Take], file: object) -> None:
    """Raise InputError for a take that may not be passed on, or whose sound another take already is.

    A licence is an SPDX identifier out of `LICENCES`; it wants an author, and an address where it asks for attribution.
    """
    sounds: dict[str, str] = {}
    for take in takes:
        if take.licence not in LICENCES:
            raise InputError(file, f"{take.take_id}.licence", take.licence, f"one of {', '.join(LICENCES)}")
        if not take.author.strip():
            raise InputError(file, f"{take.take_id}.author", take.author, "who made the recording")
        if take.licence.startswith("CC-BY") and not take.url.strip():
            raise InputError(file, f"{take.take_id}.url", take.url, f"where it is from, as {take.licence} asks")
        if other := sounds.get(take.pcm_sha256):
            raise InputError(file, f"{take.take_id}.pcm_sha256", take.pcm_sha256, f"another sound than that of {other}")
        sounds[take.pcm_sha256] = take.take_id


def write_attribution(path: Path, takes: Sequence[Take]) -> None:
    """Write one row a take, sorted by take id; CSV with LF line ends, UTF-8."""
    _write(path, takes, _TAKE_FIELDS)


def write_room_attribution(path: Path, rooms: Sequence[Room]) -> None:
    """Write one row a room, as `write_attribution` does for takes."""
    _write(path, rooms, _ROOM_FIELDS)


def _write(path: Path, records: Sequence[Record], fields: Sequence[str]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    for row in sorted((record.to_json() for record in records), key=lambda row: str(row[fields[0]])):
        # authors, addresses and edits come from manifests and services
        cells = ["; ".join(row[field]) if field == "edits" else str(row[field]) for field in fields]
        writer.writerow([no_formula(cell.replace("\r", " ")) for cell in cells])
    write_bytes(path, text.getvalue().encode("utf-8"))
