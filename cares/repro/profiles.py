"""Profiles: params.yaml as DVC composes it from conf/.

`dvc exp run` composes conf/config.yaml and the chosen groups by Hydra and writes params.yaml anew; the same function of
DVC's own is called here, so that `make params` gives the very same file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from cares.core.atomic import write_bytes
from cares.core.errors import InputError
from cares.core.params import Params
from cares.repro.check import check_sections

CONF = "conf"


def profiles(root: Path) -> dict[str, tuple[str, ...]]:
    """The groups of conf/ and the names in each, in alphabetical order."""
    folders = sorted(path for path in (root / CONF).iterdir() if path.is_dir())
    return {folder.name: tuple(sorted(file.stem for file in folder.glob("*.yaml"))) for folder in folders}


def compose(root: Path, overrides: Sequence[str], out: Path) -> None:
    """Write what conf/ composes with Hydra overrides such as "models=laptop" or "mix.duck_db=3.0".

    Raises:
        InputError: an override is malformed or names what conf/ does not have.
    """
    from dvc.utils.hydra import compose_and_dump
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        compose_and_dump(out, str((root / CONF).absolute()), None, "config", str(root.absolute()), list(overrides))
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        known = "; ".join(f"{group}={'|'.join(names)}" for group, names in profiles(root).items())
        raise InputError(CONF, "", str(error).splitlines()[0], "a profile or a value that is there", known) from None


def write_params(root: Path, overrides: Sequence[str], out: Path) -> None:
    """What `compose` gives, written to `out` only if every section passes its schema.

    Raises:
        InputError: as `compose`, or a value is out of range; `out` is as it was.
    """
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "params.yaml"
        compose(root, overrides, draft)
        params = Params(draft)
        params.path = Path(CONF)
        check_sections(params)
        write_bytes(out, draft.read_bytes())
