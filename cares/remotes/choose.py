"""Which files of the data set are wanted: those of a split's scenes, those that hold no sound, or all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from cares.core.canonical import Json, read_jsonl
from cares.core.errors import InputError
from cares.records.scene import SPLITS
from cares.remotes.project import Tracked

SCENES = "data/scenes/scenes.jsonl"
ITEMS = "data/bench/items.jsonl"
MANIFEST = "data/bench/counterfactuals/manifest.jsonl"
# what is read, checked or scored by, beside the recordings
SCORING = (SCENES, "data/scenes/SHA256SUMS", ITEMS, MANIFEST)
SOUND = frozenset({".wav", ".flac", ".ogg", ".opus", ".mp3", ".npy"})


def check_splits(splits: Iterable[str]) -> None:
    """InputError when a split is unknown."""
    for split in splits:
        if split not in SPLITS:
            raise InputError("command line", "--split", split, f"one of {', '.join(SPLITS)}")


def is_metadata(path: str) -> bool:
    """Whether a file belongs to the metadata: all under data/ but sound and impulse responses."""
    name = PurePosixPath(path)
    return name.parts[0] == "data" and name.suffix.lower() not in SOUND


def recordings(root: Path, splits: Sequence[str]) -> dict[str, set[str]]:
    """The recordings of each split: its scenes, these without one of their sounds, and what its questions are about.

    Args:
        root: a tree in which the files of SCORING lie.
        splits: names of splits.

    Returns:
        split -> paths, with slashes, as the metadata name them.

    Raises:
        InputError: a line lacks a field, or a split has no scene.
    """
    found: dict[str, set[str]] = {split: set() for split in splits}
    counts: Counter[str] = Counter()
    for name, field in ((SCENES, "path"), (MANIFEST, "path"), (ITEMS, "audio")):
        if name != SCENES and not (root / name).is_file():
            continue
        for number, row in enumerate(read_jsonl(root / name), 1):
            split, path = _text(root / name, number, row, "split"), _text(root / name, number, row, field)
            counts[split] += name == SCENES
            if split in found:
                found[split].add(path)
    for split in splits:
        if not counts[split]:
            there = ", ".join(f"{count} of {name}" for name, count in sorted(counts.items()) if count) or "none"
            raise InputError(root / SCENES, "split", split, "a split with scenes", f"Scenes there: {there}.")
    return found


def _text(path: Path, number: int, row: Json, field: str) -> str:
    value = row.get(field) if isinstance(row, dict) else row
    if not isinstance(value, str):
        raise InputError(path, f"line {number}.{field}", value, "text")
    return value


def of_names(files: dict[str, Tracked], names: Iterable[str], said_by: str) -> list[Tracked]:
    """The tracked files of these names; InputError when the metadata name one that dvc.lock does not have."""
    found = []
    for name in sorted(names):
        if name not in files:
            raise InputError("dvc.lock", "", name, "a file of an out", f"It is named by {said_by}.")
        found.append(files[name])
    return found
