"""`cares verify`: what is asked for, the rebuild in one or two clean copies, and the comparison."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cares.core.atomic import write_bytes
from cares.core.canonical import Json, write_json
from cares.core.errors import CaresError, InputError
from cares.repro.fingerprint import FILE as ENVIRONMENT
from cares.repro.fingerprint import environment_differences, fingerprint
from cares.repro.verify.clean_copy import CleanCopy, Surroundings, two_surroundings
from cares.repro.verify.compare import compare_stage
from cares.repro.verify.draw import BY_GROUP, Draw, draw_scenes, stages_by_scene
from cares.repro.verify.lockfile import Lock, LockedStage, select_stages
from cares.repro.verify.places import Place, commit_of, lock_at, working_tree
from cares.repro.verify.rebuild import rebuild
from cares.repro.verify.report import stage_line, summarise, text_of, trace
from cares.repro.verify.weights import check_weights

OUT = Path("build/verify")


@dataclass(frozen=True)
class Wanted:
    """What `cares verify` is asked for; see its help."""

    stages: tuple[str, ...] = ()
    start: str | None = None
    scenes: int | None = None
    seed: int = 0
    twice: bool = False
    as_is: bool = False
    keep: bool = False


def verify(root: Path, wanted: Wanted) -> Json:
    """Rebuild in clean copies and compare with dvc.lock and the files of this clone.

    Returns:
        The report, which is also written to build/verify/report.json and report.txt; `result` is equal or differs.

    Raises:
        CaresError: it could not be done: a bad option, inputs that are not here, a stage that failed.
    """
    began = time.monotonic()
    commit = commit_of(root, "HEAD")
    if commit is None:
        raise CaresError(f"{root}: no commit here; verify rebuilds what git has")
    reference = (
        working_tree(root, name="the working tree's build")
        if wanted.as_is
        else Place(f"the build of {commit[:10]}", root, lock_at(root, commit), rev=commit)
    )
    try:
        report = _Verification(root, wanted, commit, reference).run()
    finally:
        reference.close()
    report["seconds"] = round(time.monotonic() - began, 1)
    return finish(root, report)


def finish(root: Path, report: Json) -> Json:
    """Settle the result, write report.json and report.txt."""
    rows = [row for comparison in report["comparisons"] for row in comparison["stages"]]
    report["result"] = "differs" if any(row["status"] == "differs" for row in rows) else "equal"
    report["summary"] = summarise(report)
    write_json(root / OUT / "report.json", report)
    write_bytes(root / OUT / "report.txt", text_of(report).encode("utf-8"))
    return report


class _Verification:
    """One run: the stages, the scenes if only some, and what was found so far."""

    def __init__(self, root: Path, wanted: Wanted, commit: str, reference: Place) -> None:
        self._root, self._wanted, self._commit, self._reference = root, wanted, commit, reference
        self._lock: Lock = reference.lock
        if wanted.scenes is None and wanted.seed:
            raise InputError("command line", "--seed", wanted.seed, "--scenes beside it; it draws the scenes")
        self._stages = select_stages(self._lock, list(wanted.stages), wanted.start)
        self._notes: list[str] = []
        self._draw: Draw | None = None
        if wanted.scenes is not None:
            self._stages, left_out = stages_by_scene(self._lock, self._stages, bool(wanted.stages))
            self._draw = draw_scenes(reference, self._stages, wanted.scenes, wanted.seed)
            self._notes.append(f"scenes drawn with seed {wanted.seed}: {', '.join(sorted(self._draw.scenes))}")
            if self._draw.of_groups:
                count = len(self._draw.of_groups)
                self._notes.append(f"{', '.join(BY_GROUP)}: made again for whole groups of waves, {count} scenes")
            if left_out:
                self._notes.append(f"left out, as they cannot be made again for some scenes: {', '.join(left_out)}")
        self._stale: dict[str, list[str]] = {}

    def run(self) -> Json:
        """Rebuild and compare."""
        unlocked = [name for name in _known_stages(self._root) if not _is_locked(name, self._lock)]
        if unlocked:
            self._notes.append(f"not in dvc.lock, so never built: {', '.join(unlocked)}; run dvc repro")
        if not self._wanted.as_is and _is_dirty(self._root):
            self._notes.append("changes that are not committed are not looked at (--as-is takes them in)")
        weights = check_weights(self._reference, self._picked(self._stages), self._root / "params.yaml")
        around = two_surroundings() if self._wanted.twice else (Surroundings("clean copy", "copy"),)
        need = 1.2 * len(around) * self._bytes()
        folder = Path(tempfile.mkdtemp(prefix="cares-verify-"))
        if shutil.disk_usage(folder).free < need:
            folder.rmdir()
            raise CaresError(f"{folder.parent}: needs {need / 1e9:.1f} GB; set TMPDIR to a folder with more room")
        comparisons: list[Json] = []
        places: list[Place] = []
        try:
            for one in around:
                place, comparison = self._one_copy(folder, one)
                places.append(place)
                comparisons.append(comparison)
            if len(places) == 2:
                comparisons.append(self._between(*places))
        finally:
            for place in places:
                place.close()
            if self._wanted.keep:
                print(f"verify: the copy is kept in {folder}", file=sys.stderr)
            else:
                shutil.rmtree(folder, ignore_errors=True)
        what = "the working tree" if self._wanted.as_is else f"commit {self._commit[:10]}"
        return {
            "title": f"verify: {len(self._stages)} stages of {what} rebuilt in a clean copy, no cache, no item store",
            "commit": self._commit,
            "as_is": self._wanted.as_is,
            "scenes": sorted(self._draw.scenes) if self._draw else None,
            "notes": self._notes,
            "stale": self._stale,
            "environment": environment(self._reference, self._root, weights),
            "comparisons": comparisons,
        }

    def _picked(self, names: Sequence[str]) -> list[LockedStage]:
        return [self._lock[name] for name in names]

    def _bytes(self) -> int:
        """Bytes of one copy: what the stages make, and what they read from others."""
        read = {dep.path: dep.size for stage in self._picked(self._stages) for dep in stage.deps}
        return sum(read.values()) + sum(out.size for stage in self._picked(self._stages) for out in stage.outs)

    def _one_copy(self, folder: Path, around: Surroundings) -> tuple[Place, Json]:
        copy = CleanCopy(self._root, folder / around.folder, self._commit, around, self._wanted.as_is)
        copy.clear(self._picked(self._stages))
        taken, self._stale = copy.place_own_inputs(self._picked(self._stages), self._lock)
        note = f"taken from this clone, as git does not have them: {', '.join(taken)}"
        if taken and note not in self._notes:
            self._notes.append(note)
        rows: list[Json] = []
        place = Place(f"the {around.label}", copy.root, self._lock, files_first=True)
        # a language model's stages are made again for more scenes than the others
        in_groups = [name for name in self._stages if self._draw is not None and name in BY_GROUP]
        if self._draw is not None and in_groups:
            copy.place_inputs(self._reference, in_groups, self._stages, self._draw)
            self._rebuild(copy, in_groups, place, rows)
            copy.narrow(self._picked(in_groups), self._draw.scenes)
        if others := [name for name in self._stages if name not in in_groups]:
            copy.place_inputs(self._reference, others, self._stages, self._draw)
            self._rebuild(copy, others, place, rows)
        trace(rows, self._lock)
        comparison = {"wanted": self._reference.name, "found": place.name, "stages": rows}
        return place, comparison | {"surroundings": around.to_json() if self._wanted.twice else {}}

    def _rebuild(self, copy: CleanCopy, names: Sequence[str], place: Place, rows: list[Json]) -> None:
        log = self._root / OUT / f"{copy.surroundings.label.replace(' ', '-')}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("", encoding="utf-8") if not rows else None

        def began(name: str) -> None:
            print(f"[{len(rows) + 1}/{len(self._stages)}] {name} ...", file=sys.stderr, flush=True)

        def done(name: str, seconds: float) -> None:
            stage = self._lock[name]
            ids = self._draw.ids(name) if self._draw else None
            found = compare_stage(stage, self._reference, place, stage, ids)
            rows.append({"stage": name, "seconds": round(seconds, 1), **found})
            print(stage_line(rows[-1]), file=sys.stderr, flush=True)

        rebuild(copy, names, log, began, done)

    def _between(self, first: Place, second: Place) -> Json:
        rows = []
        for stage in self._picked(self._stages):
            ids = self._draw.ids(stage.name) if self._draw else None
            rows.append({"stage": stage.name, **compare_stage(stage, first, second, stage, ids)})
        trace(rows, self._lock)
        return {"wanted": first.name, "found": second.name, "stages": rows}


def environment(reference: Place, root: Path, weights: Sequence[Json] = (), our: Place | None = None) -> Json:
    """In what two builds' environments differ, as far as that is known.

    Args:
        reference: its environment.json is the one to compare with.
        root: this clone; the fingerprint of this machine is the other side.
        weights: differences of weight files that are known already.
        our: the build whose environment.json is the other side, where it has one.
    """
    stored = reference.environment
    here = our.environment if our is not None else None
    found = environment_differences(stored, here or fingerprint(root)) if stored is not None else []
    of = (
        f"{ENVIRONMENT} of {reference.environment_from}"
        if stored is not None
        else f"{reference.name} has no {ENVIRONMENT}"
    )
    return {"stored": stored is not None, "of": of, "differences": [*weights, *found]}


def _known_stages(root: Path) -> list[str]:
    import yaml

    value = yaml.safe_load((root / "dvc.yaml").read_text(encoding="utf-8"))
    return list(value.get("stages", {})) if isinstance(value, dict) else []


def _is_locked(name: str, lock: Lock) -> bool:
    return name in lock or any(locked.startswith(f"{name}@") for locked in lock)


def _is_dirty(root: Path) -> bool:
    command = ["git", "status", "--porcelain", "--untracked-files=no"]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    )
    return bool(done.stdout.strip())
