"""Builds a small set by DVC with stand-ins for all models; for each change, changes a copy of it so, and counts.

    python -m tests.economy.count_changes --out DIR [CHANGE ...]

DIR/built is the set and DIR/CHANGE what became of it; what is there already is built on, and not counted again. Once
all changes are counted and each kept what it promises (`changes.py`), counted.json beside this file and the second
table of docs/changes.md are written anew.
"""

from __future__ import annotations

import argparse
import json
import shutil
import traceback
from pathlib import Path

from tests.economy.changed_set import ChangedSet, Ran
from tests.economy.changes import CHANGES, RECORDS, Outcome
from tests.economy.counted_table import FIGURES, write_page

LAST = "judge"  # what follows, and audit and breaks, has no items: it reads the whole set and loads no model


def counted(built: ChangedSet, whole: Ran, name: str, folder: Path) -> Outcome:
    """Change a copy of a set in `folder` and run it as far as `LAST`, unless that was done."""
    done = ChangedSet(folder).run(2) if (folder / "dvc.yaml").is_file() else None
    if done is None:
        shutil.rmtree(folder, ignore_errors=True)
        copy = ChangedSet(folder, built)
        CHANGES[name].apply(folder)
        done = copy.repro(LAST)
    return Outcome(whole, done, built.lines(*RECORDS), ChangedSet(folder).lines(*RECORDS))


def figures(one: Ran) -> dict[str, object]:
    """What is kept of a run."""
    return {"ran": list(one.stages), "left": list(one.left), "made": one.counts()}


def of_whole(one: Ran) -> dict[str, object]:
    """The same of the run that built the set; takes and rooms may have been in its item store before."""
    banked = {"takes": one.made["sounds"] | one.taken["sounds"], "rooms": one.made["rooms"] | one.taken["rooms"]}
    return {**figures(one), "made": one.counts() | {kind: len(keys) for kind, keys in banked.items()}}


def main() -> None:
    """Build, change, count, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the sets")
    parser.add_argument("changes", nargs="*", help=f"which, by default all: {', '.join(CHANGES)}")
    given = parser.parse_args()
    if unknown := set(given.changes) - CHANGES.keys():
        parser.error(f"no such change: {', '.join(sorted(unknown))}")
    out: Path = given.out.absolute()
    kept = out / "counted.json"
    built = ChangedSet(out / "built")
    whole = built.run(1) or built.repro(LAST)
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    found["whole"] = of_whole(whole)
    broken = []
    for name in given.changes or [name for name in CHANGES if name not in found]:
        outcome = counted(built, whole, name, out / name)
        made = figures(outcome.ran)
        print(name, json.dumps(made), flush=True)
        try:
            CHANGES[name].holds(outcome)
        except AssertionError:
            traceback.print_exc()
            broken.append(name)
            continue
        found[name] = made
        kept.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if broken:
        raise SystemExit(f"error: more was made than the change touches: {', '.join(broken)}")
    if all(name in found for name in CHANGES):
        FIGURES.write_text(
            json.dumps({"whole": found["whole"]} | {n: found[n] for n in CHANGES}, indent=1) + "\n", encoding="utf-8"
        )
        write_page()


if __name__ == "__main__":
    main()
