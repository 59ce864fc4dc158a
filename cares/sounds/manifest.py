"""A folder of recordings and its manifest: manifest.csv or manifest.jsonl, one row a recording or a part of one.

Every fault is an error that names file, line, field and value, before any recording is read.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.sounds.licences import LICENCES, spdx

NAMES = ("manifest.csv", "manifest.jsonl")


class Row(NamedTuple):
    """A row as it was written: the place for messages, and its fields without those that are empty."""

    manifest: Path
    line: int
    values: dict[str, Any]

    def wrong(self, field: str, expected: str, hint: str = "") -> InputError:
        """The error that a field's value is."""
        return InputError(self.manifest, f"line {self.line}: {field}", self.values.get(field, ""), expected, hint)

    def text(self, field: str, required: bool = False) -> str:
        """A field of text, "" where it is absent; InputError when it is no text, or absent though `required`."""
        value = self.values.get(field, "")
        if not isinstance(value, str):
            raise self.wrong(field, "text")
        if required and not value:
            raise self.wrong(field, "a value")
        return value

    def seconds(self, field: str) -> float | None:
        """A field of seconds, None where it is absent; InputError unless it is a number of at least 0."""
        value = self.values.get(field)
        if value is None:
            return None
        try:
            number = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else -1.0
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf"):
            raise self.wrong(field, "seconds, a number of at least 0 such as 1.25")
        return number

    def choice(self, field: str, known: Sequence[str]) -> str | None:
        """A field whose value is one of `known`, None where it is absent."""
        value = self.text(field)
        if value and value not in known:
            raise self.wrong(field, f"one of {', '.join(known)}")
        return value or None

    def licence(self) -> str:
        """The field `licence` as an SPDX identifier; InputError for any that does not let the sound be passed on."""
        found = spdx(self.text("licence", required=True))
        if found is None:
            raise self.wrong("licence", f"one of {', '.join(LICENCES)}", "Others do not permit to pass the sound on.")
        return found

    def texts(self, field: str) -> tuple[str, ...]:
        """A field of several texts: a list in JSON, separated by semicolons in CSV."""
        value = self.values.get(field, "")
        items = value.split(";") if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise self.wrong(field, "text, or a list of texts")
        return tuple(item.strip() for item in items if item.strip())


def read_manifest(folder: Path, fields: Sequence[str]) -> list[Row]:
    """The rows of the manifest in `folder`, whose fields are out of `fields`.

    Raises:
        InputError: there is no manifest or there are two, it is not UTF-8, a line is no row, a field is unknown or
            occurs twice, or a row is there twice.
    """
    there = [folder / name for name in NAMES if (folder / name).is_file()]
    if len(there) != 1:
        found = "both" if there else "no such file"
        raise InputError(folder / NAMES[0], "", found, f"one manifest, {' or '.join(NAMES)}", "See docs/sounds.md.")
    manifest = there[0]
    try:
        text = manifest.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(manifest, f"byte {error.start}", error.object[error.start], "UTF-8 text") from None
    rows = list(_csv(manifest, text, fields) if manifest.suffix == ".csv" else _jsonl(manifest, text, fields))
    lines: dict[str, int] = {}
    for row in rows:
        key = json.dumps(row.values, sort_keys=True)
        if key in lines:
            message = f"a row that differs from that of line {lines[key]}"
            raise InputError(manifest, f"line {row.line}", ", ".join(map(str, row.values.values())), message)
        lines[key] = row.line
    return rows


def locate(folder: Path, row: Row, field: str = "path") -> Path:
    """The file that a row names, below `folder`.

    Raises:
        InputError: the path is absolute, leaves the folder (by .. or a link), or is no file.
    """
    text = row.text(field, required=True)
    path, windows = PurePosixPath(text), PureWindowsPath(text)
    if path.is_absolute() or windows.drive or windows.root:
        raise row.wrong(field, "a path relative to the manifest's folder")
    if ".." in path.parts or ".." in windows.parts:
        raise row.wrong(field, "a path that does not leave the manifest's folder")
    if "\0" in text:
        raise row.wrong(field, "a path without a null character")
    for form in (text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)):
        file = folder / form
        if file.exists():
            if not file.resolve().is_relative_to(folder.resolve()):
                raise row.wrong(field, "a file inside the manifest's folder, not a link that leads out of it")
            if not file.is_file():
                raise row.wrong(field, "a file")
            return file
    hint = "Paths are written with forward slashes." if "\\" in text else ""
    raise row.wrong(field, "a file that exists", hint)


def _csv(manifest: Path, text: str, fields: Sequence[str]) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_fields(manifest, reader.line_num or 1, header, fields)
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if not any(cells):
                continue
            if len(cells) != len(header):
                expected = f"{len(header)} values, as the first line has"
                raise InputError(manifest, f"line {reader.line_num}", f"{len(cells)} values", expected)
            yield Row(manifest, reader.line_num, {n: c for n, c in zip(header, cells, strict=True) if c})
    except csv.Error as error:
        raise InputError(manifest, f"line {reader.line_num}", str(error), "comma-separated values") from None


def _jsonl(manifest: Path, text: str, fields: Sequence[str]) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            pairs: Json = json.loads(line, object_pairs_hook=list)
        except ValueError as error:
            raise InputError(manifest, f"line {number}", line[:80], f"valid JSON ({error})") from None
        if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
            raise InputError(manifest, f"line {number}", line[:80], "a JSON object")
        _check_fields(manifest, number, [name for name, _ in pairs], fields)
        values = {name: value.strip() if isinstance(value, str) else value for name, value in pairs}
        yield Row(manifest, number, {name: value for name, value in values.items() if value not in (None, "", [])})


def _check_fields(manifest: Path, line: int, names: Sequence[str], fields: Sequence[str]) -> None:
    for name in names:
        if name not in fields:
            raise InputError(manifest, f"line {line}", name, f"one of the fields {', '.join(fields)}")
    if len(set(names)) < len(names):
        raise InputError(manifest, f"line {line}", ", ".join(names), "every field only once")
    if not names:
        raise InputError(manifest, f"line {line}", "", f"some of the fields {', '.join(fields)}")
