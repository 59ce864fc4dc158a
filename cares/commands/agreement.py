"""`cares agreement`: how far annotators agree, with each other and with the labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(agreement)


def agreement(
    annotations: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="CSV or JSON Lines with item_id, annotator, label.")
    ],
    items: Annotated[
        Path | None,
        typer.Option(help="items.jsonl: check ids and labels, keep templates together, compare with the right labels."),
    ] = None,
    resamples: Annotated[int, typer.Option(min=100, max=100_000, help="Bootstrap resamples.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 1,
    out: Annotated[Path | None, typer.Option(help="JSON file to write.")] = None,
) -> None:
    """Cohen's and Fleiss' kappa and Krippendorff's alpha of annotation files, each with a 95 % interval."""
    from cares.bench.agreement import agreement as measure
    from cares.bench.agreement_files import read_annotations
    from cares.core.canonical import Json, write_json
    from cares.core.record import read_records
    from cares.records.item import Item

    of_file = {} if items is None else {item.item_id: item for item in read_records(Item, items) if item.choices}
    known = None if items is None else {name: item.choices for name, item in of_file.items()}
    given = read_annotations(annotations, known)
    clusters = None if items is None else {name: item.template_id for name, item in of_file.items()}
    gold = None if items is None else {name: item.answer for name, item in of_file.items()}
    found = measure(given, resamples, seed, clusters, gold)

    def shown(value: Json) -> str:
        if value["value"] is None:
            return "not defined"
        ends = f", 95 % interval {value['ci95'][0]:.3f} to {value['ci95'][1]:.3f}" if value["ci95"] else ""
        return f"{value['value']:.3f}{ends}"

    print(f"Cohen's kappa, mean of pairs   {shown(found['cohen'])}")
    print(f"Fleiss' kappa                  {shown(found['fleiss'])} ({found['fleiss']['items']} items)")
    print(f"Krippendorff's alpha           {shown(found['krippendorff'])} ({found['krippendorff']['items']} items)")
    for name, value in found.get("gold", {}).items():
        print(f"right labels, {name:16} {shown(value)} ({value['items']} items)")
    if out is not None:
        write_json(out, found)
    written = f" -> {out}" if out is not None else ""
    print(f"agreement: {found['annotators']} annotators, {found['items']} items{written}")
