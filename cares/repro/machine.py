"""Memory and disk of this machine, for people."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from cares.repro.preflight import MEMORY_GB

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def memory_text(meminfo: str, limit_bytes: int | None) -> str:
    """Memory in all and free, with what a container allows where that is less.

    Args:
        meminfo: the text of /proc/meminfo; "" where there is none.
        limit_bytes: the limit of the control group, None without one.
    """
    rows = dict(line.split(":", 1) for line in meminfo.splitlines() if ":" in line)
    total = _bytes(rows, "MemTotal") or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    available = _bytes(rows, "MemAvailable")
    text = f"{total / 1e9:.0f} GB"
    if available is not None:
        text += f", {available / 1e9:.0f} GB free"
    if limit_bytes is not None and limit_bytes < total:
        text += f"; this container may use {limit_bytes / 1e9:.0f} GB"
        total = limit_bytes
    if total < MEMORY_GB * 1e9:
        text += f" (less than {MEMORY_GB} GB: the language model may not fit)"
    return text


def memory() -> str:
    """`memory_text` of this machine."""
    meminfo = Path("/proc/meminfo")
    text = meminfo.read_text(encoding="ascii", errors="replace") if meminfo.is_file() else ""
    return memory_text(text, _limit())


def disk(folders: Mapping[str, Path]) -> str:
    """Free disk where each folder lies or would lie, such as "42 GB free here, 7 GB free at the weights"."""
    free: dict[str, int] = {}
    for name, folder in folders.items():
        place = folder
        while not place.exists() and place != place.parent:
            place = place.parent
        free[name] = shutil.disk_usage(place).free
    return ", ".join(f"{size / 1e9:.0f} GB free {name}" for name, size in free.items())


def _limit() -> int | None:
    for path in LIMITS:
        if path.is_file() and (text := path.read_text(encoding="ascii").strip()).isdigit():
            return int(text)
    return None


def _bytes(rows: Mapping[str, str], name: str) -> int | None:
    value = rows.get(name, "").removesuffix("kB").strip()
    return int(value) * 1024 if value.isdigit() else None
