"""What a worker process of a stage holds between items: made once, before the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

T = TypeVar("T")
_held: dict[type, Any] = {}


def set_up(kind: Callable[..., T], *values: object) -> None:
    """Make the one object of this class that the process holds; for `map_items`, as its `setup`."""
    _held[cast(type, kind)] = kind(*values)


def held(kind: type[T]) -> T:
    """The object of this class that `set_up` made."""
    return cast(T, _held[kind])
