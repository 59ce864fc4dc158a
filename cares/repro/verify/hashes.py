"""DVC's hashes, computed without DVC: MD5 of a file, and of a folder's list of files."""

from __future__ import annotations

import hashlib
import json
from fnmatch import fnmatch
from pathlib import Path

from cares.remotes.cached import md5_of

# a file's MD5 by its path inside an out; a single file has the path ""
Listing = dict[str, str]


def listing(path: Path, ignored: tuple[str, ...] = ()) -> Listing:
    """Every file of a folder, or the file itself.

    Args:
        path: a file or folder that is there.
        ignored: patterns of .dvcignore; a name on the way to a file that matches one leaves it out.
    """
    if path.is_file():
        return {"": md5_of(path)}
    found = {}
    for file in sorted(path.rglob("*")):
        relative = file.relative_to(path)
        if file.is_file() and not any(fnmatch(part, pattern) for part in relative.parts for pattern in ignored):
            found[relative.as_posix()] = md5_of(file)
    return found


def combined(files: Listing) -> str:
    """The hash that dvc.lock has for what consists of these files: a file's own, or that of the list, with .dir."""
    if set(files) == {""}:
        return files[""]
    rows = [{"md5": files[name], "relpath": name} for name in sorted(files)]
    text = json.dumps(rows, sort_keys=True)
    return f"{hashlib.md5(text.encode('utf-8'), usedforsecurity=False).hexdigest()}.dir"


def ignored_patterns(root: Path) -> tuple[str, ...]:
    """The plain names and patterns of .dvcignore."""
    path = root / ".dvcignore"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return tuple(line.strip().strip("/") for line in lines if line.strip() and not line.startswith("#"))
