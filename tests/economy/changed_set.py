"""A small set built by DVC with stand-ins for all models, and what each `dvc repro` after a change runs and makes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
}


@dataclass(frozen=True)
class Ran:
    """What one `dvc repro` did.

    Attributes:
        stages: those that ran, each once, in order.
        made, taken: keys of items by family: made anew, and taken from the item store.
        loaded: models that were loaded, by kind.
        requests, tokens: what the language model was asked for, and what it wrote.
    """

    stages: tuple[str, ...]
    made: Mapping[str, frozenset[str]]
    taken: Mapping[str, frozenset[str]]
    loaded: frozenset[str]
    requests: int
    tokens: int


class ChangedSet:
    """A clone of this checkout in `folder`, with params of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs = 0
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
        self._runs += 1
        log = self.folder / f"counted-{self._runs}.log"
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
        stages = [name.split("@")[0] for name in re.findall(r"Running stage '([^']+)'", done.stdout)]
        lines = [line.split(" ") for line in log.read_text(encoding="utf-8").splitlines()]

        def keys(what: str) -> dict[str, frozenset[str]]:
            return {
                name: frozenset(key for kind, *rest in lines if kind == what and rest[0] == name for key in rest[1:])
                for name in FAMILIES
            }

        made = keys("made")
        asked = [line for line in lines if line[0] == "asked"]
        return Ran(
            stages=tuple(dict.fromkeys(stages)),
            made=made,
            # what was made in this run and read again was not there before
            taken={name: found - made[name] for name, found in keys("taken").items()},
            loaded=frozenset(" ".join(line[1:]) for line in lines if line[0] == "loaded"),
            requests=sum(int(line[1]) for line in asked),
            tokens=sum(int(line[2]) for line in asked),
        )

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
