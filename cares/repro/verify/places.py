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
from cares.remotes.push import HTTP
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
        partly: with `files_first`, files that the lock lists and that are not on disk were not pulled: they keep the
            hashes of the lock, and `not_here` counts them by the path of their out.
    """

    def __init__(
        self,
        name: str,
        root: Path,
        lock: Lock,
        *,
        rev: str | None = None,
        files_first: bool = False,
        partly: bool = False,
    ) -> None:
        self.name, self.root, self.lock = name, root, lock
        self.not_here: dict[str, int] = {}
        self._rev, self._files_first, self._partly = rev, files_first, partly
        self._cache = cache_folder(root)
        self._listings: dict[Path, Listing] = {}
        self._scratch = tempfile.TemporaryDirectory(prefix="cares-verify-")

    def close(self) -> None:
        """Remove what was fetched."""
        self._scratch.cleanup()

    @property
    def environment_from(self) -> str:
        """Whose environment.json it is, for the report."""
        return self.name

    @property
    def environment(self) -> Json:
        """What environment.json says; None without one."""
        path = self.root / ENVIRONMENT
        try:
            if self._rev is not None:
                text = git_text(self.root, self._rev, ENVIRONMENT)
            else:
                text = path.read_text(encoding="utf-8") if path.is_file() else None
            found = None if text is None else json.loads(text)
        except ValueError as error:  # of UTF-8 as of JSON
            raise InputError(f"{self.name}: {ENVIRONMENT}", "", str(error), "valid JSON") from None
        if text is not None and not isinstance(found, dict):
            raise InputError(f"{self.name}: {ENVIRONMENT}", "", found, "what cares doctor --store writes")
        return found

    def listing(self, entry: Entry) -> Listing | None:
        """The files of an out and their hashes; None where the place knows only the hash of them all."""
        path = self.root / entry.path
        if self._files_first and path.exists():
            return self._completed(entry, self._on_disk(path))
        if self._partly:
            self.not_here[entry.path] = 1
        if not entry.md5.endswith(".dir"):
            return {"": entry.md5}
        stored = self._object(entry.md5)
        if stored is not None:
            return _listed(stored)
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

    def _completed(self, entry: Entry, here: Listing) -> Listing | None:
        """What is on disk of an out, with what was not pulled of it; None where its list of files is not at hand."""
        if not self._partly or not entry.md5.endswith(".dir") or combined(here) == entry.md5:
            return here
        stored = self._object(entry.md5)
        if stored is None:
            self.not_here[entry.path] = 1
            return None
        listed = _listed(stored)
        self.not_here[entry.path] = len(listed.keys() - here.keys())
        return {**listed, **here}

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


def _listed(stored: Path) -> Listing:
    """The files of a folder and their hashes, as DVC's object of it lists them."""
    return {row["relpath"]: row["md5"] for row in json.loads(stored.read_text(encoding="utf-8"))}


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
        self._commit = rev
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

    @property
    def environment_from(self) -> str:
        """The commit, since a remote holds only what it has a hash for."""
        return f"commit {self._commit[:12]}, whose dvc.lock is compared; a remote has none"

    def missing(self, hashes: set[str]) -> set[str]:
        """Those of some hashes that the remote does not hold, or gave other bytes for."""
        with self._asked():
            there = set(self._odb.oids_exist(sorted(hashes), progress=lambda *_: None))
        lacking = hashes - (there - self._damaged)
        if self._odb.fs.protocol in HTTP:
            # over HTTP a server that does not answer looks as one that lacks the object, until it is asked for it
            lacking = {md5 for md5 in lacking if self._object(md5) is None}
        return lacking

    def file(self, entry: Entry, inside: str, md5: str) -> Path | None:
        """A file fetched from the remote; a metric, which is kept in git, from there."""
        return self._object(md5) or (None if inside else super().file(entry, inside, md5))

    def listing(self, entry: Entry) -> Listing | None:
        """As the lock and the remote have it: what lies on this disk does not count."""
        if not entry.md5.endswith(".dir"):
            return {"": entry.md5}
        stored = self._object(entry.md5)
        return None if stored is None else _listed(stored)

    def _object(self, md5: str) -> Path | None:
        path, source = self._scratch_path(md5), self._odb.oid_to_path(md5)
        if path.is_file() or md5 in self._damaged:
            return None if md5 in self._damaged else path
        with self._asked():
            if self._odb.fs.protocol not in HTTP and not self._odb.fs.exists(source):
                return None
            try:
                self._odb.fs.get_file(source, str(path))
            except FileNotFoundError:
                path.unlink(missing_ok=True)
                return None
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


def working_tree(
    root: Path, *, name: str = "the working tree", files_first: bool = False, partly: bool = False
) -> Place:
    """The build of a folder as it is; the arguments are those of `Place`.

    Raises:
        InputError: it has no dvc.lock.
    """
    path = root / "dvc.lock"
    if not path.is_file():
        raise InputError(path, "", "no such file", "what dvc repro writes", "Run make repro first.")
    lock = parse_lock(path.read_text(encoding="utf-8"), path)
    return Place(name, root, lock, files_first=files_first, partly=partly)


def lock_at(root: Path, rev: str) -> Lock:
    """dvc.lock of a revision; InputError when there is none."""
    text = git_text(root, rev, "dvc.lock")
    if text is None:
        raise InputError(f"git revision {rev}", "dvc.lock", "no such file", "a revision with a build")
    return parse_lock(text, f"dvc.lock of {rev}")
