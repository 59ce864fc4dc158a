"""Canonical JSON: one byte sequence for one value, so that a hash of a record is a hash of its meaning.

Sorted keys, no spaces, UTF-8 without escapes, LF line ends, no NaN and no infinity (RFC 8259 knows neither).
Numbers are written by Python's shortest round-trip `repr`, which is the same on every platform with IEEE 754 doubles.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cares.core.atomic import replace_file, write_bytes
from cares.core.errors import InputError

Json = Any


def dumps(value: Json) -> str:
    """Canonical text of a JSON value, without a final line feed; ValueError on NaN or infinity."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def digest(value: Json) -> str:
    """SHA-256 (hex) of a value's canonical text."""
    return hashlib.sha256(dumps(value).encode("utf-8")).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_json(path: Path, value: Json) -> None:
    """Write one value, indented for people, keys sorted; atomically."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1)
    write_bytes(path, (text + "\n").encode("utf-8"))


def read_json(path: Path) -> Json:
    """Read one JSON value; InputError with the line where it breaks, or when the file is missing."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(path, "", "no such file", "a JSON file") from None
    except ValueError as error:
        raise InputError(path, "", str(error), "valid JSON") from None


def write_jsonl(path: Path, values: Iterable[Json]) -> int:
    """Write one canonical line a value, atomically; returns the number of lines.

    Values are taken and written one by one, so a generator of any length takes no memory; one that raises leaves the
    old file as it was.
    """
    count = 0
    with replace_file(path) as stream:
        for value in values:
            stream.write((dumps(value) + "\n").encode("utf-8"))
            count += 1
    return count


def read_jsonl(path: Path) -> Iterator[Json]:
    """Yield the value of each line; InputError names the line that is not valid JSON."""
    return (value for value, _, _ in read_lines(path))


def read_lines(path: Path) -> Iterator[tuple[Json, int, int]]:
    """As `read_jsonl`, each value with the first byte of its line and the line's size in bytes."""
    if not path.is_file():
        raise InputError(path, "", "no such file", "a JSON Lines file", "Run the stage that makes it: dvc repro.")
    start = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            yield read_line(line, path, number), start, len(line)
            start += len(line)


def read_line(line: bytes, path: Path, number: int) -> Json:
    """The value of one line; InputError names it when it is not valid JSON."""
    try:
        return json.loads(line)
    except ValueError as error:
        raise InputError(path, f"line {number}", line[:80], f"valid JSON ({error})") from None
