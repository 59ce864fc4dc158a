"""The item store: every per-item result under a key of its inputs, so that a killed stage resumes where it was.

An entry is one file: a header line (sizes and SHA-256), the result's canonical JSON, then optional raw bytes. It is
written atomically and checked when read; a damaged entry counts as absent, is reported on stderr and made again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cares.core.atomic import write_bytes
from cares.core.canonical import Json, digest, dumps
from cares.core.paths import store_root


class Entry(NamedTuple):
    """A stored result: a JSON value and, for audio or arrays, raw bytes."""

    value: Json
    blob: bytes


class ItemStore:
    """Results of one family of work, such as "dialogue" or "speech".

    Args:
        family: folder name inside the store.
        root: the store's folder; by default the repository's (see `cares.core.paths.store_root`).
    """

    def __init__(self, family: str, root: Path | None = None) -> None:
        self._folder = (root or store_root()) / family

    def path(self, key: str) -> Path:
        """Where the entry of `key` (64 hex digits) lies or would lie."""
        return self._folder / key[:2] / key

    def get(self, key: str) -> Entry | None:
        """The entry of `key`, or None when it is absent or damaged."""
        path = self.path(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            head, body = data.split(b"\n", 1)
            header = json.loads(head)
            if hashlib.sha256(body).hexdigest() != header["sha256"]:
                raise ValueError("hash differs")
            size = header["json"]
            return Entry(json.loads(body[:size]), body[size:])
        except (ValueError, KeyError, TypeError) as error:
            print(f"store: {path} is damaged ({error}); it is made again", file=sys.stderr)
            return None

    def put(self, key: str, value: Json, blob: bytes = b"") -> Entry:
        """Keep a result; returns what `get` will return, so that fresh and resumed runs see the same value."""
        text = dumps(value).encode("utf-8")
        body = text + blob
        header = dumps({"json": len(text), "sha256": hashlib.sha256(body).hexdigest()}).encode("ascii")
        write_bytes(self.path(key), header + b"\n" + body)
        return Entry(json.loads(text), blob)


def item_key(**parts: Json) -> str:
    """The key of an item: SHA-256 of the canonical JSON of everything that its result depends on."""
    return digest(parts)


@cache
def source_digest(*packages: str) -> str:
    """SHA-256 over the Python files of packages such as "cares.speech": the code version that belongs in a key."""
    root = Path(__file__).resolve().parents[2]
    sums = {}
    for package in sorted(packages):
        place = root.joinpath(*package.split("."))
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
        for file in files:
            sums[file.relative_to(root).as_posix()] = hashlib.sha256(file.read_bytes()).hexdigest()
    return digest(sums)
