"""Kill stages at random moments and see whether a plain `dvc repro` ends with the same hashes.

    python -m tests.faults.harness --kills 60 --seed 1 --out DIR [--real] [--stages speech,mix] [--scenes 4] [--others]

makes a clone of this checkout in DIR/clone, builds it once and kills. The models are instant stand-ins, or with --real
those of params.yaml. Figures go to DIR/faults.json after each kill and to DIR/faults.md at the end. Started again with
the same DIR, it goes on with the next kill. The exit status is 0 when all promises were kept.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
import uuid
from dataclasses import asdict
from pathlib import Path

import yaml

from tests.faults.clones import STAND_INS, Clone, commit, copy_checkout, write_json
from tests.faults.kills import Outcome, carry_out
from tests.faults.others import damage_store, full_disks, twice_at_once
from tests.faults.plans import plans
from tests.faults.processes import marked
from tests.faults.reference import Reference, build, keep, restore_store
from tests.faults.servers import servers_lost
from tests.faults.small import make_small
from tests.faults.tables import summary, table


def prepare(out: Path, scenes: int, real: bool, stand_ins: Path, seeds: Path | None) -> tuple[Clone, Reference]:
    """The clone and its reference: made, or taken from an earlier run in the same folder.

    Args:
        seeds: an item store whose entries the clone's begins with, so that the first build costs less.
    """
    kept = out / "reference.json"
    clone = Clone(out / "clone", uuid.uuid4().hex, () if real else (stand_ins,))
    if kept.is_file():
        return clone, Reference.from_json(json.loads(kept.read_text(encoding="utf-8")))
    if not clone.root.exists():
        clone.root.mkdir(parents=True)
        copy_checkout(clone.root)
        make_small(clone.root, scenes, real)
        commit(clone.root, "small")
        if seeds is not None:
            take_entries(seeds, clone.store)
    began = time.monotonic()
    reference = build(clone, out / "build.log", out / "store")
    keep(reference, out / "costs.json")
    print(f"reference: {len(reference.stages)} stages, {len(reference.files)} files, {time.monotonic() - began:.0f} s")
    write_json(kept, reference.to_json())
    return clone, reference


def take_entries(source: Path, store: Path) -> None:
    """Copy another store's entries; what is not asked for again is only in the way."""
    shutil.copytree(source, store, ignore=shutil.ignore_patterns("*.part"), dirs_exist_ok=True)


def other_faults(clone: Clone, reference: Reference, seed: int, real: bool, out: Path) -> dict[str, dict[str, object]]:
    """Damaged entries, two runs at once, full disks, a server that dies; the figures also go to DIR/others.json."""
    log = out / "others.log"
    found = {"damaged entries": damage_store(clone, reference, seed, log)}
    restore_store(clone, reference)
    found["two runs at once"] = twice_at_once(clone, reference, log)
    found["full disks"] = full_disks(clone, reference, seed, out / "disk", log)
    if not real:
        # with stand-ins for the models there is one for the server too
        model = yaml.safe_load((clone.root / "params.yaml").read_text(encoding="utf-8"))["models"]["writer"]
        found["the server dies"] = servers_lost(clone, reference, "dialogues", model, seed, log)
    write_json(out / "others.json", found)
    return found


def main() -> int:
    """Read the command line, kill, write the figures; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scenes", type=int, default=4)
    parser.add_argument("--stages", help="names with commas between them; by default all")
    parser.add_argument("--real", action="store_true", help="the models of params.yaml instead of stand-ins")
    parser.add_argument("--stand-ins", type=Path, default=STAND_INS)
    parser.add_argument("--seed-store", type=Path, help="an item store to begin with")
    parser.add_argument("--others", action="store_true", help="the other faults too, after the kills")
    given = parser.parse_args()
    if not given.real and not given.stand_ins.is_dir():
        parser.error(f"--stand-ins {given.stand_ins}: there are no stand-ins for the models here")
    out = given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    clone, reference = prepare(out, given.scenes, given.real, given.stand_ins, given.seed_store)
    stages = given.stages.split(",") if given.stages else None
    outcomes: list[Outcome] = []
    figures = out / "faults.json"
    if figures.is_file():
        outcomes = [Outcome.from_json(each) for each in json.loads(figures.read_text(encoding="utf-8"))["kills"]]
    restore_store(clone, reference)
    for plan in plans(reference, given.kills, given.seed, stages)[len(outcomes) :]:
        outcome = carry_out(clone, reference, plan, out / "kills.log")
        outcomes.append(outcome)
        write_json(figures, {"summary": summary(outcomes), "kills": [asdict(each) for each in outcomes]})
        state = "as before" if outcome.sound else f"BROKEN: {asdict(outcome)}"
        print(
            f"{plan.number}: {plan.stage} {plan.way} at {plan.moment:.0%}: {outcome.met or 'ended before'}, "
            f"{outcome.doing}, {outcome.new_entries} of {outcome.missing} entries; {outcome.seconds} s; {state}",
            flush=True,
        )
    others = other_faults(clone, reference, given.seed, given.real, out) if given.others else {}
    text = table(outcomes, reference.stages)
    (out / "faults.md").write_text(text, encoding="utf-8")
    print(text)
    print(summary(outcomes))
    for name, found in others.items():
        print(f"{name}: {found}")
    sound = all(outcome.sound for outcome in outcomes) and not any(
        found["differences"] or found.get("broken") for found in others.values()
    )
    return 0 if sound and not marked(clone.mark) else 1


if __name__ == "__main__":
    sys.exit(main())
