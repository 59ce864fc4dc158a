"""`cares voices`: who can speak, with what licence, and whether the weights are here."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command `voices`."""
    app.command("voices")(voices)


def voices(
    every: Annotated[bool, typer.Option("--all", help="Show those that params.yaml does not ask for, too.")] = False,
) -> None:
    """List the voices that params.yaml asks for, or all: engine, gender, accent, licence, where their weights are."""
    from cares.core.params import Params
    from cares.core.paths import repo_root
    from cares.models.ensure import disk_need
    from cares.models.registry import load_registry
    from cares.speech.params import SpeechParams
    from cares.speech.voices import Voice, load_voices, read_table

    section = Params(repo_root() / "params.yaml").section("speech", SpeechParams)
    chosen = load_voices(section.voices, held_out=section.held_out_voices)
    registry = load_registry()

    def weights(voice: Voice) -> str:
        if voice.served:
            return "on a server"
        if voice.model not in registry:
            return "not registered"
        return "here" if disk_need(voice.model) == 0 else "not here"

    table = read_table()
    known = {model: weights(voice) for model, voice in {voice.model: voice for voice in table.values()}.items()}
    print(f"{'voice':24} {'engine':7} {'gender':6} {'accent':18} {'licence':26} {'weights':14} use")
    shown = {**table, **chosen} if every else chosen
    for name, voice in shown.items():
        licence = f"{voice.licence} (non-commercial)" if voice.non_commercial else voice.licence
        use = "" if name not in chosen else "test split" if voice.held_out else "yes"
        who = f"{name:24} {voice.engine:7} {voice.gender:6} {voice.accent:18}"
        print(f"{who} {licence:26} {known[voice.model]:14} {use}".rstrip())
    print(f"{len(shown)} voices; {len(chosen)} are asked for by speech.voices of params.yaml")
