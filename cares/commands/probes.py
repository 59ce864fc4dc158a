"""`cares probes`: whether the labelled probes are fit to measure an evaluator with."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the group `probes`."""
    group = typer.Typer(no_args_is_help=True, help="The labelled probes that evaluators are measured on.")
    group.command("check")(check)
    app.add_typer(group, name="probes")


def check(
    words_only: Annotated[
        bool, typer.Option("--words-only", help="Compare no meanings, which needs the sentence encoder's weights.")
    ] = False,
) -> None:
    """Look for duplicates, situations in two splits and unbalanced splits; exit status 1 and the ids if so."""
    from cares.catalog.load import load_catalog
    from cares.core.params import Params
    from cares.dialogue.encoder import SentenceEncoder
    from cares.dialogue.probe_checks import check_probes
    from cares.dialogue.probes import load_probes, load_topic_pairs
    from cares.models.params import ModelsParams

    probes, pairs = load_probes(), load_topic_pairs()
    encoder = None if words_only else SentenceEncoder(Params().section("models", ModelsParams).encoder)
    found = check_probes(probes, pairs, load_catalog(), encoder)
    for finding in found:
        print(finding)
    print(f"probes: {len(probes)} probes and {len(pairs)} pairs of topics read, {len(found)} faults found")
    raise typer.Exit(1 if found else 0)
