"""The command `cares estimate`."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("estimate")
    def estimate() -> None:
        """Compute time and cost of a large data set anew from docs/full-scale.yaml and metrics/, into its page."""
        from cares.core.paths import repo_root
        from cares.repro.estimate import PAGE, load, tables, write

        root = repo_root()
        write(root)
        print(tables(*load(root)))
        print(f"estimate: in {PAGE}")
