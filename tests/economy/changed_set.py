"""A small set built by DVC with stand-ins for all models, and what each `dvc repro` after a change runs and makes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.scale.dry_params import set_params

ROOT = Path(__file__).parents[2]
STAND_INS = ROOT / "tests" / "economy" / "stand_ins"
SCENES = 12
FAMILIES = ("sounds", "rooms", "llm", "speech", "asr", "timeline", "mix", "counterfactual")
# whatever makes the stages short that work on the set as a whole, and groups small enough that there are several
QUICK: Mapping[str, Mapping[str, Any]] = {
    "sounds": {"takes": {"train": 1, "validation": 1, "test": 1}},
    "rooms": {"event_positions": 1, "max_seconds": 0.5},
    "calibration": {"measure": ["classifier"], "bootstrap_draws": 100},
    "topics": {"group_scenes": 4},
    "dialogues": {"group_scenes": 4},
    "align": {"cross_checks": 1},
    "breaks": {"folds": 2, "repeats": 1, "bootstrap": 100},
    "audit": {"folds": 2, "repeats": 1, "bootstrap": 100, "trees": 10},
    "bench": {"wave_templates": 4, "bootstrap": 100},
}
# what makes the set; the stages behind them hear it and ask about it
MAKING = frozenset({"models", "sounds", "rooms", "allocate", "calibrate", "topics", "dialogues", "speech", "align"})
Line = tuple[str, ...]


@dataclass(frozen=True)
class Ran:
    """What one `dvc repro` did.

    Attributes:
        stages: those that ran, each once, in order.
        left: those that did not: nothing that they read was different, or DVC had their outs of an earlier run.
        made, taken: keys of items by family: made anew, and taken from the item store.
        loaded: models that were loaded, by kind.
        requests, tokens: what the language model was asked for, and what it wrote.
        lines: what the stand-ins wrote down: stage, what, and more.
    """

    stages: tuple[str, ...]
    left: tuple[str, ...]
    made: Mapping[str, frozenset[str]]
    taken: Mapping[str, frozenset[str]]
    loaded: frozenset[str]
    requests: int
    tokens: int
    lines: tuple[Line, ...]

    def loaded_in(self, stages: frozenset[str]) -> set[str]:
        """Models that were loaded in some stages, by kind."""
        return {" ".join(rest) for stage, what, *rest in self.lines if what == "loaded" and stage in stages}

    def spoken(self) -> Counter[str]:
        """How many utterances of the set each voice spoke anew, by model and voice."""
        return Counter(rest[0] for stage, what, *rest in self.lines if (stage, what) == ("speech", "spoke"))

    def counts(self) -> dict[str, int]:
        """Items that were made anew, of each of `KINDS`."""
        return {kind: sum(map(of, self.lines)) for kind, of in KINDS.items()}


def _made(family: str, stage: str = "") -> Callable[[Line], int]:
    return lambda line: line[1:3] == ("made", family) and stage in ("", line[0])


def _asked(*stages: str) -> Callable[[Line], int]:
    # a kept wave is as many requests as it has answers; what tries the model before the first is not kept
    return lambda line: int(line[4]) if line[1:3] == ("made", "llm") and line[0] in stages else 0


# kinds of items, and how many of one a line of the log tells of
KINDS: Mapping[str, Callable[[Line], int]] = {
    "takes": _made("sounds"),
    "rooms": _made("rooms"),
    "requests to the writer": _asked("calibrate", "topics", "dialogues"),
    "utterances spoken": lambda line: line[:2] == ("speech", "spoke"),
    "windows of speech heard": _made("asr", "speech"),
    "scenes aligned": lambda line: line[1] == "aligned",
    "timelines": _made("timeline"),
    "mixes": _made("mix"),
    "mixes without an event": _made("counterfactual"),
    "mixes heard": _made("asr", "transcribe"),
    "questions to the systems": _asked("bench", "judge"),
}


class ChangedSet:
    """A clone of this checkout in `folder`, with params of its own; the one that is there; or a copy of another."""

    def __init__(self, folder: Path, of: ChangedSet | None = None) -> None:
        self.folder = folder
        if of is None and (folder / "dvc.yaml").is_file():
            return
        if of is not None:
            # what is in these two is never changed in place
            shared = (of.folder / ".cares/store", of.folder / ".dvc/cache")
            shutil.copytree(of.folder, folder, ignore=lambda at, names: {n for n in names if Path(at, n) in shared})
            for path in shared:
                shutil.copytree(path, folder / path.relative_to(of.folder), copy_function=os.link)
            return
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        # what is in the lock file was made by real models
        (folder / "dvc.lock").unlink(missing_ok=True)
        set_params(folder / "params.yaml", SCENES)
        for section, values in QUICK.items():
            self.set_params(section, **values)
        for command in (
            ["init", "-q"],
            ["add", "-A"],
            ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "start"],
        ):
            subprocess.run(["git", *command], cwd=folder, check=True)

    def set_params(self, section: str, **values: Any) -> None:
        """Change values of params.yaml."""
        path = self.folder / "params.yaml"
        params = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert values.keys() <= params[section].keys()
        params[section].update(values)
        path.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")

    def repro(self, *targets: str) -> Ran:
        """`dvc repro`, and what it did."""
        log = self.folder / f"counted-{len(list(self.folder.glob('counted-*.log'))) + 1}.log"
        log.touch()
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(STAND_INS),
            "PYTHONDONTWRITEBYTECODE": "1",
            "DVC_NO_ANALYTICS": "1",
            "CARES_STORE": str(self.folder / ".cares/store"),
            "CARES_WORKERS": "1",
            "CARES_DEVICE": "cpu",
            "ECONOMY_LOG": str(log),
        }
        command = ["dvc", "repro", *targets]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
        log.with_suffix(".told").write_text(done.stdout, encoding="utf-8")
        return ran(done.stdout, log.read_text(encoding="utf-8"))

    def run(self, number: int) -> Ran | None:
        """What the first, the second, ... `dvc repro` did; None where it did not end well."""
        told, log = (self.folder / f"counted-{number}.{kind}" for kind in ("told", "log"))
        return ran(told.read_text(encoding="utf-8"), log.read_text(encoding="utf-8")) if told.is_file() else None

    def lines(self, *names: str) -> dict[str, set[str]]:
        """The lines of files, of each as a set."""
        return {name: set((self.folder / name).read_text(encoding="utf-8").splitlines()) for name in names}

    def files(self, *folders: str) -> dict[str, bytes]:
        """The sounds in folders."""
        found = [path for name in folders for path in sorted((self.folder / name).iterdir())]
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes()
            for path in found
            if path.suffix in (".wav", ".flac")
        }


class Built(NamedTuple):
    """A set, and what the run did that built it."""

    set: ChangedSet
    first: Ran


def ran(told: str, log: str) -> Ran:
    """What a run did, by what DVC told of it and what the stand-ins wrote down."""
    stages = _stages(r"Running stage '([^']+)'", told)
    left = _stages(r"Stage '([^']+)' (?:didn't change|is cached)", told)
    lines = [tuple(line.split(" ")) for line in log.splitlines()]

    def keys(what: str) -> dict[str, frozenset[str]]:
        return {
            name: frozenset(rest[1] for _, kind, *rest in lines if kind == what and rest[0] == name)
            for name in FAMILIES
        }

    made = keys("made")
    asked = [rest for _, what, *rest in lines if what == "asked"]
    return Ran(
        stages=stages,
        left=tuple(name for name in left if name not in stages),
        made=made,
        # what was made in this run and read again was not there before
        taken={name: found - made[name] for name, found in keys("taken").items()},
        loaded=frozenset(" ".join(rest) for _, what, *rest in lines if what == "loaded"),
        requests=sum(int(requests) for requests, _ in asked),
        tokens=sum(int(tokens) for _, tokens in asked),
        lines=tuple(lines),
    )


def _stages(pattern: str, text: str) -> tuple[str, ...]:
    """Stages that `dvc repro` tells of, those of a matrix as one."""
    return tuple(dict.fromkeys(name.split("@")[0] for name in re.findall(pattern, text)))
