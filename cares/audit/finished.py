"""The audit of a finished data set."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from cares.audit.features import Example, scene_examples
from cares.audit.params import AuditParams
from cares.audit.run import audit
from cares.catalog.load import load_catalog
from cares.core.canonical import Json
from cares.core.errors import InputError
from cares.core.executor import check_not_empty, map_items
from cares.core.record_file import LazySequence, RecordFile
from cares.records.timeline import MixedScene


def audit_scenes(path: Path, params: AuditParams, seed: int) -> tuple[list[Example], Json]:
    """Measure every event of a scenes.jsonl and its sound files, and audit them; the same for any number of workers.

    The files lie where the records say, below the nearest folder above `path` where the first one is found.

    Raises:
        InputError: scenes.jsonl or a sound file is missing or damaged.
        CaresError: there is no scene.
    """
    finished = RecordFile(MixedScene, path)
    scenes = LazySequence(list(finished), finished.__getitem__)
    check_not_empty(scenes, path)
    root = _root_of(path, scenes[0])
    measured = map_items(partial(_examples, root=root, context_ms=params.context_ms), scenes, desc="audit")
    examples = [example for each in measured for example in each]
    rare = {sound.id for sound in load_catalog().sounds.values() if sound.group == "rare"}
    return examples, {"scenes": len(scenes), **audit(examples, params, seed, rare)}


def _examples(scene: MixedScene, root: Path, context_ms: int) -> list[Example]:
    return scene_examples(scene, root, context_ms)


def _root_of(path: Path, scene: MixedScene) -> Path:
    for folder in path.absolute().parents:
        if (folder / scene.path).is_file():
            return folder
    raise InputError(path, scene.scene_id, scene.path, "a sound file below a folder above this file")
