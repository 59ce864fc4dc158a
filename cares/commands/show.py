"""`cares show`: one scene to read."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def show(scene_id: Annotated[str, typer.Argument(help="Such as t00003-0.")]) -> None:
        """Print a scene: who, where, what is said, every sound with its label and time; or why it was refused."""
        from cares.core.paths import repo_root
        from cares.report.show import show_scene

        print(show_scene(scene_id, repo_root()))
