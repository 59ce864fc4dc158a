"""`cares verify --against`: someone else's build beside ours, by the two locks and the files, without rebuilding."""

from __future__ import annotations

from pathlib import Path

from cares.core.canonical import Json
from cares.core.errors import CaresError, InputError
from cares.repro.verify.compare import compare_stage
from cares.repro.verify.lockfile import Lock, LockedStage, select_stages, touches
from cares.repro.verify.places import Place, RemotePlace, commit_of, lock_at, remote_names, working_tree
from cares.repro.verify.report import trace
from cares.repro.verify.run import environment, finish


def verify_against(root: Path, where: str, rev: str | None, stages: tuple[str, ...], start: str | None) -> Json:
    """Compare the build of this working tree with another one.

    Args:
        root: this clone.
        where: a folder with a checkout or a build, a DVC remote (its name, its address, or its folder), or a revision.
        rev: the revision whose dvc.lock counts there; by default that of a folder's files, and HEAD for a remote.
        stages, start: as for a rebuild.

    Returns:
        The report, as `verify` does.

    Raises:
        CaresError: there is no such place, or it holds no build.
    """
    ours = working_tree(root, name="this build", files_first=True, partly=True)
    theirs = _open(root, ours, where, rev)
    try:
        notes: list[str] = []
        shared = {name: stage for name, stage in ours.lock.items() if name in theirs.lock}
        chosen = select_stages(ours.lock, list(stages), start)
        rows: list[Json] = []
        for name in chosen:
            if name not in shared:
                notes.append(f"stage {name} is not in {theirs.name}")
                continue
            row = {"stage": name, **compare_stage(theirs.lock[name], theirs, ours, ours.lock[name], None)}
            if absent := _absent(theirs, theirs.lock[name]):
                row |= {"status": "differs", "differences": [*absent, *row["differences"]]}
            rows.append(row)
        if not rows:
            raise CaresError(f"{theirs.name}: none of these stages was built there: {', '.join(chosen)}")
        if not_here := sum(ours.not_here.values()):
            notes.append(
                f"{not_here} files and folders are not in this clone: of them the hashes of its dvc.lock were compared "
                "(cares pull gets them)"
            )
        notes += [f"stage {name} of {theirs.name} is not here" for name in theirs.lock if name not in ours.lock]
        trace(rows, ours.lock)
        report = {
            "title": f"verify: this build beside {theirs.name}; nothing was rebuilt",
            "commit": commit_of(root, "HEAD"),
            "as_is": True,
            "scenes": None,
            "notes": notes,
            "stale": {
                name: found for name in chosen if name in shared and (found := _other_inputs(name, ours, theirs))
            },
            "environment": environment(theirs, root, our=ours),
            "comparisons": [{"wanted": theirs.name, "found": ours.name, "stages": rows}],
        }
    finally:
        theirs.close()
        ours.close()
    return finish(root, report)


def _open(root: Path, ours: Place, where: str, rev: str | None) -> Place:
    folder = Path(where).expanduser()
    if rev is not None and commit_of(root, rev) is None and not (folder / "dvc.lock").is_file():
        raise InputError("command line", "--rev", rev, "a revision that git knows here; fetch it first")
    if folder.is_dir():
        return _folder(root, ours, folder, where, rev)
    if where in remote_names(root) or "://" in where:
        return _remote(root, where, rev)
    commit = commit_of(root, where)
    if commit is None:
        known = ", ".join(sorted(remote_names(root))) or "none is set up"
        expected = f"a folder, a DVC remote ({known}), its address, or a git revision"
        raise InputError("command line", "--against", where, expected)
    if rev is not None:
        raise InputError("command line", "--rev", rev, "nothing beside a revision as PLACE")
    return Place(f"revision {where}", root, lock_at(root, commit), rev=commit)


def _folder(root: Path, ours: Place, folder: Path, where: str, rev: str | None) -> Place:
    folder = folder.absolute()
    if folder == root:
        raise InputError("command line", "--against", where, "another folder than this clone")
    if rev is not None and (folder / "dvc.lock").is_file():
        commit = commit_of(folder, rev)
        if commit is None:
            raise InputError("command line", "--rev", rev, f"a revision that git knows in {where}")
        return Place(f"{where} at {rev}", folder, lock_at(folder, commit), rev=commit)
    if (folder / "dvc.lock").is_file():
        return working_tree(folder, name=where, files_first=True)
    if (folder / "files" / "md5").is_dir():
        return _remote(root, str(folder), rev)
    found = _present(ours.lock, folder)
    if not found:
        raise InputError("command line", "--against", where, "a folder with dvc.lock, with data/, or a DVC remote's")
    return Place(where, folder, found, files_first=True)


def _present(lock: Lock, folder: Path) -> Lock:
    """The stages of which a plain folder of files has every out."""
    return {
        name: stage
        for name, stage in lock.items()
        if stage.outs and all((folder / o.path).exists() for o in stage.outs)
    }


def _remote(root: Path, where: str, rev: str | None) -> RemotePlace:
    commit = commit_of(root, rev or "HEAD")
    if commit is None:
        raise CaresError(f"{root}: no commit here; name one with --rev")
    return RemotePlace(where, root, lock_at(root, commit), commit)


def _absent(place: Place, stage: LockedStage) -> list[Json]:
    """The outs of a stage of which a remote lacks objects, as differences."""
    if not isinstance(place, RemotePlace):
        return []
    found = []
    for entry in stage.outs:
        if entry.path in place.in_git:
            continue
        wanted = {entry.md5, *(place.listing(entry) or {}).values()}
        if lacking := place.missing(wanted):
            note = f"{len(lacking)} of {len(wanted)} objects are not in {place.name}, or damaged there"
            found.append({"path": entry.path, "what": "absent", "wanted": entry.md5, "found": None, "note": note})
    return found


def _other_inputs(name: str, ours: Place, theirs: Place) -> list[str]:
    """Code and parameters that were others when the two builds were locked; outs of stages show as such."""
    one, other = theirs.lock[name], ours.lock[name]
    made = {entry.path for stage in ours.lock.values() for entry in stage.outs}
    before = {dep.path: dep.md5 for dep in one.deps}
    files = [
        dep.path
        for dep in other.deps
        if before.get(dep.path) != dep.md5 and not any(touches(dep.path, out) for out in made)
    ]
    params = [
        f"params.yaml: {key}" for key in sorted({*one.params, *other.params}) if _param(one, key) != _param(other, key)
    ]
    return files + params


def _param(stage: LockedStage, key: str) -> Json:
    return stage.params.get(key, "(absent)")
