"""`cares sounds`: what the bank covers, and pinning recordings of Freesound."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class SourceChoice(StrEnum):
    """The sources of sounds that can be asked for."""

    PROCEDURAL = "procedural"
    FOLDER = "folder"
    FREESOUND = "freesound"


def register(app: typer.Typer) -> None:
    """Add the group `sounds`."""
    sounds = typer.Typer(no_args_is_help=True, help="The bank of sounds.")
    sounds.command("coverage")(coverage)
    sounds.command("pin")(pin)
    app.add_typer(sounds, name="sounds")


def coverage(
    source: Annotated[
        list[SourceChoice] | None,
        typer.Option(help="Show what these sources would deliver, in order of preference, instead of the bank."),
    ] = None,
) -> None:
    """Show which sounds have how many takes per split, from where, and what is missing.

    Without --source the bank is shown, or, before it is built, what the sources of params.yaml would deliver.
    """
    from cares.catalog.load import load_catalog
    from cares.core.params import Params
    from cares.core.paths import repo_root
    from cares.core.record import read_records
    from cares.records.bank import Take
    from cares.sounds.bank import BANK, plan_takes
    from cares.sounds.coverage import coverage_text, held, planned
    from cares.sounds.params import SoundsParams
    from cares.sounds.sources import open_sources

    root, catalog = repo_root(), load_catalog()
    if source is None and (root / BANK).is_file():
        print(coverage_text(held(read_records(Take, root / BANK)), catalog))
        return
    params = Params(root / "params.yaml")
    section = params.section("sounds", SoundsParams)
    if source is not None:
        names = tuple(dict.fromkeys(name.value for name in source))
        section = SoundsParams.parse(section.to_json() | {"source": list(names)}, "command line", "--source")
    jobs = plan_takes(open_sources(section, catalog, params.seed, root), catalog, section)
    print(f"planned from {', '.join(section.source)}; recordings are not checked yet")
    print(coverage_text(planned(jobs), catalog))


def pin(
    sound: Annotated[list[str] | None, typer.Option(help="Sounds; by default all of the catalog.")] = None,
    location: Annotated[list[str] | None, typer.Option(help="Locations whose ambience is wanted.")] = None,
    takes: Annotated[
        int | None, typer.Option(min=3, help="Recordings of each; by default as params.yaml has takes.")
    ] = None,
) -> None:
    """Search Freesound, check what is found, and pin it by id and hash (the key: CARES_FREESOUND_KEY).

    With neither --sound nor --location, all sounds and ambiences of the catalog. Pins that are there stay.
    """
    from cares.catalog.load import load_catalog
    from cares.core.errors import InputError
    from cares.core.params import Params
    from cares.core.paths import repo_root
    from cares.sounds.freesound.client import Freesound
    from cares.sounds.freesound.pin import pin_takes
    from cares.sounds.params import SoundsParams
    from cares.sounds.source import Kind

    root, catalog = repo_root(), load_catalog()
    section = Params(root / "params.yaml").section("sounds", SoundsParams)
    chosen: list[tuple[Kind, str]] = [("event", name) for name in sound or ()]
    chosen += [("ambience", name) for name in location or ()]
    for kind, name in chosen:
        if name not in (catalog.sounds if kind == "event" else catalog.locations):
            option = "--sound" if kind == "event" else "--location"
            raise InputError("command line", option, name, "an id of the catalog", "See: cares sounds coverage")
    if not chosen:
        chosen = [*(("ambience", name) for name in catalog.locations), *(("event", name) for name in catalog.sounds)]
    wanted: dict[Kind, int] = {
        "event": takes or len(section.takes.splits()),
        "ambience": takes or len(section.ambience_takes.splits()),
    }
    with Freesound.from_environment() as service:
        added = pin_takes(chosen, wanted, root / section.pins, catalog, service)
    print(f"sounds: {added} recordings pinned in {section.pins}; commit it, and name freesound in sounds.source")
