"""dvc.lock as stages with the hashes of what they read and made, in the order in which they depend on each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import yaml

from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.records.names import inside

# A stage of these loads a model, or works on the weights; `bench@SYSTEM` does except for the three that only count.
MODEL_STAGES = frozenset({"models", "calibrate", "topics", "dialogues", "speech", "align", "transcribe", "judge"})
MODEL_FREE_SYSTEMS = frozenset({"bench@majority", "bench@random", "bench@oracle"})


class Entry(NamedTuple):
    """A path of dvc.lock with its MD5; that of a folder ends in .dir."""

    path: str
    md5: str
    size: int


@dataclass(frozen=True)
class LockedStage:
    """One stage as it ran last: what it read (files and parameters) and what it made."""

    name: str
    cmd: str
    deps: tuple[Entry, ...]
    outs: tuple[Entry, ...]
    params: Mapping[str, Json]

    @property
    def loads_a_model(self) -> bool:
        """Whether the stage needs weights; `judge` does only where the parameters ask for a judge."""
        if self.name.startswith("bench@"):
            return self.name not in MODEL_FREE_SYSTEMS
        if self.name == "judge":
            return bool(self.params.get("bench.judge_summaries"))
        return self.name in MODEL_STAGES


Lock = dict[str, LockedStage]


def parse_lock(text: str, file: object) -> Lock:
    """The stages of dvc.lock's text, each after those whose outs it reads.

    Raises:
        InputError: it is not a dvc.lock, or a path in it leaves the repository.
    """
    try:
        value = yaml.safe_load(text)
        stages = {
            name: LockedStage(
                name,
                str(entry["cmd"]),
                _entries(entry.get("deps", [])),
                _entries(entry.get("outs", [])),
                {key: of for params in entry.get("params", {}).values() for key, of in params.items()},
            )
            for name, entry in value["stages"].items()
        }
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(file, "", str(error), "a dvc.lock as DVC writes it") from None
    return _ordered(stages)


def _entries(values: Json) -> tuple[Entry, ...]:
    return tuple(Entry(inside(one["path"]), one["md5"], int(one.get("size", 0))) for one in values)


def touches(one: str, other: str) -> bool:
    """Whether two paths are the same or one lies in the other."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def makers(stage: LockedStage, lock: Lock) -> list[str]:
    """The stages of whose outs `stage` reads something, in the lock's order."""
    return [
        other.name
        for other in lock.values()
        if other.name != stage.name and any(touches(dep.path, out.path) for dep in stage.deps for out in other.outs)
    ]


def _ordered(stages: Lock) -> Lock:
    """Topological order; among stages that are free to run, that of their names, whatever order DVC wrote them in."""
    waiting = {name: set(makers(stage, stages)) for name, stage in stages.items()}
    done: Lock = {}
    while waiting:
        ready = min((name for name, of in waiting.items() if of <= done.keys()), default=min(waiting))
        del waiting[ready]
        done[ready] = stages[ready]
    return done


def downstream(names: set[str], lock: Lock) -> set[str]:
    """`names` and every stage that reads, directly or not, what they make."""
    found = set(names)
    for stage in lock.values():
        if found & set(makers(stage, lock)):
            found.add(stage.name)
    return found


def select_stages(lock: Lock, wanted: list[str], start: str | None) -> list[str]:
    """The stages to rebuild, in order.

    Args:
        wanted: names; `bench` stands for all `bench@...`, `cheap` for all that load no model; empty: all.
        start: this stage and all that follow from it; None: no limit.

    Raises:
        InputError: a name is not a stage of the lock.
    """
    chosen: set[str] = set()
    for name in wanted:
        if name == "cheap":
            chosen |= {stage.name for stage in lock.values() if not stage.loads_a_model}
        else:
            chosen |= _named(lock, name, "--stage")
    if start is not None:
        after = downstream(_named(lock, start, "--from"), lock)
        chosen = chosen & after if wanted else after
    elif not wanted:
        chosen = set(lock)
    if not chosen:
        raise InputError("command line", "--stage", " ".join(wanted), f"a stage that follows from {start}")
    return [name for name in lock if name in chosen]


def _named(lock: Lock, name: str, option: str) -> set[str]:
    found = {stage for stage in lock if stage == name or stage.startswith(f"{name}@")}
    if not found:
        known = ", ".join(sorted({stage.split("@")[0] for stage in lock}))
        raise InputError("command line", option, name, f"cheap, or a stage of dvc.lock: {known}")
    return found
