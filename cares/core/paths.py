"""Where things are: the repository, the item store and the weight cache. None of these reaches a tracked output."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

from cares.core.errors import CaresError


def repo_root(start: Path | None = None) -> Path:
    """The nearest folder upwards that holds dvc.yaml; CaresError when there is none."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "dvc.yaml").is_file():
            return folder
    raise CaresError(f"{here}: no dvc.yaml here or above; run this inside a clone of the repository")


def store_root() -> Path:
    """Folder of the item store: CARES_STORE, else .cares/store of the repository.

    An experiment that DVC runs in a temporary copy (.dvc/tmp/exps/...) shares the store of the repository it came from.
    """
    if given := os.environ.get("CARES_STORE"):
        return Path(given).expanduser().absolute()
    root = repo_root()
    for parent in root.parents:
        if parent.name == ".dvc":
            return parent.parent / ".cares" / "store"
    return root / ".cares" / "store"


def weights_root() -> Path:
    """Folder of model weights, shared by all clones: CARES_CACHE, else the user's cache folder."""
    given = os.environ.get("CARES_CACHE")
    return Path(given).expanduser().absolute() if given else user_cache_path("cares")
