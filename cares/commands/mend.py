"""`cares mend`: put right what a killed DVC left."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def mend() -> None:
        """Put right a dvc.lock that DVC left cut when it was killed or the disk was full; remove temporary files."""
        from cares.core.paths import repo_root
        from cares.repro.mend import mend as put_right

        for line in put_right(repo_root()) or ["nothing is damaged"]:
            print(f"mend: {line}")
