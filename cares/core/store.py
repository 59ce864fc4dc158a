"""The item store: every per-item result under a key of its inputs, so that a killed stage resumes where it was.

An entry is one file: a header line (size of the JSON, key, SHA-256 of what follows, and a SHA-256 of these three), the
result's canonical JSON, then optional raw bytes. It is written atomically and checked when read; a damaged entry, or
one of another key, counts as absent, is reported on stderr and made again.
"""

from __future__ import annotations

import errno
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
            return _parsed(path.read_bytes(), key)
        except FileNotFoundError:
            return None
        except ValueError as error:
            problem = str(error)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            problem = "it cannot be read"
        print(f"store: {path} is damaged ({problem}); it is made again", file=sys.stderr)
        return None

    def put(self, key: str, value: Json, blob: bytes = b"") -> Entry:
        """Keep a result; returns what `get` will return, so that fresh and resumed runs see the same value."""
        text = dumps(value).encode("utf-8")
        body = text + blob
        facts = {"json": len(text), "key": key, "sha256": hashlib.sha256(body).hexdigest()}
        header = dumps({**facts, "header": digest(facts)}).encode("ascii")
        write_bytes(self.path(key), header + b"\n" + body)
        return Entry(json.loads(text), blob)


def _parsed(data: bytes, key: str) -> Entry:
    """An entry's content; ValueError says what is wrong with it.

    Entries of earlier versions have no key and no sum of their header; their JSON has to be canonical instead, so that
    a header that cuts it elsewhere is noticed.
    """
    head, line_feed, body = data.partition(b"\n")
    if not line_feed:
        raise ValueError("empty" if not head else "no whole header")
    header = json.loads(head)
    if not isinstance(header, dict) or not {"json", "sha256"} <= header.keys():
        raise ValueError("no header")
    if "header" in header and digest({n: v for n, v in header.items() if n != "header"}) != header["header"]:
        raise ValueError("the header's hash differs")
    if header.get("key", key) != key:
        raise ValueError("it belongs to another key")
    if hashlib.sha256(body).hexdigest() != header["sha256"]:
        raise ValueError("hash differs")
    size = header["json"]
    if type(size) is not int or not 0 < size <= len(body):
        raise ValueError("the header's size is wrong")
    value = json.loads(body[:size])
    if "header" not in header and dumps(value).encode("utf-8") != body[:size]:
        raise ValueError("the header's size is wrong")
    return Entry(value, body[size:])


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
