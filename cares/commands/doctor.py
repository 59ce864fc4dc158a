"""`cares doctor`: what this machine is, and what is wrong with it or with the data."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def doctor(
        as_json: Annotated[bool, typer.Option("--json", help="Print only the fingerprint, as JSON.")] = False,
        store: Annotated[bool, typer.Option("--store", help="Write it to environment.json, beside dvc.lock.")] = False,
    ) -> None:
        """Print machine, settings and installed versions; exit status 1 when a setting or a finished scene is wrong.

        The fingerprint is what the bytes of model-bound stages may depend on: processor and its flags, threads, library
        versions, hashes of the models. Store it when the data set was built on this machine, and commit it.
        """
        import json

        from cares.core.errors import CaresError
        from cares.core.paths import repo_root
        from cares.repro.doctor import damaged_scenes, describe
        from cares.repro.environment import findings
        from cares.repro.fingerprint import FILE, fingerprint
        from cares.repro.fingerprint import store as store_fingerprint
        from cares.repro.parts import in_cache

        root = repo_root()
        if as_json:
            print(json.dumps(fingerprint(root), indent=1, sort_keys=True, ensure_ascii=False))
        if store:
            path = store_fingerprint(root)
            if not as_json:
                print(f"doctor: this machine's fingerprint is in {path.name}; commit {FILE} with dvc.lock")
        if as_json or store:
            return
        print(describe(root))
        faults = [f"environment: {found}" for found in findings() if found.wrong]
        damaged, absent = damaged_scenes(root)
        # recordings that are not here are in the line of the scenes
        if others := [name for name in absent if not name.endswith(".wav")]:
            print(f"not here      {', '.join(others)} in data/scenes; get them with: cares pull")
        if damaged:
            back = "get them with: cares pull"
            if not absent and in_cache(root, "data/scenes"):
                back += ", or where there is no remote dvc checkout --force data/scenes"
            faults.append(f"data/scenes: not what SHA256SUMS says: {', '.join(damaged)}; {back}")
        if faults:
            raise CaresError("\n       ".join(faults))
