"""A clone with only a part of the data set, as after `cares pull --split test`: what is here, what brings the rest."""

from __future__ import annotations

from pathlib import Path

from cares.core.errors import CaresError


def in_cache(root: Path, name: str) -> bool:
    """Whether DVC's cache has the out `name` of dvc.lock with each of its files; False when that cannot be known.

    The files are not read. Where one is lacking, `dvc checkout --force` removes the folder and cannot bring it back.
    """
    from cares.remotes.cached import Cache
    from cares.remotes.project import cached_outs, opened

    try:
        with opened(root) as repo:
            cache, out = Cache(repo), cached_outs(repo).get(name)
            if out is None or not cache.path(out.md5).is_file():
                return False
            files = cache.listing(out) if out.md5.endswith(".dir") else []
            return all(cache.path(file.md5).is_file() for file in files)
    except CaresError:
        return False


def scenes_text(here: int, count: int) -> str:
    """Such as "12", or "1 of 12" when only a part of the scenes is here."""
    return f"{here} of {count}" if here < count else str(count)
