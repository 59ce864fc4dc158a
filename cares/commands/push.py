"""`cares push`: the outs to a remote, with the run-cache if asked for."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def push(
        runs: Annotated[
            bool, typer.Option("--runs", help="The run-cache too: other clones need not run what was run here.")
        ] = False,
        remote: Annotated[str | None, typer.Option(help="A remote of .dvc/config; by default the default one.")] = None,
        jobs: Annotated[int | None, typer.Option(min=1, max=256, help="Files that are sent at once.")] = None,
    ) -> None:
        """Send the data set to a remote, after each file was compared with its hash."""
        from cares.core.paths import repo_root
        from cares.remotes.push import push as send

        done = send(repo_root(), runs, remote, jobs)
        print(f"push: {done.sent} files sent to {done.remote}, which has all {done.files} files of the outs now")
        if done.runs is not None:
            print(f"push: {done.runs} runs with their outs; elsewhere: dvc pull --run-cache, then dvc repro --pull")
        if done.useless:
            print(f"push: {done.useless} runs without their outs, which DVC's cache has no more")
