"""The repository as DVC knows it: its outs, the files in them, its remotes; DVC's errors become ours."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cares.core.errors import CaresError

if TYPE_CHECKING:
    from dvc.repo import Repo

SHOWN = 10
MD5 = re.compile(r"[0-9a-f]{32}(\.dir)?")


class Tracked(NamedTuple):
    """A file that dvc.lock stands for.

    Attributes:
        path: from the root of the repository, with slashes.
        md5: of its bytes, hexadecimal; that of a folder's listing ends in ".dir".
    """

    path: str
    md5: str


@contextmanager
def opened(root: Path) -> Iterator[Repo]:
    """The repository at `root`, locked against every other DVC command.

    Raises:
        CaresError: it is none of DVC's, another command holds its lock, or DVC fails in the block; without keys.
    """
    from dvc.exceptions import DvcException
    from dvc.repo import Repo, lock_repo

    with _heard() as told:
        try:
            with Repo(str(root)) as repo, lock_repo(repo):
                yield repo
        except DvcException as error:
            raise CaresError(without_keys("\n       ".join([f"dvc: {error}", *told[:SHOWN]]))) from None


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What DVC's libraries warn of is collected, with its reason, and not printed with a traceback."""
    told: list[str] = []

    class Listen(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            error = record.exc_info[1] if record.exc_info else None
            told.append(record.getMessage() + (f": {type(error).__name__}: {error}" if error else ""))

    listen = Listen(logging.WARNING)
    loggers = [logging.getLogger(name) for name in ("dvc", "dvc_data", "dvc_objects")]
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(listen)
        logger.propagate = False
    try:
        yield told
    finally:
        for logger, propagate in zip(loggers, before, strict=True):
            logger.removeHandler(listen)
            logger.propagate = propagate


def without_keys(text: str) -> str:
    """A message without the user and password, and without the query, of every address in it."""
    hidden = re.sub(r"(\w+://)[^/\s@'\"]*@", r"\1…@", text)
    return re.sub(r"(\w+://[^\s?'\"]+)\?[^\s'\"]*", r"\1?…", hidden)


def cached_outs(repo: Repo) -> dict[str, Tracked]:
    """The outs that lie in DVC's cache, by path; CaresError when dvc.lock does not know one or knows it by no md5."""
    found = {}
    for out in repo.index.outs:
        if not (out.use_cache and out.is_in_repo):
            continue
        path = Path(out.fs_path).relative_to(repo.root_dir).as_posix()
        value = out.hash_info.value if out.hash_info else None
        if value is None:
            raise CaresError(
                f"dvc.lock: no hash of {path}, which dvc.yaml names; run dvc repro, or take the lock of Git"
            )
        if out.hash_name != "md5" or not MD5.fullmatch(value):
            raise CaresError(f"dvc.lock: {path} has the {out.hash_name} {value!r}, expected an md5; run dvc repro")
        found[path] = Tracked(path, value)
    return dict(sorted(found.items()))


def remote_of(repo: Repo, name: str | None) -> Any:
    """DVC's remote of that name, or the default one.

    Raises:
        CaresError: there is none, its package is not installed, or it keeps files under other names than hashes.
    """
    from dvc.config import ConfigError, NoRemoteError
    from dvc.exceptions import DvcException

    try:
        remote = repo.cloud.get_remote(name)
    except NoRemoteError:
        known = ", ".join(sorted(repo.config["remote"])) or "none"
        raise CaresError(
            f".dvc/config: no default remote (known remotes: {known}). Name one with --remote, or add one: "
            "dvc remote add --default store /path/to/a/folder (docs/sharing.md)"
        ) from None
    except (ConfigError, DvcException) as error:
        raise CaresError(without_keys(f".dvc/config: remote {name or 'default'}: {error}{_package(error)}")) from None
    if remote.worktree or getattr(remote.fs, "version_aware", False):
        raise CaresError(f".dvc/config: remote {remote.name} keeps versions, not hashes; take dvc pull and dvc push")
    return remote


def _package(error: Exception) -> str:
    scheme = re.search(r"\b(s3|ssh)\b", str(error))
    return f'. Perhaps: pip install -e ".[{scheme[1]}]" -c constraints.txt' if scheme else ""
