"""The command `cares`. What a command needs is imported when it runs, so that the light ones start without torch."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from cares import __version__
from cares.commands import (
    agreement,
    audit,
    bench,
    cluster,
    doctor,
    estimate,
    judge,
    locked,
    mend,
    mix,
    params,
    probes,
    pull,
    push,
    show,
    sounds,
    verify,
    voices,
)
from cares.core.stage import run_stage

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
models_app = typer.Typer(no_args_is_help=True, help="Pinned model weights.")
app.add_typer(models_app, name="models")
app.add_typer(cluster.app, name="cluster")
judge.register(app)
estimate.register(app)
locked.register(app)
mend.register(app)
mix.register(app)
params.register(app)
probes.register(app)
agreement.register(app)
audit.register(app)
bench.register(app)
doctor.register(app)
pull.register(app)
push.register(app)
show.register(app)
sounds.register(app)
verify.register(app)
voices.register(app)


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)


@app.command()
def allocate(
    scenes: Annotated[int, typer.Option(help="How many scenes, 1 to 100,000.")],
    seed: Annotated[int, typer.Option(help="Seed of the data set.")],
    out: Annotated[Path, typer.Option(help="Folder for scenes.jsonl, templates.jsonl and splits.json.")],
    per_template: Annotated[int, typer.Option(help="Scenes that share a template.")] = 10,
    bank: Annotated[Path | None, typer.Option(help="bank.jsonl: draw only sounds that it can deliver.")] = None,
) -> None:
    """Allocate scenes with exact quotas, from the whole catalog or from what a bank delivers."""
    from cares.allocation.allocate import write_allocation
    from cares.allocation.standalone import allocate_with

    allocation = allocate_with(scenes, per_template, seed, bank)
    write_allocation(out, allocation)
    print(f"allocate: {scenes} scenes in {len(allocation.templates)} templates, in {out}")


@app.command()
def serve(
    model_id: Annotated[str, typer.Argument(help="A language model of the registry; see: cares models list.")],
    port: Annotated[int | None, typer.Option(help="Port on loopback; by default a free one.")] = None,
) -> None:
    """Serve a language model with vLLM on loopback until Ctrl-C."""
    from cares.llm.serve import serve_until_interrupted

    serve_until_interrupted(model_id, port=port)


@app.command()
def check() -> None:
    """Check every section of params.yaml and the catalog, before a stage runs."""
    from cares.core.paths import repo_root
    from cares.repro.check import check_inputs

    print(f"check: params.yaml ({check_inputs(repo_root())} sections) and the catalog are as they should be")


@app.command()
def summary() -> None:
    """Print where the finished data set, its metrics and its report are, and what was not accepted."""
    from cares.core.paths import repo_root
    from cares.repro.summary import summarise

    print(summarise(repo_root()))


@models_app.command("fetch")
def models_fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Models; by default those that params.yaml names.")] = None,
) -> None:
    """Fetch, check and convert weights into the cache (CARES_CACHE)."""
    from cares.core.params import Params
    from cares.core.paths import repo_root
    from cares.models.ensure import ensure
    from cares.models.params import ModelsParams

    if not names:
        section = Params(repo_root() / "params.yaml").section("models", ModelsParams)
        served = bool(os.environ.get("CARES_LLM_URL"))
        names = [name for name in section.ids() if not (served and name in section.language_models)]
    for name in names:
        print(f"models: {name} is ready in {ensure(name)}")


@models_app.command("list")
def models_list() -> None:
    """List the registered models with licence and source."""
    from cares.models.registry import load_registry

    for name, model in load_registry().items():
        print(f"{name:32} {model.kind:8} {model.licence:14} {model.repository} @ {model.revision[:12]}")


def main() -> None:
    """Entry point: errors that a user can act on are printed without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        # a name that the terminal's encoding lacks must not end a command whose work is done
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    run_stage(app)


if __name__ == "__main__":
    main()
