"""`cares doctor`: what this machine is, and what is wrong with it or with the data."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def doctor() -> None:
        """Print machine, settings and installed versions; exit status 1 when a setting or a finished scene is wrong."""
        from cares.core.errors import CaresError
        from cares.core.paths import repo_root
        from cares.repro.doctor import damaged_scenes, describe
        from cares.repro.environment import findings

        root = repo_root()
        print(describe(root))
        faults = [f"environment: {found}" for found in findings() if found.wrong]
        if damaged := damaged_scenes(root):
            faults.append(f"data/scenes: {', '.join(damaged)}; get them back with: dvc checkout --force data/scenes")
        if faults:
            raise CaresError("\n       ".join(faults))
