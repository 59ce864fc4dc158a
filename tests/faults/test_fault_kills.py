"""Stages, workers and DVC itself killed: a plain `dvc repro` ends with the same hashes."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.faults.clones import Clone
from tests.faults.kills import Plan, carry_out
from tests.faults.plans import plans
from tests.faults.processes import below, kill, marked
from tests.faults.reference import Reference

KILLS = [
    ("squares", "stage", 0.6),
    ("squares", "worker", 0.5),
    ("squares", "tree", 0.7),
    ("squares", "dvc", 0.3),
    ("total", "stage", 0.9),
    ("total", "tree", 0.95),
]


@pytest.mark.parametrize(("stage", "way", "moment"), KILLS)
def test_a_killed_run_ends_with_the_same_hashes(
    built: tuple[Clone, Reference, Path], stage: str, way: str, moment: float
) -> None:
    clone, reference, log = built
    outcome = carry_out(clone, reference, Plan(1, stage, way, moment, 1.0, 2), log)
    assert outcome.sound, asdict(outcome)
    # near its end the run may be over before the kill
    assert outcome.killed or moment > 0.8, asdict(outcome)
    assert outcome.stale_entries == []


def test_kills_are_spread_over_all_stages_and_drawn_from_the_seed(built: tuple[Clone, Reference, Path]) -> None:
    _, reference, _ = built
    drawn = plans(reference, 11, seed=3)
    assert drawn == plans(reference, 11, seed=3) != plans(reference, 11, seed=4)
    counts = [sum(plan.stage == stage for plan in drawn) for stage in reference.stages]
    assert sum(counts) == 11 and max(counts) - min(counts) <= 1
    assert {plan.way for plan in drawn} == {"stage", "worker", "tree", "dvc"}


def test_processes_are_found_by_their_mark_also_in_other_sessions(tmp_path: Path, mark: str) -> None:
    clone = Clone(tmp_path, mark)
    shell = clone.start("sh", "-c", "setsid sleep 30 & wait", log=tmp_path / "log")
    # a process that was just forked still has its parent's command
    while "30" not in {process.command[-1] for process in marked(mark) if process.command[0] != "setsid"}:
        time.sleep(0.1)
    found = marked(mark)
    assert below(shell.pid, found) == found
    for process in found:
        kill(process.pid)
    shell.wait()
