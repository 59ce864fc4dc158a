"""Records: frozen, validated types with one canonical JSON form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from cares.core.canonical import Json, read_jsonl, write_jsonl
from cares.core.errors import InputError

R = TypeVar("R", bound="Record")


class Record(BaseModel):
    """Base of all records and parameter sections: immutable, no unknown keys, no NaN, no coercion of types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, protected_namespaces=())

    def to_json(self) -> Json:
        """The record as plain JSON values."""
        return self.model_dump(mode="json")

    @classmethod
    def parse(cls, value: Json, file: object, field: str = "") -> Self:
        """Validate `value`; InputError names file, field and value of the first fault."""
        try:
            # lax only in container types: JSON and YAML know lists, records hold tuples
            return cls.model_validate_json(_json(value))
        except ValidationError as error:
            # a misspelt key is two faults, an unknown key and a missing one: the unknown one tells more
            first = min(error.errors(include_url=False), key=lambda fault: fault["type"] != "extra_forbidden")
            path = ".".join(str(part) for part in (field, *first["loc"]) if part != "")
            raise InputError(file, path, first.get("input"), _expectation(first)) from None


def _json(value: Json) -> str:
    import json

    return json.dumps(value, allow_nan=True, default=str)


def _expectation(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return "no such key (unknown keys are errors; check the spelling)"
    if error["type"] == "missing":
        return "this key to be present"
    return str(error["msg"][0].lower() + error["msg"][1:])


def read_records(kind: type[R], path: Path) -> list[R]:
    """All records of a JSON Lines file; InputError names the line and field that is wrong."""
    return list(iter_records(kind, path))


def iter_records(kind: type[R], path: Path) -> Iterator[R]:
    """The records of a JSON Lines file one by one, as `read_records`; a file too large to be held takes no memory."""
    return (kind.parse(value, path, f"line {number}") for number, value in enumerate(read_jsonl(path), 1))


def write_records(path: Path, records: Iterable[Record]) -> int:
    """Write records as canonical JSON Lines, atomically; returns how many."""
    return write_jsonl(path, (record.to_json() for record in records))
