"""Annotations of several people, read from CSV or JSON Lines files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cares.core.canonical import Json, read_jsonl
from cares.core.errors import InputError

COLUMNS = ("item_id", "annotator", "label")


class Annotation(NamedTuple):
    """What one annotator says of one item; `where` is file and line."""

    item_id: str
    annotator: str
    label: str
    where: str


def read_annotations(paths: Sequence[Path], known: Mapping[str, Sequence[str]] | None = None) -> list[Annotation]:
    """The annotations of all files together.

    A CSV file (UTF-8, comma, a header) or a JSON Lines file has item_id, annotator and label; further columns or keys
    are not read. An empty label is no annotation: the annotator left the item out.

    Args:
        paths: files that end in .csv or .jsonl.
        known: the labels that each item allows; None takes any item and label.

    Raises:
        InputError: a file is missing, is of another kind or lacks a column; an item is not known or a label is none of
            its own; or an annotator labels an item twice.
    """
    found: list[Annotation] = []
    seen: dict[tuple[str, str], str] = {}
    for path in paths:
        for where, row in _rows(path):
            annotation = _annotation(path, where, row)
            if not annotation.label:
                continue
            _check(path, where, annotation, known)
            key = (annotation.item_id, annotation.annotator)
            if key in seen:
                expected = f"one label an annotator and item; the other is in {seen[key]}"
                raise InputError(path, where, f"{annotation.annotator}, {annotation.item_id}", expected)
            seen[key] = f"{path}, {where}"
            found.append(annotation)
    return found


def _rows(path: Path) -> Iterator[tuple[str, Json]]:
    if path.suffix == ".jsonl":
        for number, value in enumerate(read_jsonl(path), 1):
            yield f"line {number}", value
        return
    if path.suffix != ".csv":
        raise InputError(path, "", path.suffix, "a file whose name ends in .csv or .jsonl")
    if not path.is_file():
        raise InputError(path, "", "no such file", "a CSV file")
    try:
        # a byte order mark is what spreadsheets put before the first column's name
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", error.object[error.start], "UTF-8 text") from None
    reader = csv.DictReader(text.splitlines())
    if not set(COLUMNS) <= set(reader.fieldnames or ()):
        raise InputError(path, "line 1", reader.fieldnames, f"the columns {', '.join(COLUMNS)}")
    for row in reader:
        yield f"line {reader.line_num}", row


def _annotation(path: Path, where: str, row: Json) -> Annotation:
    if not isinstance(row, Mapping):
        raise InputError(path, where, row, f"an object with {', '.join(COLUMNS)}")
    for name in COLUMNS:
        if not isinstance(row.get(name), str):
            raise InputError(path, f"{where}.{name}", row.get(name), "a text")
    item_id, annotator, label = (row[name].strip() for name in COLUMNS)
    for name, value in (("item_id", item_id), ("annotator", annotator)):
        if not value:
            raise InputError(path, f"{where}.{name}", value, "a text that is not empty")
    return Annotation(item_id, annotator, label, where)


def _check(path: Path, where: str, annotation: Annotation, known: Mapping[str, Sequence[str]] | None) -> None:
    if known is None:
        return
    if annotation.item_id not in known:
        raise InputError(path, f"{where}.item_id", annotation.item_id, "the id of an item")
    if annotation.label not in known[annotation.item_id]:
        expected = f"one of {', '.join(known[annotation.item_id])}"
        raise InputError(path, f"{where}.label", annotation.label, expected)
