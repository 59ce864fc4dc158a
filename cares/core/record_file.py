"""Records that stay in their file until they are asked for, and sequences whose items are made when they are.

10,000 scenes have millions of words; what a stage holds of them is where in the file each scene's line begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar, overload

from cares.core.canonical import read_line, read_lines
from cares.core.errors import InputError
from cares.core.record import Record

R = TypeVar("R", bound=Record)
K = TypeVar("K")
V = TypeVar("V")


class RecordFile(Mapping[str, R]):
    """The records of a JSON Lines file by an id; every look-up reads its line anew.

    Args:
        kind: the records' type.
        path: the file; it must not change while this object is used.
        key: the field that is the id.

    Raises:
        InputError: the file is missing, a line is not JSON or has no id, or an id occurs twice. A line whose record is
            not as it should be is found when it is asked for.
    """

    def __init__(self, kind: type[R], path: Path, key: str = "scene_id") -> None:
        self.path = path
        self._kind = kind
        self._places: dict[str, tuple[int, int, int]] = {}
        for number, (value, start, size) in enumerate(read_lines(path), 1):
            name = value.get(key) if isinstance(value, dict) else None
            if not isinstance(name, str):
                raise InputError(path, f"line {number}.{key}", name, "an id")
            if name in self._places:
                expected = f"an id that is not already in line {self._places[name][2]}"
                raise InputError(path, f"line {number}.{key}", name, expected)
            self._places[name] = start, size, number

    def __getitem__(self, name: str) -> R:
        """The record of an id; KeyError when there is none, InputError when its line is not as it should be."""
        start, size, number = self._places[name]
        with self.path.open("rb") as stream:
            stream.seek(start)
            line = stream.read(size)
        return self._kind.parse(read_line(line, self.path, number), self.path, f"line {number}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places


class LazyMapping(Mapping[str, V], Generic[R, V]):
    """Something of each record of a mapping, such as a `RecordFile`, made whenever it is asked for."""

    def __init__(self, records: Mapping[str, R], make: Callable[[R], V]) -> None:
        self._records, self._make = records, make

    def __getitem__(self, name: str) -> V:
        return self._make(self._records[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


class LazySequence(Sequence[V], Generic[K, V]):
    """As many items as keys, each made from its key whenever it is asked for; `stream_items` asks once."""

    def __init__(self, keys: Sequence[K], make: Callable[[K], V]) -> None:
        self._keys, self._make = keys, make

    @overload
    def __getitem__(self, place: int) -> V: ...
    @overload
    def __getitem__(self, place: slice) -> LazySequence[K, V]: ...
    def __getitem__(self, place: int | slice) -> V | LazySequence[K, V]:
        if isinstance(place, slice):
            return LazySequence(self._keys[place], self._make)
        return self._make(self._keys[place])

    def __len__(self) -> int:
        return len(self._keys)


def by_id(records: Mapping[str, R] | Iterable[R], key: str = "scene_id") -> Mapping[str, R]:
    """Records by their id; a mapping, such as a `RecordFile`, as it is."""
    if isinstance(records, Mapping):
        return records
    return {getattr(record, key): record for record in records}
