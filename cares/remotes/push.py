"""`cares push`: the outs, and on demand the run-cache, to a remote."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cares.core.errors import CaresError
from cares.remotes.cached import Cache
from cares.remotes.project import SHOWN, Tracked, cached_outs, opened, remote_of
from cares.remotes.pull import workplaces

HTTP = ("http", "https")


class Pushed(NamedTuple):
    """What a push did.

    Attributes:
        remote: its name.
        sent: files that the remote did not have.
        files: files of the outs.
        runs: entries of the run-cache, None where they were not asked for.
    """

    remote: str
    sent: int
    files: int
    runs: int | None


def push(root: Path, runs: bool = False, remote: str | None = None, jobs: int | None = None) -> Pushed:
    """Push all outs, after each file of them was compared with its hash, so that no damaged one is spread.

    Args:
        root: of the repository.
        runs: the run-cache as well, with which another clone finds the outs of a stage by deps and params.
        remote: name of the remote; None for the default one.
        jobs: transfers at once.

    Raises:
        CaresError: no remote, one over HTTP for the run-cache, outs not there or damaged, an upload that fails.
    """
    with opened(root) as repo:
        found = remote_of(repo, remote)
        if runs and found.fs.protocol in HTTP:
            raise CaresError(
                f"remote {found.name}: HTTP remotes carry no run-cache; leave out --runs, or take a folder, S3 or SSH"
            )
        cache = Cache(repo)
        with workplaces(repo) as (work, _):
            outs = list(cached_outs(repo).values())
            lacking = _lacking(cache, outs, work)
            here = [out for out in outs if out not in lacking]
            files = [file for out in here if out.md5.endswith(".dir") for file in cache.listing(out)]
            lacking += _lacking(cache, files, work)
        if lacking:
            ways = "cares pull brings them, dvc repro makes them, and dvc push sends what is there"
            lines = [
                f"push: {len(lacking)} files of the outs are not in this clone; {ways}",
                *(file.path for file in lacking[:SHOWN]),
                *(f"found damaged and removed: {where}: {what}" for where, what in cache.damaged),
            ]
            raise CaresError("\n       ".join(lines))
        entries = _runs(cache) if runs else None
        sent = repo.push(remote=remote, jobs=jobs, run_cache=runs) - (entries or 0)
        plain = sum(not out.md5.endswith(".dir") for out in outs)
        return Pushed(found.name, sent, len(files) + plain, entries)


def _lacking(cache: Cache, files: list[Tracked], work: Path) -> list[Tracked]:
    return cache.holds_all(files, {file for file in files if cache.in_tree(file)}, work)


def _runs(cache: Cache) -> int:
    folder = Path(cache.repo.cache.legacy.path) / "runs"
    return sum(path.is_file() for path in folder.rglob("*"))
