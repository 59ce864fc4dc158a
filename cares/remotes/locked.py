"""Whether dvc.lock is what dvc.yaml, params.yaml and the files give, found without running a stage.

Where the data are not here, a stage's dep on another stage's out is compared inside dvc.lock. DVC's own `dvc status`
asks for the data, does not see a dep or an out that dvc.yaml has no more, and does not compare locks of two stages.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from cares.core.canonical import Json
from cares.core.errors import CaresError
from cares.remotes.project import opened
from cares.remotes.state import Outs, relative, value_of

if TYPE_CHECKING:
    from dvc.repo import Repo
    from dvc.stage import PipelineStage

LOCK = "dvc.lock"


class Locked(NamedTuple):
    """What was found.

    Attributes:
        stages: how many stages dvc.yaml has.
        faults: stage -> what is not as dvc.lock says, in the order in which stages run.
        unchecked: deps and outs that only data could tell of which are not here.
    """

    stages: int
    faults: dict[str, list[str]]
    unchecked: list[str]


def locked(root: Path) -> Locked:
    """Compare dvc.lock with the pipeline at `root`.

    Raises:
        CaresError: dvc.yaml or dvc.lock cannot be read, or another DVC command is running.
    """
    with opened(root) as repo:
        entries = _entries(root / LOCK)
        outs = Outs(repo)
        faults: dict[str, list[str]] = {}
        unchecked: list[str] = []
        stages = _in_order(repo)
        for stage in stages:
            entry = entries.pop(stage.name, None)
            found = ["is not in dvc.lock"] if entry is None else list(_faults(stage, entry, outs, unchecked))
            if found:
                faults[stage.name] = found
        for name in entries:
            faults[name] = ["is in dvc.lock, but not in dvc.yaml; remove its entry"]
        return Locked(len(stages), faults, unchecked)


def told(found: Locked) -> list[str]:
    """The result as lines; CaresError with the first stage that is stale when there is one."""
    if found.faults:
        first, reasons = next(iter(found.faults.items()))
        lines = [f"{LOCK}: stage {first} is stale: {reasons[0]}", *(f"stage {first}: {more}" for more in reasons[1:])]
        if others := list(found.faults)[1:]:
            lines.append(f"stale after it: {', '.join(others)}")
        lines.append("run dvc repro, and commit dvc.lock")
        raise CaresError("\n       ".join(lines))
    lines = [f"{LOCK} is what the code gives, in all {found.stages} stages"]
    if found.unchecked:
        some = ", ".join(found.unchecked[:3]) + (" …" if len(found.unchecked) > 3 else "")
        lines.append(f"not compared, since the data are not here: {len(found.unchecked)} deps and outs: {some}")
    return lines


def _entries(path: Path) -> dict[str, Json]:
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
        return dict(value["stages"])
    except FileNotFoundError:
        raise CaresError(f"{path}: no such file; run dvc repro") from None
    except (yaml.YAMLError, TypeError, KeyError, ValueError) as error:
        raise CaresError(f"{path}: not a lock of DVC ({error}); run dvc repro") from None


def _in_order(repo: Repo) -> list[PipelineStage]:
    """The stages of dvc.yaml, each after those that it depends on, else as they stand there."""
    graph = repo.index.graph
    place = {stage: number for number, stage in enumerate(repo.index.stages)}
    found: dict[PipelineStage, None] = {}

    def visit(stage: PipelineStage) -> None:
        if stage not in found:
            for earlier in sorted(graph.successors(stage), key=place.__getitem__):
                visit(earlier)
            found[stage] = None

    for stage in place:
        visit(stage)
    return list(found)


def _faults(stage: PipelineStage, entry: Json, outs: Outs, unchecked: list[str]) -> Iterator[str]:
    """What of a stage is not as its entry of dvc.lock says."""
    if stage.cmd_changed:
        yield f"cmd is {stage.cmd!r}, dvc.lock has {entry.get('cmd')!r}"
    deps = [dep for dep in stage.deps if not hasattr(dep, "params")]
    for kind, things in (("deps", deps), ("outs", stage.outs)):
        yield from _names(kind, [thing.def_path for thing in things], [row["path"] for row in entry.get(kind, [])])
    locked_params = dict(entry.get("params", {}))
    for params in (dep for dep in stage.deps if hasattr(dep, "params")):
        yield from _params(params, locked_params.pop(params.def_path, {}))
    for file, values in locked_params.items():
        yield f"params of {file} that dvc.yaml lacks: {', '.join(sorted(values))}"
    for dep in deps:
        if (locked := value_of(dep)) is None:
            continue  # a name that dvc.lock lacks was told of
        fault = outs.of_dep(relative(dep), dep, locked)
        if fault is None:
            unchecked.append(f"{relative(dep)} as {stage.name} read it")
        elif fault:
            yield fault
    for out in stage.outs:
        if value_of(out) is None:
            continue
        fault = outs.of_out(out)
        if fault is None:
            unchecked.append(relative(out))
        elif fault:
            yield fault


def _names(kind: str, here: list[str], locked: list[str]) -> Iterator[str]:
    if new := sorted(set(here) - set(locked)):
        yield f"{kind} that dvc.lock lacks: {', '.join(new)}"
    if old := sorted(set(locked) - set(here)):
        yield f"{kind} that dvc.yaml lacks: {', '.join(old)}"


def _params(dep: Any, locked: Json) -> Iterator[str]:
    """The params that a stage reads, beside those of its entry."""
    here = dep.read_params()
    for name in sorted(set(here) | set(locked)):
        if name not in locked:
            yield f"param {name} is not in dvc.lock"
        elif name not in here:
            yield f"param {name} is in dvc.lock, but {dep.def_path} or the stage has it no more"
        elif here[name] != locked[name]:
            yield f"param {name} of {dep.def_path} is {_short(here[name])}, dvc.lock has {_short(locked[name])}"


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
