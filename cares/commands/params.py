"""The command `cares params`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("params")
    def params(
        overrides: Annotated[
            list[str] | None, typer.Argument(help="Profiles and values, such as models=laptop size=small seed=2.")
        ] = None,
        out: Annotated[Path | None, typer.Option(help="File to write; by default params.yaml.")] = None,
    ) -> None:
        """Write params.yaml from conf/, as `dvc exp run` does."""
        from cares.core.errors import InputError
        from cares.core.paths import repo_root
        from cares.repro.profiles import write_params

        target = out or repo_root() / "params.yaml"
        if target.is_dir() or not target.absolute().parent.is_dir():
            raise InputError("command line", "--out", str(target), "a file in a folder that is there")
        write_params(repo_root(), overrides or [], target)
        print(f"params: {target} holds {', '.join(overrides or ['the default'])}; `cares check` looks at it")
