"""The registry of models, read once and validated."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from cares.core.errors import InputError
from cares.core.params import read_yaml
from cares.models.schema import Model, Registry

REGISTRY = Path(__file__).with_name("registry.yaml")


@cache
def load_registry(path: Path = REGISTRY) -> dict[str, Model]:
    """All models by id; InputError names the file and field of an unknown key or a wrong value."""
    return dict(Registry.parse(read_yaml(path), path.name).models)


def registered(model_id: str, path: Path = REGISTRY) -> Model:
    """The entry of `model_id`; InputError lists the known ids when there is none."""
    models = load_registry(path)
    if model_id not in models:
        hint = f"Known: {', '.join(sorted(models))}. docs/ tell how to add one"
        raise InputError(path.name, "models", model_id, "the id of a registered model", hint)
    return models[model_id]
