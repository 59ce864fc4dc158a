"""Measured rooms: impulse responses of a folder, their direct sound found and put at the first sample."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import soxr
from numpy.typing import NDArray

from cares.catalog.types import Location
from cares.core.canonical import file_digest
from cares.core.pcm import SAMPLE_RATE
from cares.records.bank import Response, Room
from cares.records.scene import SPLITS, Split
from cares.sounds.decode import decode
from cares.sounds.manifest import Row, locate, read_manifest
from cares.sounds.params import TakeCounts
from cares.sounds.quality import Fault, UnusableError
from cares.sounds.room_params import RoomsParams
from cares.sounds.rooms import BuiltRoom, in_ms, mid
from cares.sounds.rooms_acoustics import measured_seconds, quantised, ratio_db
from cares.sounds.splits import Member, assign_splits, chosen

FIELDS = ("location", "room", "role", "path", "licence", "author", "url", "start_s", "end_s", "split", "edits")
MEASURED = "measured"
Role = Literal["A", "B", "event"]
_ROLES: tuple[Role, ...] = ("A", "B", "event")
_ONSET = 0.1
_PEAK_WITHIN = round(0.001 * SAMPLE_RATE)
_DIRECT = round(0.0025 * SAMPLE_RATE)
_LONGEST_S = 30.0
_LATE_MS = 400


class _Measured(NamedTuple):
    """A row of the manifest: the room that it is of, its role or None for any, and its file."""

    row: Row
    location: str
    room: str
    role: Role | None
    file: Path
    split: Split | None


def measured_rooms(
    folder: Path, locations: Sequence[Location], params: RoomsParams, seed: int
) -> dict[str, list[BuiltRoom]]:
    """The rooms of every location of which the folder has one for every split, at most `per_split` in each.

    All responses of one `room` go to one split, also where several locations use them.

    Raises:
        InputError: a row is not as it should be, or a response cannot be used; it names file, line, field and value.
    """
    rows = [_read(folder, row, locations) for row in read_manifest(folder, FIELDS)]
    _check_rows(rows)
    members = [(Member(each.location, each.room, each.split), each.room) for each in rows]
    split_of = assign_splits([member for member, _ in members], seed)
    counts = TakeCounts(train=params.per_split, validation=params.per_split, test=params.per_split)
    found: dict[str, list[BuiltRoom]] = {}
    for location in locations:
        own = {room: member for member, room in members if member.name == location.id}
        numbers = dict.fromkeys(SPLITS, 0)
        for split, room in chosen([(member, room) for room, member in own.items()], split_of, counts, seed):
            number, numbers[split] = numbers[split], numbers[split] + 1
            room_id = f"{location.id}-{split}" + (f"-{number:02d}" if number else "")
            parts = [each for each in rows if (each.location, each.room) == (location.id, room)]
            found.setdefault(location.id, []).append(_build(room_id, split, parts, params))
    return found


def align(response: NDArray[np.float64]) -> NDArray[np.float64]:
    """The response [T] from its direct sound on, which is scaled to 1.

    The direct sound starts at the first sample within 20 dB of the largest (ISO 3382-1:2009, A.3.4): sound card, time
    of flight and silence before it are removed, so that words stay where the alignment says, to within a millisecond.

    Raises:
        UnusableError: it has no sample, one that is not finite, or none that is not silence.
    """
    if len(response) == 0:
        raise UnusableError(Fault("empty", "no sample", "an impulse response"))
    if not np.isfinite(response).all():
        raise UnusableError(Fault("not_finite", "samples that are NaN or infinite", "finite numbers"))
    size = np.abs(response)
    largest = float(size.max())
    if largest < 1e-6:
        raise UnusableError(Fault("silent", f"a largest sample of {largest:.1e}", "an impulse response"))
    start = int(np.argmax(size >= _ONSET * largest))
    return np.asarray(response[start:] / float(size[start : start + _PEAK_WITHIN].max()), np.float64)


def _read(folder: Path, row: Row, locations: Sequence[Location]) -> _Measured:
    location = row.text("location", required=True)
    known = [each.id for each in locations]
    if location not in known:
        raise row.wrong("location", f"one of {', '.join(known)}")
    role = next((each for each in _ROLES if each == row.choice("role", _ROLES)), None)
    split = next((each for each in SPLITS if each == row.choice("split", SPLITS)), None)
    licence = row.licence()
    if licence.startswith("CC-BY") and not row.text("url"):
        raise row.wrong("url", f"where it is from, as {licence} asks")
    author = row.text("author", required=True)
    start, end = row.seconds("start_s"), row.seconds("end_s")
    if end is not None and end <= (start or 0.0):
        raise row.wrong("end_s", "a time after start_s")
    return _Measured(row, location, f"{author}: {row.text('room', required=True)}", role, locate(folder, row), split)


def _check_rows(rows: Sequence[_Measured]) -> None:
    """A room has one split, licence and address; at a location it has no response twice; no two rooms share a file."""
    first_of: dict[str, _Measured] = {}
    room_of: dict[str, _Measured] = {}
    line_of: dict[tuple[object, ...], int] = {}
    for each in rows:
        first = first_of.setdefault(each.room, each)
        same = f"as line {first.row.line} has for the same room"
        if first.split != each.split:
            raise each.row.wrong("split", f"{first.split or 'no split'}, {same}")
        if first.row.licence() != each.row.licence():
            raise each.row.wrong("licence", f"{first.row.licence()}, {same}")
        if first.row.text("url") != each.row.text("url"):
            raise each.row.wrong("url", f"{first.row.text('url') or 'none'}, {same}")
        digest = file_digest(each.file)
        owner = room_of.setdefault(digest, each)
        if owner.room != each.room:
            raise each.row.wrong("path", f"another response than that of another room in line {owner.row.line}")
        part = (each.location, digest, each.row.seconds("start_s"), each.row.seconds("end_s"))
        line = line_of.setdefault(part, each.row.line)
        if line != each.row.line:
            hint = "A row without a role serves for any."
            raise each.row.wrong("path", f"another response than that of line {line}", hint)


def _build(room_id: str, split: Split, parts: Sequence[_Measured], params: RoomsParams) -> BuiltRoom:
    exact, edits = [], list[str]()
    for each in parts:
        try:
            response, done = _response(each)
        except UnusableError as error:
            what = "; ".join(map(str, error.faults))
            raise each.row.wrong("path", f"an impulse response, but it is {what}") from None
        exact.append(response)
        edits.extend(done)
    taps = [quantised(response, params.max_seconds) for response in exact]
    offsets = np.cumsum([0, *map(len, taps)])
    responses = []
    for role in _ROLES:
        places = [index for index, each in enumerate(parts) if each.role == role]
        shared = [index for index, each in enumerate(parts) if each.role is None]
        if not places and not shared:
            raise parts[0].row.wrong("role", f"a response for {role} in the room too, or one without a role")
        # without roles, two speakers stand at two places if there are two
        places = places or (shared if role == "event" else [shared[(role == "B") % len(shared)]])
        for number, index in enumerate(places):
            ratio = ratio_db(exact[index][:_DIRECT], exact[index][_DIRECT:])
            responses.append(
                Response(
                    role=role,
                    index=number,
                    offset=int(offsets[index]),
                    n_samples=len(taps[index]),
                    direct_to_reverberant_cdb=round(100 * ratio),
                )
            )
    bands = in_ms(
        [float(np.median(column)) for column in zip(*(measured_seconds(r, _LATE_MS) for r in exact), strict=True)]
    )
    row = parts[0].row
    room = Room(
        room_id=room_id,
        location=parts[0].location,
        split=split,
        source=MEASURED,
        size_mm=(0, 0, 0),
        rt60_ms=mid(bands) or 0,
        responses=tuple(responses),
        rt60_measured_ms=mid(bands),
        rt60_bands_ms=bands,
        licence=row.licence(),
        author=row.text("author"),
        url=row.text("url"),
        edits=tuple(dict.fromkeys([*(text for each in parts for text in each.row.texts("edits")), *edits])),
    )
    return BuiltRoom(room, np.concatenate(taps))


def _response(each: _Measured) -> tuple[NDArray[np.float64], list[str]]:
    recording = decode(each.file.read_bytes())
    start, end = each.row.seconds("start_s") or 0.0, each.row.seconds("end_s")
    total = len(recording.channels)
    last = total if end is None else round(end * recording.rate)
    if last > total or last > _LONGEST_S * recording.rate:
        raise UnusableError(
            Fault("length", f"{total / recording.rate:.3f} s", f"at most {_LONGEST_S:g} s, or that part")
        )
    # of several microphones one is taken: their sum would comb
    channel = recording.channels[round(start * recording.rate) : last, 0]
    edits = [] if recording.channels.shape[1] == 1 else ["first channel taken"]
    if recording.rate != SAMPLE_RATE and len(channel) and np.isfinite(channel).all():
        # a response keeps its shape at every rate; the one extra sample holds what the filter spreads
        channel = np.asarray(soxr.resample(channel, recording.rate, SAMPLE_RATE, "VHQ"), np.float64)
        edits.append(f"resampled from {recording.rate} Hz")
    aligned = align(channel)
    if len(aligned) < len(channel):
        edits.append("delay before the direct sound removed")
    return aligned, edits
