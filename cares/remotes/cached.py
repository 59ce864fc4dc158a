"""DVC's cache of this clone: every file under its hash. A file whose bytes do not give its name is not left there."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cares.core.canonical import Json
from cares.core.errors import CaresError
from cares.records.names import inside
from cares.remotes.project import MD5, Tracked

if TYPE_CHECKING:
    from dvc.repo import Repo

Finding = tuple[str, str]


class Cache:
    """The cache of a repository.

    Attributes:
        odb: DVC's object for it.
        damaged: (where, what was wrong) of each file that was found damaged and removed.
    """

    def __init__(self, repo: Repo) -> None:
        self.root = Path(repo.root_dir)
        self.repo = repo
        self.odb: Any = repo.cache.local
        self.damaged: list[Finding] = []

    def path(self, md5: str) -> Path:
        """Where a file of this hash lies, or would lie."""
        return Path(self.odb.oid_to_path(md5))

    def holds(self, file: Tracked) -> bool:
        """Whether the cache has the file; its bytes are read, and a damaged one is removed and noted."""
        path = self.path(file.md5)
        if not path.is_file():
            return False
        found = md5_of(path)
        if found == file.md5.removesuffix(".dir"):
            return True
        path.unlink()
        self.damaged.append((file.path, f"md5 {found} in the cache of DVC, expected {file.md5}"))
        return False

    def holds_all(self, files: Iterable[Tracked], right: Collection[Tracked], work: Path) -> list[Tracked]:
        """See that the cache has files, taking those from the tree that are right there; returns what it lacks.

        Args:
            files: what it should have.
            right: those of them that the tree has, with the right bytes.
            work: a folder on the cache's disk for unfinished files.
        """
        missing = []
        for file in files:
            if self.holds(file):
                continue
            if file in right:
                part = work / f"{file.md5}.part"
                shutil.copyfile(self.root / file.path, part)
                self.take(part, file.md5)
            else:
                missing.append(file)
        return missing

    def in_tree(self, file: Tracked, remove: bool = False) -> bool:
        """Whether the tree has the file with the right bytes.

        Args:
            file: which.
            remove: another file in its place is removed, and noted as damaged unless the cache has it too: then it is
                another version.
        """
        path = self.root / file.path
        if not path.is_file():
            if remove:
                # a link into the cache whose end is gone, too
                path.unlink(missing_ok=True)
            return False
        found = md5_of(path)
        if found != file.md5 and remove:
            path.unlink()
            if not self.path(found).is_file():
                self.damaged.append((file.path, f"md5 {found} in the tree, dvc.lock has {file.md5}"))
        return found == file.md5

    def take(self, part: Path, md5: str) -> None:
        """Move a finished file, whose hash was checked, into the cache, read-only as DVC keeps its files."""
        path = self.path(md5)
        path.parent.mkdir(parents=True, exist_ok=True)
        part.replace(path)
        self.odb.protect(str(path))
        self._remember([(path, md5)])

    def place(self, files: list[Tracked], work: Path) -> None:
        """Put files of the cache into the tree, as links or copies as DVC is set; each appears whole or not at all.

        Args:
            files: they are in the cache.
            work: a folder on the disk of the tree, where unfinished files may lie.
        """
        from dvc_objects.fs.generic import transfer

        links = list(self.odb.cache_types)
        placed = []
        for number, file in enumerate(files):
            target, part = self.root / file.path, work / f"{number}.part"
            target.parent.mkdir(parents=True, exist_ok=True)
            # a list of its own: the kinds of links that this disk does not know are taken out of it
            transfer(self.odb.fs, str(self.path(file.md5)), self.repo.fs, str(part), links=links)
            part.replace(target)
            placed.append((target, file.md5))
        self._remember(placed)

    def listing(self, folder: Tracked) -> list[Tracked]:
        """The files of a folder whose listing is in the cache.

        Raises:
            CaresError: it is not one of DVC's listings, or names a file outside of the folder: it may be anyone's.
        """
        try:
            entries = json.loads(self.path(folder.md5).read_text(encoding="utf-8"))
            return [_listed(folder, entry) for entry in entries]
        except (ValueError, TypeError, KeyError) as error:
            raise CaresError(f"{folder.path}: its listing {folder.md5} cannot be read ({error})") from None

    def _remember(self, files: list[tuple[Path, str]]) -> None:
        from dvc_data.hashfile.hash_info import HashInfo

        items = [(str(path), HashInfo("md5", md5), None) for path, md5 in files]
        self.odb.state.save_many(items, self.odb.fs)


def _listed(folder: Tracked, entry: Json) -> Tracked:
    """A file of a folder's listing; ValueError when its path leaves the folder or its hash is none."""
    relpath, md5 = str(entry["relpath"]), str(entry["md5"])
    if not MD5.fullmatch(md5):
        raise ValueError(f"md5 is {md5!r}")
    try:
        return Tracked(f"{folder.path}/{inside(relpath)}", md5)
    except ValueError:
        raise ValueError(f"relpath {relpath!r} is none of a file in the folder") from None


def md5_of(path: Path) -> str:
    """MD5 (hex) of a file's bytes: the name under which DVC keeps it."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
