"""`cares locked`: is dvc.lock what the code gives?"""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def locked() -> None:
        """Compare dvc.lock with code, params and what is here of the data, without running anything.

        Names the first stage that is stale, and ends with status 1 when there is one.
        """
        from cares.core.paths import repo_root
        from cares.remotes.locked import locked as look
        from cares.remotes.locked import told

        for line in told(look(repo_root())):
            print(f"locked: {line}")
