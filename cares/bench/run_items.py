"""The frozen questions of a pulled data set: where they lie, whether they are the right ones, and which are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from cares.bench.items_file import read_items
from cares.bench.params import check_group
from cares.bench.systems_audio import PULL
from cares.core.canonical import file_digest, read_json
from cares.core.errors import InputError
from cares.records.item import Item
from cares.records.scene import SPLITS

ITEMS = Path("data/bench/items.jsonl")
METRICS = Path("metrics/items.json")


def data_root(given: Path) -> Path:
    """The folder that holds data/bench/items.jsonl: the given one, or the one above if the given is `data` itself.

    Raises:
        InputError: there are no items in either.
    """
    roots = [given]
    if given.resolve().name == "data":
        roots.append(given.parent if given.name == "data" else given.resolve().parent)
    for root in roots:
        if (root / ITEMS).is_file():
            return root
    raise InputError(given / ITEMS, "", "no such file", "the frozen questions", PULL)


def frozen_items(root: Path) -> list[Item]:
    """The items under a root.

    Raises:
        InputError: the file is not the one that metrics/items.json beside it tells of, is not valid, or an item's
            recording lies outside the root.
    """
    path = root / ITEMS
    if (root / METRICS).is_file():
        told = read_json(root / METRICS)
        wanted = told.get("sha256") if isinstance(told, dict) else None
        if wanted is not None and (found := file_digest(path)) != wanted:
            raise InputError(path, "sha256", found, f"{wanted}, as {root / METRICS} says", PULL)
    items = read_items(path)
    check_recordings(items, path)
    return items


def check_recordings(items: Sequence[Item], path: Path) -> None:
    """That no item names a file outside the data set; InputError otherwise."""
    for number, item in enumerate(items, 1):
        audio = PurePosixPath(item.audio)
        if audio.is_absolute() or ".." in audio.parts:
            raise InputError(path, f"line {number}.audio", item.audio, "a path from the root of the data set")


def chosen_items(items: Sequence[Item], tasks: Sequence[str], splits: Sequence[str], file: Path) -> list[Item]:
    """The items of the wanted tasks (or levels) and splits; InputError when a name is unknown or nothing is left."""
    for split in splits:
        if split not in SPLITS:
            raise InputError("command line", "--split", split, f"one of {', '.join(SPLITS)}")
    for task in tasks:
        try:
            check_group(task)
        except ValueError as error:
            raise InputError("command line", "--task", task, str(error)) from None
    chosen = [
        item
        for item in items
        if (not splits or item.split in splits) and (not tasks or item.task in tasks or item.group in tasks)
    ]
    if not chosen:
        wanted = ", ".join([*tasks, *splits]) or "anything"
        raise InputError(file, "", f"no item of {wanted}", "at least one question to ask")
    return chosen
