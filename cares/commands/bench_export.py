"""`cares bench export`: the items as tasks of Inspect or of lmms-eval."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class FormatName(StrEnum):
    """Other evaluation tools."""

    INSPECT = "inspect"
    LMMS_EVAL = "lmms-eval"


class SplitName(StrEnum):
    """Parts of the data set."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


def register(group: typer.Typer) -> None:
    """Add the command to the group `bench`."""
    group.command()(export)


def export(
    form: Annotated[FormatName, typer.Option("--format", help="The other tool.")],
    out: Annotated[Path, typer.Option(help="Folder to write; an export that is there is replaced.")],
    items: Annotated[Path | None, typer.Option(help="items.jsonl; by default data/bench/items.jsonl.")] = None,
    data: Annotated[Path | None, typer.Option(help="Root of the data set.")] = None,
    split: Annotated[SplitName | None, typer.Option(help="Only the items of one split.")] = None,
    copy_audio: Annotated[
        bool, typer.Option("--copy-audio", help="Put the recordings into the folder, so that it can be carried away.")
    ] = False,
) -> None:
    """Write the items as tasks of Inspect or of lmms-eval, with the files that run them there."""
    from cares.bench.exports.write import export as write
    from cares.bench.run_items import ITEMS, check_recordings, data_root
    from cares.catalog.load import load_catalog
    from cares.core.paths import repo_root
    from cares.core.record import read_records
    from cares.records.item import Item

    if items is not None:
        # recordings are named from the folder that holds data/, which for a file of its own is the one it lies in
        root = _root_of(items) if data is None else data
        path = items
    else:
        root = data_root(data or Path()) if data is not None or ITEMS.is_file() else repo_root()
        path = root / ITEMS
    found = read_records(Item, path)
    check_recordings(found, path)
    found = [item for item in found if split is None or item.split == split.value]
    count = write(found, load_catalog(), root, form.value, out, copy_audio)
    print(f"bench export: {count} items for {form.value} -> {out} (see README.md there)")


def _root_of(path: Path) -> Path:
    """The folder above data/ for DATA/bench/items.jsonl, else the file's own."""
    folder = path.resolve().parent
    return folder.parent.parent if (folder.name, folder.parent.name) == ("bench", "data") else folder
