"""`cares bench compare`: a leaderboard of models that were scored by `cares bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(group: typer.Typer) -> None:
    """Add the command to the group `bench`."""
    group.command()(compare)


def compare(
    results: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Folders that cares bench wrote.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it is replaced.")],
    data: Annotated[Path, typer.Option(help="Root of the data set.")] = Path(),
    published: Annotated[
        Path | None, typer.Option(help="YAML file of published results; by default the one of the package.")
    ] = None,
    resamples: Annotated[int, typer.Option(min=100, max=100_000, help="Bootstrap resamples.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 1,
) -> None:
    """Put scored models into one table, with published results, and test their differences on the same items."""
    from cares.bench.leaderboard_folders import compare_folders, scored_folders
    from cares.bench.leaderboard_published import FILE, read_published
    from cares.bench.run_items import ITEMS, data_root
    from cares.catalog.load import load_catalog
    from cares.core.atomic import replace_folder, write_bytes
    from cares.core.canonical import write_json
    from cares.core.errors import InputError

    if out.is_file() or (out.is_dir() and any(out.iterdir()) and not (out / "leaderboard.json").is_file()):
        raise InputError("command line", "--out", str(out), "a new folder, or one that holds a leaderboard")
    entries = read_published(published or FILE)
    scored, left_out = scored_folders(results)
    for line in left_out:
        print(f"bench compare: {line}")
    found = compare_folders(scored, data_root(data) / ITEMS, entries, load_catalog(), resamples, seed)
    with replace_folder(out) as work:
        for name, text in found.texts.items():
            write_bytes(work / name, text.encode("utf-8"))
        write_json(work / "leaderboard.json", found.report)
    print(found.texts["leaderboard.md"])
    for one in found.report["differences"]:
        print(f"{one['task']:24} {one['a']} - {one['b']}: {one['difference']:+.4f}, p corrected {one['p_holm']:.4f}")
    print(f"bench compare: {len(scored)} models, {len(entries)} published results -> {out}")
