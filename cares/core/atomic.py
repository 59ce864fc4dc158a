"""Files and folders that appear whole or not at all.

DVC's cached outs are read-only links, so nothing is ever written in place: a temporary sibling is written, flushed to
disk and renamed. A killed process leaves at most a temporary file, which the next run removes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def write_bytes(path: Path, data: bytes) -> None:
    """Replace `path` by `data`, creating its folder; OSError (disk full, read-only) leaves the old file as it was."""
    with replace_file(path) as stream:
        stream.write(data)


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a temporary sibling of `path`, open for writing; it replaces `path` on success, else it is removed.

    For what is too large to be held: else `write_bytes`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        if error.filename not in (None, name):  # of another file, from which this one is made
            raise
        # a write that finds the disk full does not say of which file
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def replace_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary sibling of `path` to fill; it replaces `path` on success, else it is removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for stale in path.parent.glob(f".{path.name}.*.part"):
        shutil.rmtree(stale, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    try:
        yield work
        work.chmod(0o777 & ~_umask())
        if path.exists():
            shutil.rmtree(path)
        work.replace(path)
    finally:
        if work.exists():
            shutil.rmtree(work, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
