"""params.yaml, read once and validated: an unknown key or a value out of range is an error with its name.

Each family owns the schema of its section; this module knows only the names of the sections, so that a misspelt section
is found even by a stage that does not read it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml

from cares.core.errors import InputError
from cares.core.record import Record

SECTIONS = (
    "seed", "models", "llm", "allocation", "sounds", "rooms", "calibration", "topics", "dialogues",
    "speech", "align", "timeline", "mix", "breaks", "audit", "items", "bench", "report",
)  # fmt: skip

P = TypeVar("P", bound=Record)


class Params:
    """The parsed file.

    Args:
        path: the file, as the user named it.

    Raises:
        InputError: the file is missing, is not UTF-8 or YAML, repeats a key, or has an unknown section.
    """

    def __init__(self, path: Path = Path("params.yaml")) -> None:
        self.path = path
        data = _load(path, "the parameters of the pipeline")
        if not isinstance(data, dict):
            raise InputError(path, "", data, "a mapping of sections")
        for name in data:
            if name not in SECTIONS:
                raise InputError(path, str(name), data[name], f"one of the sections {', '.join(SECTIONS)}")
        self._data = data

    @property
    def seed(self) -> int:
        """The data set's seed, the root of every keyed draw."""
        seed = self._data.get("seed")
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise InputError(self.path, "seed", seed, "a whole number of at least 0")
        return seed

    def section(self, name: str, schema: type[P]) -> P:
        """The section `name`, validated against its family's schema."""
        if name not in self._data:
            raise InputError(self.path, name, "no such section", "this section to be present")
        return schema.parse(self._data[name], self.path, name)


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML that refuses a repeated key, which plain YAML would silently let win."""


def _mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
    seen: set[object] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"key {key!r} occurs twice", key_node.start_mark)
        seen.add(key)
    return yaml.SafeLoader.construct_mapping(loader, node, deep=True)


_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(path: Path) -> object:
    """Any other YAML file of the project, with the same strictness about repeated keys."""
    return _load(path, "a YAML file")


def _load(path: Path, expected: str) -> object:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _UniqueKeyLoader)
    except FileNotFoundError:
        raise InputError(path, "", "no such file", expected) from None
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", error.object[error.start], "UTF-8 text") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InputError(path, where, error.problem or error.context, "valid YAML") from None
    except yaml.YAMLError as error:
        raise InputError(path, "", str(error).replace("\n", " "), "valid YAML") from None
