"""Stand-ins for the weights: every model is ready, and has no file."""

import tempfile
from pathlib import Path

from cares.core.canonical import digest
from cares.models.registry import registered
from cares.models.schema import ReadyFile, ReadyModel


def ensure(model_id: str) -> Path:
    """A folder without weights; whoever reads in it finds out."""
    registered(model_id)
    return Path(tempfile.gettempdir())


def model_digest(model_id: str) -> str:
    """A hash that no real weights have."""
    return digest(["stand-in", model_id])


def ready_model(model_id: str) -> ReadyModel:
    """The registry's entry with one empty file made of it."""
    model = registered(model_id)
    return ReadyModel(
        id=model_id,
        name=f"stand-in for {model.name}",
        kind=model.kind,
        licence=model.licence,
        host=model.host,
        repository=model.repository,
        revision=model.revision,
        convert=model.convert,
        official=tuple(ReadyFile(name=f.name, size=f.size, sha256=f.sha256) for f in model.files),
        ready=(ReadyFile(name="stand-in", size=0, sha256=model_digest(model_id)),),
    )
