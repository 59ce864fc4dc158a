"""Two sets of files, hash by hash, and what is different in those that differ."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection
from pathlib import Path

from cares.core.canonical import Json
from cares.repro.verify.bytes_explained import explain
from cares.repro.verify.draw import restricted
from cares.repro.verify.hashes import Listing, combined
from cares.repro.verify.lockfile import Entry, LockedStage
from cares.repro.verify.places import Place

EXPLAINED = 3  # files of a stage whose difference is told; the others are named

Side = Callable[[Entry], Listing | None]
Opener = Callable[[Entry, str, str], Path | None]


def compare_stage(
    stage: LockedStage, wanted: Place, found: Place, other: LockedStage, ids: Collection[str] | None
) -> Json:
    """All outs of a stage in two places.

    Args:
        stage: as `wanted` has it.
        other: as `found` has it.
        ids: only what is about these scenes; None: all.

    Returns:
        `status` (equal or differs), `files` (compared), `left_out` (files that tell of all scenes at once) and
        `differences`: `path`, `what` (differs, missing, extra, or hash when the files are not at hand), the hashes
        `wanted` and `found`, and for some files `explained`.
    """
    differences: list[Json] = []
    left_out: list[str] = []
    files = 0
    of_other = {entry.path: entry for entry in other.outs}
    for entry in stage.outs:
        theirs = of_other.pop(entry.path, None)
        if theirs is None:
            differences.append({"path": entry.path, "what": "missing", "wanted": entry.md5, "found": None})
            continue
        left, right = wanted.listing(entry), found.listing(theirs)
        if left is None or right is None:
            files += 1
            hashes = [entry.md5 if left is None else combined(left), theirs.md5 if right is None else combined(right)]
            if hashes[0] != hashes[1]:
                lacking = wanted.name if left is None else found.name
                note = f"the list of its files is not at hand ({lacking}); get it with: dvc pull {entry.path}"
                row = {"path": entry.path, "what": "hash", "wanted": hashes[0], "found": hashes[1], "note": note}
                differences.append(row)
            continue
        pair = _Pair(wanted, entry, left, found, theirs, right)
        for name in sorted({*left, *right}):
            row = pair.difference(name, ids, explained=len(differences) < EXPLAINED)
            if row == "left out":
                left_out.append(_join(entry.path, name))
            else:
                files += 1
                differences += [row] if row else []
    differences += [{"path": path, "what": "extra", "wanted": None, "found": e.md5} for path, e in of_other.items()]
    status = "differs" if differences else "equal"
    return {"status": status, "files": files, "left_out": left_out, "differences": differences}


def _join(path: str, inside: str) -> str:
    return f"{path}/{inside}" if inside else path


class _Pair:
    """One out in both places."""

    def __init__(self, wanted: Place, entry: Entry, left: Listing, found: Place, theirs: Entry, right: Listing) -> None:
        self._wanted, self._entry, self._left = wanted, entry, left
        self._found, self._theirs, self._right = found, theirs, right

    def difference(self, name: str, ids: Collection[str] | None, explained: bool) -> Json:
        """What is different in one file; None when nothing is, "left out" when it is not about these scenes."""
        path, one, other = _join(self._entry.path, name), self._left.get(name), self._right.get(name)
        row = {"path": path, "wanted": one, "found": other}
        if ids is not None:
            return self._of_scenes(path, name, ids, row)
        if one == other:
            return None
        if one is None or other is None:
            return row | {"what": "extra" if one is None else "missing"}
        row["what"] = "differs"
        files = self._files(name) if explained else None
        if files is not None:
            row["explained"] = explain(path, *files)
        elif explained:
            row["note"] = "its bytes are not at hand on both sides; get them with dvc pull"
        return row

    def _files(self, name: str) -> tuple[Path, Path] | None:
        left = self._wanted.file(self._entry, name, self._left[name])
        right = self._found.file(self._theirs, name, self._right[name])
        return None if left is None or right is None else (left, right)

    def _of_scenes(self, path: str, name: str, ids: Collection[str], row: Json) -> Json:
        sides: list[bytes | None] = []
        for place, entry, files in (
            (self._wanted, self._entry, self._left),
            (self._found, self._theirs, self._right),
        ):
            file = place.file(entry, name, files[name]) if name in files else None
            if file is None and name in files:
                return row | {"what": "hash", "note": f"not at hand ({place.name}); get it with: dvc pull {entry.path}"}
            sides.append(None if file is None else restricted(path, file, ids))
        left, right = sides
        if left is None and right is None:
            return "left out"
        if left == right:
            return None
        if left is None or right is None:
            return row | {"what": "extra" if left is None else "missing"}
        with tempfile.TemporaryDirectory(prefix="cares-verify-") as folder:
            files_of = [Path(folder) / side for side in ("wanted", "found")]
            for file, data in zip(files_of, (left, right), strict=True):
                file.write_bytes(data)
            return row | {"what": "differs", "explained": explain(path, *files_of)}
