"""A build without faults: what every file is, what each stage costs, and which entries of the item store are its."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.clones import Clone, commit, entries, lock_entries, manifest, outs_of, write_json
from tests.faults.processes import Process, below, cpu_seconds, family

LOOK_S = 0.1


@dataclass
class StageCost:
    """Processor seconds of a stage with its workers, and of the whole `dvc repro` of it; the entries that it adds."""

    stage_cpu_s: float = 0.0
    total_cpu_s: float = 0.0
    has_workers: bool = False
    entries: list[str] = field(default_factory=list)


@dataclass
class Reference:
    """What a clone holds when nothing went wrong."""

    files: dict[str, str]
    lock: dict[str, Any]
    outs: dict[str, list[str]]
    costs: dict[str, StageCost]
    store: Path

    @property
    def stages(self) -> list[str]:
        """In the order in which they ran."""
        return list(self.costs)

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self) | {"store": str(self.store)}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Reference:
        """From what `to_json` gave."""
        costs = {name: StageCost(**cost) for name, cost in found["costs"].items()}
        return cls(**found | {"costs": costs, "store": Path(found["store"])})


def build(clone: Clone, log: Path, pristine: Path) -> Reference:
    """Run the pipeline of a clone once, stage by stage, and keep a copy of its item store.

    Stopped and begun again, it goes on with the stage where it was.

    Raises:
        RuntimeError: a stage failed.
    """
    known = log.with_suffix(".costs")
    costs: dict[str, StageCost] = {}
    if known.is_file():
        costs = {name: StageCost(**cost) for name, cost in json.loads(known.read_text(encoding="utf-8")).items()}
    order = ordered_stages(clone)
    for stage in order:
        if stage not in costs:
            before = entries(clone.store)
            costs[stage] = watch(clone, stage, log)
            # an interrupted first run, or a store that was given, has left entries that the stage would add
            now = entries(clone.store)
            costs[stage].entries = sorted(now - before | {name for name in now if name.startswith(f"{stage}/")})
            write_json(known, {name: asdict(cost) for name, cost in costs.items()})
    costs = {stage: costs[stage] for stage in order}
    if pristine.exists():
        shutil.rmtree(pristine)
    clone.store.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-al", str(clone.store), str(pristine)], check=True)
    commit(clone.root, "built")
    return Reference(manifest(clone.root), lock_entries(clone.root), outs_of(clone.root), costs, pristine)


def keep(reference: Reference, path: Path) -> None:
    """Write what a reference says of costs, for people."""
    write_json(path, {name: {**asdict(cost), "entries": len(cost.entries)} for name, cost in reference.costs.items()})


def ordered_stages(clone: Clone) -> list[str]:
    """The stages of dvc.yaml, those of a matrix one by one, in the order in which DVC runs them."""
    done = clone.run("dvc", "repro", "--dry", "--force")
    stages = [line.split("'")[1] for line in done.stdout.splitlines() if line.startswith("Running stage '")]
    if done.returncode or not stages:
        raise RuntimeError(f"dvc repro --dry: {done.stderr[-2000:]}")
    return stages


def watch(clone: Clone, stage: str, log: Path) -> StageCost:
    """Run one stage and measure it."""
    cost = StageCost()
    process = clone.start("dvc", "repro", "--force", "--single-item", stage, log=log)
    with ending(process):
        while process.poll() is None:
            everything = family(process.pid)
            cost.total_cpu_s = max(cost.total_cpu_s, cpu_seconds(everything))
            if (head := head_of(stage, everything)) is not None:
                own = below(head.pid, everything)
                cost.stage_cpu_s = max(cost.stage_cpu_s, cpu_seconds(own))
                cost.has_workers |= any(member.is_worker for member in own)
            time.sleep(LOOK_S)
    if process.returncode:
        raise RuntimeError(f"{stage}: status {process.returncode}; see {log}")
    return cost


def head_of(stage: str, processes: list[Process]) -> Process | None:
    """The stage's own process: the first of its family that is no shell and no worker."""
    own = [process for process in processes if process.stage == stage and not process.is_worker]
    return own[0] if own else None


@contextmanager
def ending(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave no process behind when the harness itself is stopped."""
    try:
        yield
    except BaseException:
        process.kill()
        raise


def restore_store(clone: Clone, reference: Reference) -> None:
    """Have exactly the entries that the reference had, as hard links; entries are never changed in place."""
    shutil.rmtree(clone.store)
    subprocess.run(["cp", "-al", str(reference.store), str(clone.store)], check=True)
