"""What is here of every out, and whether deps and outs are those of dvc.lock; None where only absent data tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cares.remotes.cached import Cache, md5_of
from cares.remotes.project import Tracked

if TYPE_CHECKING:
    from dvc.repo import Repo

State = Literal["right", "part", "absent", "wrong", "unknown"]


def relative(thing: Any) -> str:
    """Path of a dep or an out from the root of the repository, with slashes."""
    return Path(thing.fs_path).relative_to(thing.repo.root_dir).as_posix()


def value_of(thing: Any) -> str | None:
    """The hash that dvc.lock has for a dep or an out."""
    return thing.hash_info.value if thing.hash_info else None


class Outs:
    """All outs of a repository, each looked at once."""

    def __init__(self, repo: Repo) -> None:
        self.root = Path(repo.root_dir)
        self.cache = Cache(repo)
        self.by_path = {relative(out): out for out in repo.index.outs}
        self._states: dict[str, State] = {}
        self._read: dict[str, str] = {}

    def of_out(self, out: Any) -> str | None:
        """ "" when what is here of an out is what dvc.lock says, else what is wrong; None when it cannot be told."""
        path, state = relative(out), self.state(relative(out))
        if state == "wrong":
            return f"{path} is not what dvc.lock says: {_hash(out)}, not {value_of(out)}"
        if state == "absent" and not out.use_cache:
            return f"{path} is not here, though Git keeps it"
        return None if state == "unknown" else ""

    def of_dep(self, path: str, dep: Any, locked: str) -> str | None:
        """ "" when a dep is what dvc.lock says, else what is wrong; None when it cannot be told without the data.

        Args:
            path: of the dep.
            dep: DVC's object for it.
            locked: its hash in dvc.lock.
        """
        made = self.by_path.get(path)
        if made is not None:
            if (other := value_of(made)) is not None and other != locked:
                return f"{path} was read as {locked}, but its own stage left {other}"
            return ""
        around = next((out for name, out in self.by_path.items() if path.startswith(f"{name}/")), None)
        if around is not None:
            return self._inside(path, around, locked)
        within = [name for name in self.by_path if name.startswith(f"{path}/")]
        if any(self.state(name) in ("part", "absent", "unknown") for name in within):
            return None
        if not (self.root / path).exists():
            return f"{path} is not here"
        found = _hash(dep)
        return "" if found == locked else f"{path} changed: {found}, dvc.lock has {locked}"

    def _inside(self, path: str, around: Any, locked: str) -> str | None:
        """A dep inside a folder that is an out: by the folder's listing, or by the file."""
        folder = Tracked(relative(around), value_of(around) or "")
        found = None
        if folder.md5 and self.cache.holds(folder):
            listed = {file.path: file.md5 for file in self.cache.listing(folder)}
            if not any(name.startswith(f"{path}/") for name in listed):
                found = listed.get(path, "not in it")
        elif (self.root / path).is_file() and self.state(folder.path) == "right":
            found = md5_of(self.root / path)
        if found is None:
            # several stages read it, and all of them the same
            first = self._read.setdefault(path, locked)
            return None if first == locked else f"{path} was read as {locked}, but by another stage as {first}"
        return "" if found == locked else f"{path} was read as {locked}, but {folder.path} has {found}"

    def state(self, path: str) -> State:
        """How much of an out is here, and whether that is right."""
        if path not in self._states:
            self._states[path] = self._look(path, self.by_path[path])
        return self._states[path]

    def _look(self, path: str, out: Any) -> State:
        here = self.root / path
        if not here.exists():
            return "absent"
        locked = value_of(out)
        if locked is None:
            return "unknown"
        if _hash(out) == locked:
            return "right"
        if not locked.endswith(".dir") or not here.is_dir():
            return "wrong"
        files = {file.relative_to(self.root).as_posix() for file in here.rglob("*") if file.is_file()}
        folder = Tracked(path, locked)
        if self.cache.holds(folder):
            listed = {file.path: file.md5 for file in self.cache.listing(folder)}
            wrong = any(listed.get(name) != md5_of(self.root / name) for name in files)
            return "wrong" if wrong else "part"
        return "unknown" if len(files) < (out.meta.nfiles or 0) else "wrong"


def _hash(thing: Any) -> str | None:
    """The hash of what lies in the tree, as DVC computes it."""
    found = thing.get_hash()
    return found.value if found else None
