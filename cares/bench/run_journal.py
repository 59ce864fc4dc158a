"""Answers kept as they come, in a file that only grows: a killed run asks nothing twice.

One canonical JSON line an answer, flushed to disk before the next question counts as answered. A line that a kill or a
full disk has cut is dropped when the file is opened again. One process at a time writes it.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from cares.bench.systems_audio import FILTERED
from cares.core.canonical import Json, dumps
from cares.core.errors import CaresError
from cares.llm.types import ChatAnswer


class Kept(NamedTuple):
    """An answer and how long it took."""

    answer: ChatAnswer
    milliseconds: int


class Journal:
    """The file; use as a context manager.

    Args:
        path: where it is; made with its folder if absent.

    Raises:
        CaresError: another process has it open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise CaresError(
                f"{path}: another run writes its answers here; wait for it, or use another folder"
            ) from None
        self._kept: dict[str, Kept] = {}
        self._read()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def get(self, key: str) -> Kept | None:
        """What was kept under a key; None when nothing was."""
        return self._kept.get(key)

    def put(self, key: str, answer: ChatAnswer, milliseconds: int) -> None:
        """Keep an answer; it is on disk when this returns.

        One that failed is not kept, and so is asked again; that a filter held it back is an answer.
        """
        if answer.finish_reason == "error" and answer.error != FILTERED:
            return
        self._kept[key] = Kept(answer, milliseconds)
        line = dumps({"answer": answer.to_json(), "key": key, "milliseconds": milliseconds}) + "\n"
        self._file.write(line.encode("utf-8"))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self) -> None:
        self._file.seek(0)
        end = 0
        for line in self._file:
            try:
                value: Json = json.loads(line)
                if not line.endswith(b"\n"):
                    raise ValueError("the line is cut")
                answer = ChatAnswer.parse(value["answer"], self.path)
                self._kept[value["key"]] = Kept(answer, int(value["milliseconds"]))
            except (ValueError, KeyError, TypeError, RecursionError, CaresError):
                print(f"{self.path}: a damaged line is dropped; its question is asked again", file=sys.stderr)
            if line.endswith(b"\n"):
                end += len(line)
        # a cut last line would be glued to the next one
        self._file.truncate(end)
        self._file.seek(0, os.SEEK_END)
