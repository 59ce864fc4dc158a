"""What this machine is, for people: the facts on which results of the profile-bound stages may depend."""

from __future__ import annotations

import os
from pathlib import Path

from cares.core.canonical import file_digest, read_json
from cares.core.errors import InputError
from cares.core.executor import worker_count
from cares.core.paths import store_root, weights_root
from cares.repro.environment import findings
from cares.repro.fingerprint import FILE, basics, environment_differences, fingerprint
from cares.repro.machine import disk, memory
from cares.repro.parts import scenes_text


def describe(root: Path) -> str:
    """The fingerprint, settings, memory, folders and state of the data, as text for people.

    What is wrong with a setting is said in its line; nothing is raised for it.
    """
    found = basics()
    lines = [
        f"cares {found['cares']}, Python {found['python']}, {found['system']} {found['machine']}",
        f"processor     {found['processor']['name']}; {os.cpu_count()} in all, {_workers()}",
        f"instructions  {' '.join(found['processor']['flags']) or 'unknown'}",
        f"memory        {memory()}",
        f"disk          {disk({'here': root, 'at the weights': weights_root(), 'at the item store': store_root()})}",
        f"weights       {weights_root()}",
        f"item store    {store_root()}",
        f"language model {'server of CARES_LLM_URL' if os.environ.get('CARES_LLM_URL') else 'in this process'}",
        *(f"setting       {finding}" for finding in findings()),
        "packages      " + ", ".join(f"{name} {version}" for name, version in found["packages"].items()),
    ]
    if "dvc" not in found["packages"]:
        lines.append("missing       dvc: run make env")
    models = root / "data" / "models.json"
    if models.is_file():
        names = ", ".join(sorted(read_json(models)))
        lines.append(f"models        {names} (hashes in data/models.json)")
    else:
        lines.append("models        not made yet: run make repro, or cares pull")
    scenes = root / "data" / "scenes"
    here = len(list(scenes.glob("*.wav"))) if scenes.is_dir() else 0
    count = max(here, _named_scenes(scenes / "SHA256SUMS"))
    rest = " (the rest: cares pull)" if here < count else ""
    lines.append(
        f"scenes        {scenes_text(here, count)} in data/scenes{rest}"
        if count
        else "scenes        none yet: run make repro, or cares pull"
    )
    # what scores needs no torch, and could not have built the set
    light = "torch" not in found["packages"]
    told = "for scoring only (no torch): not compared; to build: make env" if light else _stored(root)
    lines.append(f"environment   {told}")
    return "\n".join(lines)


def _stored(root: Path) -> str:
    """How this machine compares with the one on which the data set was built."""
    path = root / FILE
    if not path.is_file():
        return f"no {FILE} beside dvc.lock; after a build: cares doctor --store"
    found = [one["field"] for one in environment_differences(read_json(path), fingerprint(root))]
    return f"not as in {FILE}: {', '.join(found)}" if found else f"as in {FILE}"


def _named_scenes(sums: Path) -> int:
    """How many recordings SHA256SUMS names; 0 where it is not here."""
    text = sums.read_text(encoding="utf-8", errors="replace") if sums.is_file() else ""
    return sum(line.endswith(".wav") for line in text.splitlines())


def _workers() -> str:
    try:
        return f"{worker_count()} workers"
    except InputError:
        return "workers not known (CARES_WORKERS)"


def damaged_scenes(root: Path) -> tuple[list[str], list[str]]:
    """The files of SHA256SUMS that are not what it says, and those that are not here, as after a pull of one split.

    InputError names a line that is none of a file beside it.
    """
    sums = root / "data" / "scenes" / "SHA256SUMS"
    if not sums.is_file():
        return [], []
    damaged, absent = [], []
    for number, line in enumerate(sums.read_text(encoding="utf-8").splitlines(), 1):
        wanted, _, name = line.partition(" ")
        name = name.strip().lstrip("*")
        if not name or name != Path(name).name or "\0" in name:
            raise InputError(sums, f"line {number}", line, "a hash and the name of a file beside it")
        path = sums.parent / name
        if not path.is_file():
            absent.append(path.name)
        elif file_digest(path) != wanted:
            damaged.append(path.name)
    return damaged, absent
