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
        return given_folder(given)
    return _origin(repo_root()) / ".cares" / "store"


def weights_root() -> Path:
    """Folder of model weights, shared by all clones: CARES_CACHE, else the user's cache folder."""
    given = os.environ.get("CARES_CACHE")
    return given_folder(given) if given else user_cache_path("cares")


def given_folder(given: str) -> Path:
    """A folder that an environment variable names, made absolute.

    In a temporary copy of an experiment a relative one means what it means in the repository the copy came from; in the
    copy itself it would be another folder, which DVC removes with the copy.
    """
    return _origin(Path.cwd()) / Path(given).expanduser()


def _origin(folder: Path) -> Path:
    """The repository whose DVC made the temporary copy that a folder lies in; the folder itself where it is in none."""
    for parent in folder.parents:
        if parent.name == "exps" and parent.parent.name == "tmp" and parent.parent.parent.name == ".dvc":
            return parent.parents[2]
    return folder
