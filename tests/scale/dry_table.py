"""The figures of a dry run as Markdown."""

from __future__ import annotations

from typing import Any

MIB = 2**20


def tables(figures: dict[str, Any]) -> str:
    """A table of the stages, one of the runs with nothing to do, and one of places."""
    lines = ["| stage | seconds | stage, MiB | with DVC, MiB | files | MB |", "|---|---|---|---|---|---|"]
    for name, one in figures["stages"].items():
        mib = f"{one['stage_bytes'] / MIB:.0f} | {one['both_bytes'] / MIB:.0f}"
        lines.append(f"| {name} | {one['seconds']:.0f} | {mib} | {one['files']:,} | {one['bytes'] / 1e6:,.1f} |")
    lines += ["", "| nothing to do | seconds | MiB |", "|---|---|---|"]
    for name, one in figures.get("nothing_to_do", {}).items():
        lines.append(f"| `{name}` | {one['seconds']:.1f} | {one['both_bytes'] / MIB:.0f} |")
    lines += ["", "| place | files | GB |", "|---|---|---|"]
    for name, one in figures.get("places", {}).items():
        lines.append(f"| {name} | {one['files']:,} | {one['bytes'] / 1e9:.2f} |")
    return "\n".join(lines)
