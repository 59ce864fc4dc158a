"""The weights that a rebuild takes from the user's cache are what the data set was made with, byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cares.core.canonical import Json, file_digest, read_json
from cares.core.errors import CaresError
from cares.core.executor import progress
from cares.core.params import Params
from cares.models.ensure import ensure, ready_model
from cares.models.params import ModelsParams
from cares.repro.verify.lockfile import LockedStage
from cares.repro.verify.places import Place

MODELS = "data/models.json"


def check_weights(place: Place, stages: Sequence[LockedStage], params: Path) -> list[Json]:
    """Hash every weight file of every model of the data set, where one of `stages` loads a model.

    Returns:
        The files that are not those of the data set, as differences of the environment: `field`, `stored`, `here`.

    Raises:
        CaresError: a file is not what it was when it was made ready.
    """
    if "models" not in place.lock or not any(stage.loads_a_model for stage in stages):
        return []
    recorded = _recorded(place)
    names = list(recorded or dict.fromkeys(Params(params).section("models", ModelsParams).ids()))
    differences = []
    for name in progress(names, desc="weights: sha256", unit="model"):
        if recorded and recorded[name]["host"] == "server":
            continue
        folder = ensure(name)
        ready = ready_model(name).ready
        for file in ready:
            if (found := file_digest(folder / file.name)) != file.sha256:
                raise CaresError(
                    f"{folder / file.name}: sha256 {found}, expected {file.sha256}; remove {folder} and run: "
                    f"cares models fetch {name}"
                )
        here = {file.name: file.sha256 for file in ready}
        stored = {file["name"]: file["sha256"] for file in recorded[name]["ready"]} if recorded else here
        differences += [
            {"field": f"weights.{name}/{file}", "stored": stored.get(file), "here": here.get(file)}
            for file in sorted({*here, *stored})
            if here.get(file) != stored.get(file)
        ]
    return differences


def _recorded(place: Place) -> Json:
    if "models" in place.lock:
        for entry in place.lock["models"].outs:
            if entry.path == MODELS and (path := place.file(entry, "", entry.md5)):
                return read_json(path)
    return None
