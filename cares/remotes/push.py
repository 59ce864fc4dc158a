"""`cares push`: the outs, and on demand the run-cache, to a remote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import yaml

from cares.core.errors import CaresError
from cares.remotes.cached import Cache
from cares.remotes.project import SHOWN, Tracked, cached_outs, opened, remote_of
from cares.remotes.pull import workplaces

if TYPE_CHECKING:
    from dvc.repo import Repo

HTTP = ("http", "https")


class Pushed(NamedTuple):
    """What a push did.

    Attributes:
        remote: its name.
        sent: files that the remote did not have, those of other runs included.
        files: files of the outs.
        runs: entries of the run-cache that another clone can use, None where they were not asked for.
        useless: entries whose outs are not in the cache any more.
    """

    remote: str
    sent: int
    files: int
    runs: int | None
    useless: int


def push(root: Path, runs: bool = False, remote: str | None = None, jobs: int | None = None) -> Pushed:
    """Push all outs, after each file of them was compared with its hash, so that no damaged one is spread.

    Args:
        root: of the repository.
        runs: the run-cache as well, and the outs of its runs that are in the cache: with both another clone finds what
            a stage left by deps and params. DVC's own push leaves out the metrics and plots that Git keeps, without
            which no stage that has some is restored.
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
        usable, useless, others = _runs(cache) if runs else (None, 0, [])
        sent = repo.push(remote=remote, jobs=jobs, run_cache=runs) - (usable or 0) - useless
        if others:
            sent += _send(repo, others, remote, jobs)
        plain = sum(not out.md5.endswith(".dir") for out in outs)
        return Pushed(found.name, sent, len(files) + plain, usable, useless)


def _lacking(cache: Cache, files: list[Tracked], work: Path) -> list[Tracked]:
    return cache.holds_all(files, {file for file in files if cache.in_tree(file)}, work)


def _runs(cache: Cache) -> tuple[int, int, list[Tracked]]:
    """The run-cache: entries whose outs are all in the cache, other entries, and the outs of the first kind."""
    usable = useless = 0
    found: dict[str, Tracked] = {}
    for path in sorted((Path(cache.repo.cache.legacy.path) / "runs").rglob("*")):
        if not path.is_file():
            continue
        files = _outs_of(cache, path)
        if files is None:
            useless += 1
        else:
            usable += 1
            found.update((file.md5, file) for file in files)
    return usable, useless, list(found.values())


def _outs_of(cache: Cache, entry: Path) -> list[Tracked] | None:
    """The files of a run's outs with the listings of its folders; None when the cache lacks one, or has it damaged."""
    try:
        outs = [Tracked(out["path"], out["md5"]) for out in yaml.safe_load(entry.read_bytes())["outs"]]
    except (yaml.YAMLError, KeyError, TypeError):
        return None  # of another version of DVC
    found = []
    for out in outs:
        if not cache.holds(out):
            return None
        found.append(out)
        if out.md5.endswith(".dir"):
            files = cache.listing(out)
            if not all(cache.holds(file) for file in files):
                return None
            found += files
    return found


def _send(repo: Repo, files: list[Tracked], remote: str | None, jobs: int | None) -> int:
    """Send files of the cache that the remote lacks; returns how many. CaresError when one does not arrive."""
    from dvc_data.hashfile.hash_info import HashInfo

    done = repo.cloud.push([HashInfo("md5", file.md5) for file in files], jobs=jobs, remote=remote)
    if done.failed:
        raise CaresError(f"push: {len(done.failed)} files of the run-cache did not arrive; run the same command again")
    return len(done.transferred)
