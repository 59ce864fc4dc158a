"""params.yaml with some values replaced for one run: KEY=VALUE, such as mix.duck_labels=behavioral."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from cares.core.errors import InputError
from cares.core.params import Params

_WHERE = "command line"


class ChangedParams(Params):
    """As `Params`, with `changes` applied.

    Args:
        path: params.yaml.
        changes: "section.key=value", deeper keys by more dots, or "seed=value"; the value is YAML.

    Raises:
        InputError: a change that is not of this form, or whose key params.yaml does not have.
    """

    def __init__(self, path: Path, changes: Sequence[str]) -> None:
        super().__init__(path)
        for change in changes:
            self._apply(change)

    def _apply(self, change: str) -> None:
        key, equals, text = change.partition("=")
        if not equals or not key:
            raise InputError(_WHERE, "--set", change, "KEY=VALUE, such as mix.duck_labels=behavioral")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            raise InputError(_WHERE, f"--set {key}", text, "a YAML value") from None
        *path, last = key.split(".")
        place: Any = self._data
        for part in path:
            place = place.get(part) if isinstance(place, dict) else None
        if not isinstance(place, dict) or last not in place:
            raise InputError(_WHERE, "--set", key, f"a key of {self.path}")
        place[last] = value
