"""Names and paths that a record brings along, so that no record can lead out of the data set's folder.

Files of records are pulled, sent and edited; a name becomes part of a file's name, and a path is opened or linked.
Links are followed, because DVC may put links into its cache where the data are: what a file holds is checked by hash.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field

LONGEST = 120
_DRIVE = re.compile(r"[A-Za-z]:")

# Starts with a letter or digit, so that it is neither "..", nor hidden, nor an option of a command.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=LONGEST)]


def inside(path: str) -> str:
    """The path itself if it is relative, in forward slashes and stays in its folder; ValueError for any other."""
    expected = "a path from the root of the data set, without .. and with forward slashes"
    if not path or "\0" in path or "\\" in path or _DRIVE.match(path) or path.startswith("~"):
        raise ValueError(f"expected {expected}")
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts:
        raise ValueError(f"expected {expected}")
    return path


DataPath = Annotated[str, AfterValidator(inside)]
