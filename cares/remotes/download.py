"""From a remote into the cache. A file is checked by its hash before it gets its name there.

DVC's own fetch takes what a remote sends for what was asked, unless the remote is set to `verify`; and where one file
is fetched alone, the beginning of a broken transfer can get the whole file's name.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from cares.remotes.cached import Cache, md5_of
from cares.remotes.project import Tracked, without_keys

ROUNDS = 3
MOST_JOBS = 16
PAUSE_S = 0.5


class Fetched(NamedTuple):
    """What came of a download.

    Attributes:
        files: how many came.
        size: their bytes.
        failed: file -> why it did not come.
    """

    files: int
    size: int
    failed: dict[Tracked, str]


class _Damaged(Exception):
    """What the remote sent is not what its name says."""


def fetch(remote: Any, cache: Cache, files: Sequence[Tracked], work: Path, jobs: int | None, what: str) -> Fetched:
    """Bring files into the cache, `jobs` at once; what fails is asked for again, up to three times in all.

    A file that the remote does not have, or has with other bytes, is not asked for again. What came stays, whatever
    becomes of the rest.

    Args:
        remote: DVC's remote.
        cache: where they go; none of them is there.
        files: what is wanted; files of the same bytes are fetched once.
        work: a folder on the cache's disk for unfinished files.
        jobs: by default what DVC takes for this kind of remote, but not more than 16.
        what: for the progress bar.
    """
    wanted = list({file.md5: None for file in files})
    came: dict[str, int] = {}
    final: dict[str, str] = {}
    why: dict[str, str] = {}
    with tqdm(
        total=len(wanted), desc=f"pull: {what}", unit="file", mininterval=0.5, dynamic_ncols=True, file=sys.stderr
    ) as bar:
        for attempt in range(ROUNDS):
            waiting = [md5 for md5 in wanted if md5 not in came and md5 not in final]
            if not waiting:
                break
            time.sleep(PAUSE_S * attempt)
            before = len(came)
            pool = ThreadPoolExecutor(max_workers=jobs or min(remote.fs.jobs, MOST_JOBS))
            try:
                running = {pool.submit(_one, remote, cache, md5, work / f"{md5}.part"): md5 for md5 in waiting}
                for done in as_completed(running):
                    md5 = running[done]
                    try:
                        came[md5] = done.result()
                    except _Damaged as error:
                        final[md5] = str(error)
                    except FileNotFoundError:
                        final[md5] = "the remote does not have it"
                    except Exception as error:  # each kind of remote has its own errors
                        why[md5] = without_keys(f"{type(error).__name__}: {error}".rstrip(": "))
                    else:
                        bar.update()
                        bar.set_postfix_str(megabytes(sum(came.values())), refresh=False)
            finally:
                # after Ctrl-C nothing new is begun; what is on its way ends and is kept
                pool.shutdown(cancel_futures=True)
            if attempt and len(came) == before:
                break
    failed = {md5: final.get(md5) or why[md5] for md5 in wanted if md5 not in came}
    return Fetched(len(came), sum(came.values()), {file: failed[file.md5] for file in files if file.md5 in failed})


def _one(remote: Any, cache: Cache, md5: str, part: Path) -> int:
    """Fetch one file; returns its bytes. Raises what the remote's library raises, FileNotFoundError, or _Damaged."""
    part.parent.mkdir(parents=True, exist_ok=True)
    part.unlink(missing_ok=True)
    remote.fs.get_file(remote.odb.oid_to_path(md5), str(part))
    found = md5_of(part)
    if found != md5.removesuffix(".dir"):
        part.unlink()
        raise _Damaged(f"damaged on the remote: md5 {found}")
    size = part.stat().st_size
    cache.take(part, md5)
    return size


def megabytes(size: int) -> str:
    """Bytes as text for people."""
    return f"{size / 1e6:.1f} MB"
