"""A published archive to the plain files that it holds, without its folders."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path, PurePosixPath

from cares.core.errors import InputError


def unzip(official: Path, ready: Path) -> None:
    """Unpack the only .zip file of `official` into `ready`; InputError when it is damaged or two files share a name."""
    archives = sorted(official.glob("*.zip"))
    if len(archives) != 1:
        raise InputError(official.name, "", [file.name for file in archives], "one .zip file")
    try:
        with zipfile.ZipFile(archives[0]) as archive:
            for member in archive.infolist():
                name = PurePosixPath(member.filename).name
                if member.is_dir() or name.startswith("."):
                    continue
                target = ready / name
                if target.exists():
                    raise InputError(archives[0].name, "member", member.filename, "a name that occurs once")
                with archive.open(member) as source, target.open("wb") as out:
                    shutil.copyfileobj(source, out)
    except zipfile.BadZipFile as error:
        raise InputError(archives[0].name, "", str(error), "a readable zip archive") from None
