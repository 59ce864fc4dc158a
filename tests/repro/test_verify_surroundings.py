"""The allocation is the same in other surroundings, and dvc.lock is of the code that is committed beside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import yaml
from small_pipeline import commit, dvc, git, verify

from cares.repro.verify.clean_copy import changed_params
from cares.repro.verify.hashes import combined, ignored_patterns, listing
from cares.repro.verify.lockfile import MODEL_FREE_SYSTEMS, MODEL_STAGES, parse_lock, touches

ROOT = Path(__file__).parents[2]
CHEAP = {
    "sounds", "rooms", "allocate", "timeline", "mix", "breaks", "audit", "counterfactuals", "items", "leaderboard",
    "report",
}  # fmt: skip


def test_the_allocation_is_the_same_under_another_path_locale_time_zone_umask_hash_seed_and_number_of_workers(tmp_path):
    root = tmp_path / "p"
    for name in (
        "cares/core",
        "cares/records",
        "cares/catalog",
        "cares/allocation",
        "stages/__init__.py",
        "stages/allocate.py",
        "cares/__init__.py",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, root / name)
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["allocation"]["scenes"] = 120
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    stage = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]["allocate"]
    stage["deps"].remove("data/sounds/bank.jsonl")
    (root / "dvc.yaml").write_text(yaml.safe_dump({"stages": {"allocate": stage}}), encoding="utf-8")
    git(root, "init", "-q")
    dvc(root, "init")
    dvc(root, "repro")
    commit(root, "built")
    done = verify(root, "--twice")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((root / "build/verify/report.json").read_text(encoding="utf-8"))
    assert [comparison["stages"][0]["files"] for comparison in report["comparisons"]] == [4, 4, 4]


def test_every_stage_is_known_as_one_that_loads_a_model_or_as_one_that_does_not():
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    assert set(stages) == MODEL_STAGES | CHEAP | {"bench"}
    lock = parse_lock((ROOT / "dvc.lock").read_text(encoding="utf-8"), "dvc.lock")
    free = {stage.name for stage in lock.values() if not stage.loads_a_model}
    assert free == CHEAP | MODEL_FREE_SYSTEMS | {"judge"}, "no judge is asked by default"


def test_dvc_lock_is_of_the_code_and_the_parameters_that_are_committed_with_it():
    lock = parse_lock((ROOT / "dvc.lock").read_text(encoding="utf-8"), "dvc.lock")
    made = [entry.path for stage in lock.values() for entry in stage.outs]
    patterns, stale = ignored_patterns(ROOT), {}
    for dep in {dep for stage in lock.values() for dep in stage.deps}:
        if not any(touches(dep.path, path) for path in made):
            path = ROOT / dep.path
            if not path.exists() or combined(listing(path, patterns)) != dep.md5:
                stale[dep.path] = [stage.name for stage in lock.values() if dep in stage.deps]
    for stage in lock.values():
        for field in changed_params(stage, ROOT / "params.yaml"):
            stale.setdefault(field, []).append(stage.name)
    assert not stale, f"run dvc repro and commit dvc.lock: {stale}"


def test_stages_come_after_those_that_they_read_from():
    lock = parse_lock((ROOT / "dvc.lock").read_text(encoding="utf-8"), "dvc.lock")
    done: set[str] = set()
    for stage in lock.values():
        for dep in stage.deps:
            for other in lock.values():
                if other.name != stage.name and any(touches(dep.path, out.path) for out in other.outs):
                    assert other.name in done, (stage.name, other.name)
        done.add(stage.name)
    assert len(done) == len(lock)
