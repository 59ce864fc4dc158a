"""One kill: a stage is made to run again, killed at a moment, and a plain `dvc repro` has to end as if nothing was."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.clones import (
    Clone,
    forget,
    lock_entries,
    manifest,
    temporary,
    temporary_entries,
)
from tests.faults.processes import Process, below, cpu_seconds, family, kill, survivors
from tests.faults.reference import Reference, ending, head_of, restore_store

WAYS = ("stage", "worker", "tree", "dvc")
LOOK_S = 0.03
# how long whoever belongs to a killed run may take to end by itself
GRACE_S = 10.0
LONGEST_S = 3600.0
# how long DVC may take to end after its stage or one of the stage's workers was killed
HUNG_S = 180.0
# entries that are removed before a kill at most: a bank of sounds has hundreds, each a second's work
MOST_LOST = 16


@dataclass(frozen=True)
class Plan:
    """A kill as it was drawn.

    Attributes:
        stage: which is killed.
        way: `stage` its process, `worker` one of its workers, `tree` DVC and all below it, `dvc` DVC alone.
        moment: share of the processor time that the stage (for `tree`: the whole `dvc repro` of it) took without fault.
        lost: share of the stage's entries of the item store that are removed before, `MOST_LOST` at most.
        workers: CARES_WORKERS of the killed run.
    """

    number: int
    stage: str
    way: str
    moment: float
    lost: float
    workers: int


@dataclass
class Outcome:
    """What a kill did. Empty lists are what is promised.

    Attributes:
        killed: whether the kill met a living process; else the stage had ended before.
        doing: what was in progress.
        new_entries: entries that the killed run had added to the item store, of `missing` that were lacking.
        differences: files or entries of dvc.lock that differ from the reference after the plain `dvc repro`.
        orphans: commands of processes that lived on.
        damaged: outs that were there right after the kill, but not as they should be.
        stale: temporary files among the outs after the plain `dvc repro`, `stale_entries` those in the item store.
        lock_cut: whether the kill cut dvc.lock or DVC's lock file, so that `cares mend` had to be run first.
        hung: the killed run did not end by itself.
        failure: the plain `dvc repro` did not end well.
    """

    plan: Plan
    killed: bool = False
    doing: str = ""
    met: str = ""
    new_entries: int = 0
    missing: int = 0
    differences: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    stale_entries: list[str] = field(default_factory=list)
    lock_cut: bool = False
    hung: bool = False
    failure: str = ""
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        """Whether all promises were kept."""
        return not (self.differences or self.orphans or self.damaged or self.stale or self.failure or self.hung)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Outcome:
        """From what `dataclasses.asdict` gave."""
        return cls(**found | {"plan": Plan(**found["plan"])})


def carry_out(clone: Clone, reference: Reference, plan: Plan, log: Path) -> Outcome:
    """Do as planned and look at what became of it."""
    began = time.monotonic()
    outcome = Outcome(plan)
    missing = _make_due(clone, reference, plan)
    outcome.missing = len(missing)
    _killed_run(clone, reference, plan, missing, outcome, log)
    outcome.orphans = [" ".join(process.command) for process in survivors(clone.mark, GRACE_S)]
    outcome.damaged = damaged(clone, reference, plan.stage)
    recover(clone, reference, outcome, log)
    restore_store(clone, reference)
    outcome.seconds = round(time.monotonic() - began, 1)
    return outcome


def recover(clone: Clone, reference: Reference, outcome: Outcome, log: Path) -> None:
    """A plain `dvc repro`, and the comparison with the reference."""
    done = clone.run("dvc", "repro", log=log)
    if done.returncode and ("dvc.lock" in done.stderr or "rwlock" in done.stderr):
        outcome.lock_cut = True
        clone.run("cares", "mend", log=log)
        done = clone.run("dvc", "repro", log=log)
    if done.returncode:
        outcome.failure = (done.stderr or done.stdout)[-400:]
    outcome.differences = differences(clone, reference)
    outcome.stale = temporary(clone.root)
    outcome.stale_entries = temporary_entries(clone.store)


def differences(clone: Clone, reference: Reference) -> list[str]:
    """What differs from the reference: files by name, and entries of dvc.lock."""
    found, lock = manifest(clone.root), lock_entries(clone.root)
    names = {name for name in found.keys() | reference.files.keys() if found.get(name) != reference.files.get(name)}
    stages = {name for name in lock.keys() | reference.lock.keys() if lock.get(name) != reference.lock.get(name)}
    return sorted(names) + sorted(f"dvc.lock: {name}" for name in stages)


def damaged(clone: Clone, reference: Reference, stage: str) -> list[str]:
    """Outs of a stage that are there, but neither whole nor as in the reference."""
    found, bad = manifest(clone.root), []
    for out in reference.outs[stage]:
        wanted = _under(reference.files, out)
        there = _under(found, out)
        if (clone.root / out).exists() and there != wanted:
            bad.append(out)
    return bad


def _under(files: dict[str, str], out: str) -> dict[str, str]:
    return {name: sha for name, sha in files.items() if name == out or name.startswith(f"{out}/")}


def _make_due(clone: Clone, reference: Reference, plan: Plan) -> set[str]:
    """Have DVC and the stage do work again; the names of the entries that are lacking now."""
    forget(clone.root, {plan.stage})
    own = reference.costs[plan.stage].entries
    lost = random.Random(f"{plan.number} {plan.stage}").sample(own, min(round(plan.lost * len(own)), MOST_LOST))
    for name in lost:
        (clone.store / name).unlink(missing_ok=True)
    return set(lost)


def _killed_run(clone: Clone, reference: Reference, plan: Plan, missing: set[str], outcome: Outcome, log: Path) -> None:
    cost = reference.costs[plan.stage]
    due_s = plan.moment * (cost.total_cpu_s if plan.way == "tree" else cost.stage_cpu_s)
    dvc = clone.start("dvc", "repro", "--single-item", plan.stage, log=log, CARES_WORKERS=str(plan.workers))
    seen_stage, end = False, time.monotonic() + LONGEST_S
    with ending(dvc):
        while dvc.poll() is None and time.monotonic() < end:
            everything = family(dvc.pid)
            head = head_of(plan.stage, everything)
            seen_stage |= head is not None
            spent = below(dvc.pid if plan.way == "tree" or head is None else head.pid, everything)
            is_due = cpu_seconds(spent) >= due_s and (plan.way == "tree" or head is not None)
            if is_due and (target := _target(plan.way, dvc, head, spent)) is not None:
                outcome.doing = _doing(clone, reference, plan.stage, missing, head is not None, seen_stage)
                outcome.met, outcome.killed = _strike(target, dvc)
                break
            time.sleep(LOOK_S)
        try:
            dvc.wait(timeout=HUNG_S if outcome.killed else LONGEST_S)
        except subprocess.TimeoutExpired:
            outcome.hung = True
            os.killpg(dvc.pid, signal.SIGKILL)
            dvc.wait()
    outcome.new_entries = sum((clone.store / name).is_file() for name in missing)


def _target(way: str, dvc: subprocess.Popen[bytes], head: Process | None, own: list[Process]) -> object:
    """What to kill now: a process group, DVC's process, the stage's, or a worker's; None to wait on."""
    if way in ("tree", "dvc"):
        return way
    if way == "worker":
        workers = [process for process in own if process.is_worker]
        return workers[-1] if workers else None
    return head


def _strike(target: object, dvc: subprocess.Popen[bytes]) -> tuple[str, bool]:
    if target == "tree":
        os.killpg(dvc.pid, signal.SIGKILL)
        return "DVC and all below it", True
    if target == "dvc":
        return "DVC alone", kill(dvc.pid)
    assert isinstance(target, Process)
    return ("a worker" if target.is_worker else "the stage"), kill(target.pid)


def _doing(
    clone: Clone, reference: Reference, stage: str, missing: set[str], stage_lives: bool, seen_stage: bool
) -> str:
    if not stage_lives:
        return "DVC saves the outs" if seen_stage else "DVC before the stage"
    outs = reference.outs[stage]
    present = [out for out in outs if (clone.root / out).exists()]
    if present:
        return "all outs written" if len(present) == len(outs) else "some outs written"
    filled = any(list((clone.root / out).parent.glob(f".{Path(out).name}.*.part")) for out in outs)
    if filled or any((clone.store / name).is_file() for name in missing):
        return "items at work"
    return "nothing written yet"
