"""A place that has a build: its dvc.lock, its files as far as they can be reached, and its environment.json."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cares.core.canonical import Json
from cares.core.errors import CaresError, InputError
from cares.remotes.cached import md5_of
from cares.remotes.project import without_keys
from cares.repro.fingerprint import FILE as ENVIRONMENT
from cares.repro.verify.hashes import Listing, combined, listing
from cares.repro.verify.lockfile import Entry, Lock, parse_lock


class Place:
    """A checkout, or a revision of one.

    Args:
        name: how reports call it.
        root: the checkout's folder.
        lock: its stages.
        rev: the git revision whose metrics count, where files here are others; None: the working tree's.
        files_first: take files as they are on disk, whatever the lock says of them.
    """

    def __init__(self, name: str, root: Path, lock: Lock, *, rev: str | None = None, files_first: bool = False) -> None:
        self.name, self.root, self.lock = name, root, lock
        self._rev, self._files_first = rev, files_first
        self._cache = cache_folder(root)
        self._listings: dict[Path, Listing] = {}
        self._scratch = tempfile.TemporaryDirectory(prefix="cares-verify-")

    def close(self) -> None:
        """Remove what was fetched."""
        self._scratch.cleanup()

    @property
    def environment(self) -> Json:
        """What environment.json says; None without one."""
        if self._rev is not None:
            text = git_text(self.root, self._rev, ENVIRONMENT)
        else:
            path = self.root / ENVIRONMENT
            text = path.read_text(encoding="utf-8") if path.is_file() else None
        try:
            return None if text is None else json.loads(text)
        except ValueError as error:
            raise InputError(f"{self.name}: {ENVIRONMENT}", "", str(error), "valid JSON") from None

    def listing(self, entry: Entry) -> Listing | None:
        """The files of an out and their hashes; None where the place knows only the hash of them all."""
        path = self.root / entry.path
        if self._files_first and path.exists():
            return self._on_disk(path)
        if not entry.md5.endswith(".dir"):
            return {"": entry.md5}
        stored = self._object(entry.md5)
        if stored is not None:
            rows = json.loads(stored.read_text(encoding="utf-8"))
            return {row["relpath"]: row["md5"] for row in rows}
        if path.is_dir() and combined(self._on_disk(path)) == entry.md5:
            return self._on_disk(path)
        return None

    def file(self, entry: Entry, inside: str, md5: str) -> Path | None:
        """A file with the bytes of that hash: `inside` the out, or the out itself (""); None where it is not there."""
        path = self.root / entry.path / inside if inside else self.root / entry.path
        if path.is_file() and md5_of(path) == md5:
            return path
        stored = self._object(md5)
        if stored is not None or self._rev is None or inside:
            return stored
        blob = self._scratch_path(md5)
        done = subprocess.run(["git", "show", f"{self._rev}:{entry.path}"], cwd=self.root, capture_output=True)
        blob.write_bytes(done.stdout)
        return blob if done.returncode == 0 and md5_of(blob) == md5 else None

    def _on_disk(self, path: Path) -> Listing:
        if path not in self._listings:
            self._listings[path] = listing(path)
        return self._listings[path]

    def _object(self, md5: str) -> Path | None:
        """The object of this hash in the place's cache."""
        path = self._cache / md5[:2] / md5[2:] if self._cache else None
        return path if path is not None and path.is_file() else None

    def _scratch_path(self, md5: str) -> Path:
        return Path(self._scratch.name) / md5


class RemotePlace(Place):
    """What a DVC remote holds of the outs of a lock.

    Args:
        name: the remote's name, or its address or folder.
        root: the clone whose configuration knows it.
        lock: the stages whose outs are looked for.
        rev: the revision that the lock is of.
    """

    def __init__(self, name: str, root: Path, lock: Lock, rev: str) -> None:
        super().__init__(without_keys(name), root, lock, rev=rev)
        self._damaged: set[str] = set()
        listed = subprocess.run(
            ["git", "ls-tree", "-r", "-z", "--name-only", rev], cwd=root, capture_output=True, check=False
        )
        self.in_git = frozenset(listed.stdout.decode("utf-8").split("\0"))
        from dvc.repo import Repo

        known = name in remote_names(root)
        with self._asked():
            self._repo = Repo(str(root), config=None if known else {"remote": {"verify": {"url": name}}})
            self._odb = self._repo.cloud.get_remote_odb(name if known else "verify")
            self._odb.fs.exists(self._odb.path)

    def close(self) -> None:
        """Remove what was fetched, let the remote go."""
        self._repo.close()
        super().close()

    def missing(self, hashes: set[str]) -> set[str]:
        """Those of some hashes that the remote does not hold, or gave other bytes for."""
        with self._asked():
            there = set(self._odb.oids_exist(sorted(hashes), progress=lambda *_: None))
        return hashes - (there - self._damaged)

    def file(self, entry: Entry, inside: str, md5: str) -> Path | None:
        """A file fetched from the remote; a metric, which is kept in git, from there."""
        return self._object(md5) or (None if inside else super().file(entry, inside, md5))

    def listing(self, entry: Entry) -> Listing | None:
        """As the lock and the remote have it: what lies on this disk does not count."""
        if not entry.md5.endswith(".dir"):
            return {"": entry.md5}
        stored = self._object(entry.md5)
        if stored is None:
            return None
        return {row["relpath"]: row["md5"] for row in json.loads(stored.read_text(encoding="utf-8"))}

    def _object(self, md5: str) -> Path | None:
        path, source = self._scratch_path(md5), self._odb.oid_to_path(md5)
        if path.is_file() or md5 in self._damaged:
            return None if md5 in self._damaged else path
        with self._asked():
            if not self._odb.fs.exists(source):
                return None
            self._odb.fs.get_file(source, str(path))
        if md5_of(path) != md5.removesuffix(".dir"):
            path.unlink()
            self._damaged.add(md5)
            return None
        return path

    @contextlib.contextmanager
    def _asked(self) -> Iterator[None]:
        """What goes wrong with a remote becomes a CaresError, without the keys of its address."""
        try:
            yield
        except Exception as error:  # each kind of remote has its own errors
            raise CaresError(without_keys(f"remote {self.name}: {type(error).__name__}: {error}")) from None


def cache_folder(root: Path) -> Path | None:
    """Folder of the MD5 objects of a clone's DVC cache; None where DVC was not set up."""
    if not (root / ".dvc").is_dir():
        return None
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(str(root)) as repo:
            return Path(repo.cache.local.path)
    except DvcException as error:
        raise CaresError(f"{root}: {error}") from None


def remote_names(root: Path) -> set[str]:
    """The remotes that a clone's configuration names."""
    from dvc.repo import Repo

    with Repo(str(root)) as repo:
        return set(repo.config["remote"])


def git_text(root: Path, rev: str, path: str) -> str | None:
    """A file's text at a revision; None where it has none of that name."""
    done = subprocess.run(["git", "show", f"{rev}:{path}"], cwd=root, capture_output=True)
    return done.stdout.decode("utf-8") if done.returncode == 0 else None


def commit_of(root: Path, rev: str) -> str | None:
    """The full hash of a revision; None when git knows none of that name."""
    command = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def working_tree(root: Path, *, name: str = "the working tree", files_first: bool = False) -> Place:
    """The build of a folder as it is.

    Raises:
        InputError: it has no dvc.lock.
    """
    path = root / "dvc.lock"
    if not path.is_file():
        raise InputError(path, "", "no such file", "what dvc repro writes", "Run make repro first.")
    return Place(name, root, parse_lock(path.read_text(encoding="utf-8"), path), files_first=files_first)


def lock_at(root: Path, rev: str) -> Lock:
    """dvc.lock of a revision; InputError when there is none."""
    text = git_text(root, rev, "dvc.lock")
    if text is None:
        raise InputError(f"git revision {rev}", "dvc.lock", "no such file", "a revision with a build")
    return parse_lock(text, f"dvc.lock of {rev}")
