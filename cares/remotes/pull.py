"""`cares pull`: a part of the data set, or all of it, from a remote into this clone."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cares.core.errors import CaresError
from cares.remotes import choose
from cares.remotes.cached import Cache, Finding
from cares.remotes.download import fetch, megabytes
from cares.remotes.project import SHOWN, Tracked, cached_outs, opened, remote_of

if TYPE_CHECKING:
    from dvc.repo import Repo


class Pulled(NamedTuple):
    """What a pull did.

    Attributes:
        root: of the repository.
        files: all that was asked for and is there now.
        fetched: how many of them came from the remote now.
        size: the bytes that came.
        damaged: (where, what was wrong) of each file that was found damaged and made good.
        recordings: split -> how many recordings.
        partial: folders of which only a part is there.
        other: files that another version left in a folder of which files were asked for.
    """

    root: Path
    files: list[Tracked]
    fetched: int
    size: int
    damaged: list[Finding]
    recordings: dict[str, int]
    partial: list[str]
    other: list[str]


class _Pull:
    """One pull: what is fetched and found adds up."""

    def __init__(self, repo: Repo, remote: Any, jobs: int | None, in_cache: Path, in_tree: Path) -> None:
        self.root = Path(repo.root_dir)
        self.cache = Cache(repo)
        self.remote, self.jobs, self.in_cache, self.in_tree = remote, jobs, in_cache, in_tree
        self.outs = cached_outs(repo)
        self.listings: dict[str, list[Tracked]] = {}
        self.files: dict[str, Tracked] = {}
        self.fetched = self.size = 0

    def folder(self, names: Sequence[str]) -> dict[str, Tracked]:
        """All files of these outs, by path; the listing of a folder is fetched when it is not there."""
        folders = [self.outs[name] for name in names if self.outs[name].md5.endswith(".dir")]
        self._into_cache([folder for folder in folders if folder.path not in self.listings], "listings")
        for folder in folders:
            self.listings.setdefault(folder.path, self.cache.listing(folder))
        found = {name: self.outs[name] for name in names if name not in self.listings}
        found.update((file.path, file) for name in names for file in self.listings.get(name, ()))
        return found

    def bring(self, files: Sequence[Tracked], what: str) -> None:
        """Fetch what is missing, and place what the tree lacks or has damaged; CaresError when the remote fails."""
        right = {file for file in files if self.cache.in_tree(file, remove=True)}
        failure = None
        try:
            self.fetched += self._into_cache(files, what, right)
        except CaresError as error:
            failure = error
        here = [file for file in files if failure is None or self.cache.path(file.md5).is_file()]
        self.cache.place([file for file in here if file not in right], self.in_tree)
        self.files.update((file.path, file) for file in here)
        if failure is not None:
            raise failure

    def _into_cache(self, files: Sequence[Tracked], what: str, right: Collection[Tracked] = ()) -> int:
        """See that the cache has files; returns how many came from the remote."""
        missing = self.cache.holds_all(files, right, self.in_cache)
        if not missing:
            return 0
        came = fetch(self.remote, self.cache, missing, self.in_cache, self.jobs, what)
        self.size += came.size
        if came.failed:
            count = f"{len(came.failed)} of {len(missing)} files did not come"
            lines = [
                f"remote {self.remote.name}: {count}; what came is kept, and the same command goes on",
                *(f"{file.path} ({file.md5}): {why}" for file, why in list(came.failed.items())[:SHOWN]),
                *(f"found damaged and removed: {where}: {what}" for where, what in self.cache.damaged),
            ]
            if len(came.failed) > SHOWN:
                lines.insert(SHOWN + 1, f"and {len(came.failed) - SHOWN} more")
            raise CaresError("\n       ".join(lines))
        return came.files


def pull(
    root: Path, splits: Sequence[str] = (), metadata: bool = False, remote: str | None = None, jobs: int | None = None
) -> Pulled:
    """Bring the scenes of splits with what scoring them needs, the metadata, both, or with neither asked for all.

    Every file that is asked for is read and compared with its hash in dvc.lock, wherever it lies; a damaged one is
    removed from cache and tree and fetched again. Interrupted, the same call goes on where it was.

    Args:
        root: of the repository.
        splits: names of splits.
        metadata: whether all that holds no sound is wanted.
        remote: name of the remote; None for the default one.
        jobs: transfers at once; None for what suits the remote.

    Raises:
        InputError: a split is unknown or empty.
        CaresError: no remote, a file that the remote does not have or has damaged, a remote that cannot be reached,
            another DVC command that is running.
    """
    choose.check_splits(splits)
    with opened(root) as repo:
        found = remote_of(repo, remote)
        with workplaces(repo) as (in_cache, in_tree):
            work = _Pull(repo, found, jobs, in_cache, in_tree)
            recordings = _split_files(work, splits) if splits else {}
            if metadata:
                outs = [name for name in work.outs if name.startswith("data/")]
                work.bring([file for path, file in work.folder(outs).items() if choose.is_metadata(path)], "metadata")
            elif not splits:
                work.bring(list(work.folder(list(work.outs)).values()), "all")
                # removes what other versions of the outs left in the tree, where DVC has it in its cache
                repo.checkout()
        partial, other = _parts(work)
        counts = {split: len(names) for split, names in recordings.items()}
        files = [work.files[path] for path in sorted(work.files)]
        return Pulled(work.root, files, work.fetched, work.size, work.cache.damaged, counts, partial, other)


def _split_files(work: _Pull, splits: Sequence[str]) -> dict[str, set[str]]:
    """Bring what scoring needs, then the recordings that it names."""
    named = {path for path in choose.SCORING if any(path == out or path.startswith(f"{out}/") for out in work.outs)}
    outs = [out for out in work.outs if any(path == out or path.startswith(f"{out}/") for path in named)]
    files = work.folder(outs)
    work.bring([files[path] for path in choose.SCORING if path in files], "metadata")
    recordings = choose.recordings(work.root, splits)
    work.bring(choose.of_names(files, set().union(*recordings.values()), "the metadata of this data set"), "recordings")
    return recordings


def _parts(work: _Pull) -> tuple[list[str], list[str]]:
    """Folders that are there in part, and files in them that their listing does not have."""
    partial, other = [], []
    for folder, files in work.listings.items():
        known = {file.path for file in files}
        there = {
            path.relative_to(work.root).as_posix() for path in (work.root / folder).rglob("*") if not path.is_dir()
        }
        if there and known - there:
            partial.append(folder)
        other += sorted(there - known)
    return partial, other


@contextmanager
def workplaces(repo: Repo) -> Iterator[tuple[Path, Path]]:
    """Folders for unfinished files on the disks of cache and tree; what a killed pull left there is removed.

    Nobody else is at work in them: the repository is locked, and a cache that clones share has a folder for each.
    """
    root = Path(repo.root_dir)
    mark = sha256(str(root).encode()).hexdigest()[:12]
    places = (Path(repo.cache.local.path).parent / f".cares-pull-{mark}", Path(repo.tmp_dir) / "cares-pull")
    for place in places:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
    try:
        yield places
    finally:
        for place in places:
            shutil.rmtree(place, ignore_errors=True)


def told(pulled: Pulled) -> list[str]:
    """What was done and what is where, as lines for people."""
    folders: dict[str, list[Tracked]] = {}
    for file in pulled.files:
        folders.setdefault(file.path.rpartition("/")[0], []).append(file)
    lines = [f"damaged: {where}: {what}; removed and brought again" for where, what in pulled.damaged]
    for folder, files in folders.items():
        size = sum((pulled.root / file.path).stat().st_size for file in files)
        names = ", ".join(file.path.rpartition("/")[2] for file in files[:3])
        names += f" and {len(files) - 3} more" if len(files) > 3 else ""
        lines.append(f"{folder}: {len(files)} files, {megabytes(size)}: {names}")
    lines += [f"split {split}: {count} recordings" for split, count in pulled.recordings.items()]
    there = len(pulled.files) - min(pulled.fetched, len(pulled.files))
    lines.append(f"{pulled.fetched} files fetched, {megabytes(pulled.size)}; {there} were there")
    if pulled.other:
        names = ", ".join(pulled.other[:SHOWN])
        lines.append(f"of another version of the data set, left as they are: {len(pulled.other)} files: {names}")
    if pulled.partial:
        folders_here = " ".join(pulled.partial)
        lines.append(f"in part: {folders_here}; dvc status says so, and this brings the rest: cares pull")
    return lines
