"""The source `folder`: recordings of a local folder, listed in its manifest."""

from __future__ import annotations

from pathlib import Path

from cares.catalog.catalog import Catalog
from cares.core.canonical import file_digest
from cares.core.errors import InputError
from cares.records.scene import SPLITS, Split
from cares.sounds.manifest import Row, locate, read_manifest
from cares.sounds.prepare import Part
from cares.sounds.recorded import InFile, RecordedSource, Recording
from cares.sounds.source import Kind, Provenance

FIELDS = (
    "sound", "location", "path", "licence", "author", "url", "start_s", "end_s", "recording", "split", "edits",
)  # fmt: skip


def open_folder(folder: Path, catalog: Catalog, seed: int) -> RecordedSource:
    """The recordings that the manifest of `folder` lists.

    Rows of one file, and rows of one author with the same `recording`, are one recording: its parts stay in one split.

    Raises:
        InputError: a field of the manifest is not as it should be; it names file, line, field and value.
    """
    rows = read_manifest(folder, FIELDS)
    recordings = []
    lines: dict[str, int] = {}
    digests: dict[Path, str] = {}
    for row in rows:
        recording = _recording(folder, row, catalog, digests)
        if (first := lines.setdefault(recording.key, row.line)) != row.line:
            raise row.wrong("path", f"another recording, or part of it, than line {first} has")
        recordings.append(recording)
    return RecordedSource("folder", tuple(_with_groups(rows, recordings)), seed)


def _recording(folder: Path, row: Row, catalog: Catalog, digests: dict[Path, str]) -> Recording:
    kind, name = _subject(row, catalog)
    file = locate(folder, row)
    if file not in digests:
        digests[file] = file_digest(file)
    part = Part(row.seconds("start_s"), row.seconds("end_s"))
    if part.end_s is not None and part.end_s <= (part.start_s or 0.0):
        raise row.wrong("end_s", "a time after start_s")
    licence, url = row.licence(), row.text("url")
    if licence.startswith("CC-BY") and not url:
        raise row.wrong("url", f"where it is from, as {licence} asks")
    provenance = Provenance("folder", licence, row.text("author", required=True), url, row.texts("edits"))
    split: Split | None = None
    if wanted := row.choice("split", SPLITS):
        split = next(each for each in SPLITS if each == wanted)
    origin = f"{row.manifest.as_posix()}: line {row.line}: {row.text('path')}"
    return Recording(kind, name, InFile(file), digests[file], part, provenance, "", split, origin)


def _subject(row: Row, catalog: Catalog) -> tuple[Kind, str]:
    sound, location = row.text("sound"), row.text("location")
    if bool(sound) == bool(location):
        expected = "either a sound, or the location whose ambience it is"
        raise row.wrong("location" if location else "sound", expected)
    if sound:
        if sound not in catalog.sounds:
            raise row.wrong("sound", "the id of a sound; all are listed by: cares sounds coverage")
        return "event", sound
    if location not in catalog.locations:
        raise row.wrong("location", f"one of {', '.join(catalog.locations)}")
    return "ambience", location


def _with_groups(rows: list[Row], recordings: list[Recording]) -> list[Recording]:
    """The recordings, each with the group that it shares with all that come from the same file or recording."""
    group_of: dict[str, str] = {}
    for row, recording in zip(rows, recordings, strict=True):
        marks = [recording.sha256]
        if label := row.text("recording"):
            marks.append(f"{recording.provenance.author}: {label}")
        joined = {group_of[mark] for mark in marks if mark in group_of}
        group = min(joined | {min(marks)})
        if len(joined) > 1:
            group_of |= {mark: group for mark, other in group_of.items() if other in joined}
        group_of |= dict.fromkeys(marks, group)
    done = [recording._replace(group=group_of[recording.sha256]) for recording in recordings]
    fixed: dict[str, Row] = {}
    for row, recording in zip(rows, done, strict=True):
        if recording.split is None:
            continue
        first = fixed.setdefault(recording.group, row)
        if first.values["split"] != row.values["split"]:
            expected = f"{first.values['split']}, as line {first.line} has for the same recording"
            raise InputError(row.manifest, f"line {row.line}: split", row.values["split"], expected)
    return done
