"""`cares pull`: a split's scenes, the metadata, or all of the data set, from a remote."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def pull(
        split: Annotated[
            list[str] | None,
            typer.Option(help="test, validation or train: its scenes and what scoring needs; may be repeated."),
        ] = None,
        metadata: Annotated[bool, typer.Option("--metadata", help="All that holds no sound.")] = False,
        remote: Annotated[str | None, typer.Option(help="A remote of .dvc/config; by default the default one.")] = None,
        jobs: Annotated[int | None, typer.Option(min=1, max=256, help="Files that are fetched at once.")] = None,
    ) -> None:
        """Bring the finished data set, or the part that is asked for, and check every file by its hash.

        Interrupted, the same command goes on where it was. A damaged file is removed and fetched again.
        """
        from cares.core.paths import repo_root
        from cares.core.text import plain_lines
        from cares.remotes.pull import pull as bring
        from cares.remotes.pull import told

        for line in told(bring(repo_root(), split or [], metadata, remote, jobs)):
            print(f"pull: {plain_lines(line)}")
