"""Files and folders that appear whole or not at all.

DVC's cached outs are read-only links, so nothing is ever written in place: a temporary sibling is written, flushed to
disk and renamed. Who writes holds a lock on the sibling, which ends with the process however it ends; so what a killed
process left is told from what a living one is writing, and is used again or removed by the next who writes there.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

# where a file system knows no locks, a temporary folder that old is nobody's
ABANDONED_SECONDS = 7 * 24 * 3600
_NO_LOCKS = {errno.EBADF, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


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
    part: Path | None = None
    try:
        handle, part = _own_part(path)
        try:
            os.ftruncate(handle, 0)
            with os.fdopen(handle, "wb", closefd=False) as stream:
                yield stream
            os.fsync(handle)
            part.chmod(0o666 & ~_umask())
            part.replace(path)
        except BaseException:
            _discard(part, handle)
            raise
        finally:
            os.close(handle)
    except OSError as error:
        if error.filename and part is not None and error.filename != str(part):
            raise  # of another file, from which this one is made
        # a write that finds the disk full does not say of which file, and an open names the temporary one
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextlib.contextmanager
def replace_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary sibling of `path` to fill; it replaces `path` on success, else it is removed.

    Two processes that do so at once each fill their own; the one that ends last leaves its folder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    work, lock = _own_folder(path)
    try:
        yield work
        work.chmod(0o777 & ~_umask())
        _put_in_place(work, path)
    finally:
        if work.exists():
            shutil.rmtree(work, ignore_errors=True)
        os.close(lock)


def remove_abandoned(folder: Path) -> list[Path]:
    """Remove every temporary file and folder below `folder` whose writer was killed; returns them."""
    removed = []
    for path in sorted(folder.rglob(".*.part")):
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue  # gone with the folder around it, or another user's
        if _lock(handle, path):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            removed.append(path)
        os.close(handle)
    return removed


def _own_part(path: Path) -> tuple[int, Path]:
    """A locked temporary sibling of a file: that of a killed writer is taken over, that of a living one is let be."""
    for number in itertools.count():
        part = path.with_name(f".{path.name}.{number}.part")
        try:
            handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except PermissionError:
            if not part.exists():
                raise
            continue  # another user's
        locked = _lock(handle, part)
        if locked:
            _remove_next(path, number + 1)
            return handle, part
        os.close(handle)
        if locked is None:
            break
    other, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    return other, Path(name)


def _remove_next(path: Path, number: int) -> None:
    """Remove what writers left that were killed while another wrote the same file."""
    while (part := path.with_name(f".{path.name}.{number}.part")).exists():
        with contextlib.suppress(OSError):
            handle = os.open(part, os.O_RDWR | os.O_NOFOLLOW)
            if _lock(handle, part):
                part.unlink()
            os.close(handle)
        number += 1


def _own_folder(path: Path) -> tuple[Path, int]:
    """A new empty locked sibling of a folder."""
    while True:
        work = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
        try:
            lock = os.open(work, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # taken for abandoned before it was locked
        if _lock(lock, work) is not False:
            return work, lock
        os.close(lock)


def _remove_abandoned(path: Path) -> None:
    for name in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        try:
            lock = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # a file, or gone
        locked = _lock(lock, name)
        if locked or (locked is None and time.time() - os.fstat(lock).st_mtime > ABANDONED_SECONDS):
            shutil.rmtree(name, ignore_errors=True)
        os.close(lock)


def _put_in_place(work: Path, path: Path) -> None:
    """Rename `work` to `path`. What lay there is renamed first and then removed, so it is never seen half removed."""
    while True:
        aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
        try:
            with contextlib.suppress(FileNotFoundError):
                path.rename(aside)
            work.rename(path)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                continue  # another process put its folder there in between
            _put_back(aside, path)
            raise
        except BaseException:
            _put_back(aside, path)
            raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return


def _put_back(aside: Path, path: Path) -> None:
    if aside.is_dir() and any(aside.iterdir()) and not path.exists():
        aside.rename(path)


def _lock(handle: int, path: Path) -> bool | None:
    """Lock an open temporary file or folder; False when it is another's or no longer at `path`, None without locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return None
        raise
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _discard(part: Path, handle: int) -> None:
    """Remove our temporary file; after it was renamed, the name may be another's."""
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(handle), part.stat()):
            part.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
