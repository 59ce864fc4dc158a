"""`cares bench`: score a model on a pulled data set."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cares.commands import bench_compare, bench_export

if TYPE_CHECKING:
    from cares.bench.systems_audio import AudioSystem


def register(app: typer.Typer) -> None:
    """Add the command, which is a group: with no command of its own it scores a model."""
    group = typer.Typer(invoke_without_command=True)
    group.callback()(bench)
    bench_compare.register(group)
    bench_export.register(group)
    app.add_typer(group, name="bench")


def bench(
    ctx: typer.Context,
    model: Annotated[str | None, typer.Option(help="The name under which the server offers the model.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible server; its key: CARES_LLM_KEY.")
    ] = None,
    adapter: Annotated[
        str | None, typer.Option(help="Run the model here instead, such as qwen2.5-omni; with --source.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Repository (owner/name) or folder with the model's files.")
    ] = None,
    revision: Annotated[str | None, typer.Option(help="Full commit id of the repository.")] = None,
    code: Annotated[
        list[str] | None, typer.Option(help="FILE=SHA256 of each Python file that the model brings; may be repeated.")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="A task or one of its levels (summary-25); may be repeated. Default: all.")
    ] = None,
    split: Annotated[list[str] | None, typer.Option(help="May be repeated. Default: all splits.")] = None,
    data: Annotated[Path, typer.Option(help="Root of the data set.")] = Path(),
    out: Annotated[Path | None, typer.Option(help="Folder for answers and figures.")] = None,
    in_flight: Annotated[int, typer.Option(min=1, max=1024, help="Most requests that are out at once.")] = 8,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for one answer.")] = 300.0,
    attempts: Annotated[int, typer.Option(min=1, help="Most attempts for one question.")] = 6,
    max_tokens: Annotated[int, typer.Option(min=1, help="Length of an answer; summaries have their own.")] = 256,
    constrained: Annotated[
        bool, typer.Option("--constrained", help="Let it write nothing but a letter; marked.")
    ] = False,
    repeats: Annotated[int, typer.Option(min=0, help="So many questions are asked twice, for the flip rate.")] = 0,
    preflight: Annotated[
        bool, typer.Option("--preflight", help="Only find out how much of a scene the model hears.")
    ] = False,
) -> None:
    """Score a model: put the frozen questions to it, read its answers, write figures with intervals.

    Stopped and started again, it asks nothing twice. `--preflight` puts a known sound at 5, 45 and 110 s.
    """
    if ctx.invoked_subcommand is not None:
        return
    from cares.bench.hearing_preflight import preflight as look
    from cares.bench.run_command import Asked
    from cares.bench.run_command import bench as run
    from cares.bench.run_folder import slug

    with _system(model, base_url, adapter, source, revision, code or [], in_flight, timeout, attempts) as system:
        folder = out or Path("bench-results") / (slug(system.name) + ("-constrained" if constrained else ""))
        if preflight:
            lines = look(system, folder, max_tokens, constrained)
        else:
            lines = run(system, Asked(data, folder, task or [], split or [], max_tokens, constrained, repeats))
    for line in lines:
        print(line)


def _system(
    model: str | None,
    base_url: str | None,
    adapter: str | None,
    source: str | None,
    revision: str | None,
    code: list[str],
    in_flight: int,
    timeout: float,
    attempts: int,
) -> AbstractContextManager[AudioSystem]:
    from cares.bench.adapters.params import TransformersParams
    from cares.bench.run_command import in_process, served
    from cares.core.errors import InputError

    if adapter is None:
        for option, value in (("--model", model), ("--base-url", base_url)):
            if not value:
                raise InputError("command line", option, value, "a model and the server that offers it")
        return served(str(model), str(base_url), in_flight, timeout, attempts)
    if model or base_url:
        raise InputError("command line", "--adapter", adapter, "a model that runs here, without --model and --base-url")
    named = dict(entry.partition("=")[::2] for entry in code)
    values = {"adapter": adapter, "source": source or "", "revision": revision, "code_sha256": named}
    return in_process(TransformersParams.parse(values, "command line", "--adapter"))
