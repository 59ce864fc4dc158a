"""What `cares verify` found, as text for people: by stage, then in what, then why."""

from __future__ import annotations

from collections.abc import Sequence

from cares.core.canonical import Json
from cares.repro.verify.lockfile import Lock, makers

NAMED = 8  # differing files of a stage that are named one by one


def trace(rows: Sequence[Json], lock: Lock) -> None:
    """Add to every row that differs the compared stages that it reads from and that differ: `follows_from`."""
    differing = {row["stage"] for row in rows if row["status"] == "differs"}
    for row in rows:
        if row["status"] == "differs":
            row["follows_from"] = [name for name in makers(lock[row["stage"]], lock) if name in differing]


def first_differences(rows: Sequence[Json]) -> list[str]:
    """The stages that differ although nothing that they read does."""
    return [row["stage"] for row in rows if row["status"] == "differs" and not row.get("follows_from")]


def stage_line(row: Json) -> str:
    """One stage in one line."""
    seconds = f", {row['seconds']:.0f} s" if "seconds" in row else ""
    if row["status"] == "equal":
        told = f"{_files(row['files'])}{seconds}" if row["files"] else f"nothing to compare by scene{seconds}"
    else:
        told = f"{len(row['differences'])} of {_files(max(row['files'], len(row['differences'])))}{seconds}"
        if row.get("follows_from"):
            told += f"; follows from {', '.join(row['follows_from'])}"
    return f"  {row['stage']:18} {row['status']:8} {told}"


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def text_of(report: Json) -> str:
    """The whole report."""
    lines = [report["title"], *report["notes"]]
    for comparison in report["comparisons"]:
        lines += ["", f"{comparison['found']} compared with {comparison['wanted']}:"]
        if around := comparison.get("surroundings"):
            lines.append(f"  under {', '.join(f'{key} {value!r}' for key, value in around.items())}")
        for row in comparison["stages"]:
            lines.append(stage_line(row))
            lines += _differences(row)
        left_out = sum(len(row["left_out"]) for row in comparison["stages"])
        if left_out:
            lines.append(f"  not compared: {left_out} files of other scenes, or of all at once (metrics, plots)")
    lines += ["", *_why(report), "", report["summary"]]
    return "\n".join(lines) + "\n"


def _differences(row: Json) -> list[str]:
    lines = []
    for found in row["differences"][:NAMED]:
        told = {
            "missing": "is missing",
            "extra": "is too many",
            "hash": "has another hash",
            "differs": "differs",
            "absent": "is not all there",
        }
        text = found.get("explained", {}).get("text") or found.get("note") or ""
        lines.append(f"      {found['path']} {told[found['what']]}{f': {text}' if text else ''}")
    if len(row["differences"]) > NAMED:
        lines.append(f"      and {len(row['differences']) - NAMED} more, see report.json")
    return lines


def _why(report: Json) -> list[str]:
    lines = []
    for stage, paths in report["stale"].items():
        lines.append(f"stage {stage} was locked with other inputs than these: {', '.join(paths)}")
    environment = report["environment"]
    for one in environment["differences"]:
        lines.append(f"environment: {one['field']} is {one['here']!r}, was {one['stored']!r}")
    if not environment["differences"]:
        lines.append(f"environment: {'the same' if environment['stored'] else 'not known'} ({environment['of']})")
    return lines


def summarise(report: Json) -> str:
    """How it ended, in one or two sentences."""
    rows = [row for comparison in report["comparisons"] for row in comparison["stages"]]
    files = sum(row["files"] for row in rows)
    seconds = f" in {report['seconds']:.0f} s" if report.get("seconds") else ""
    if report["result"] == "equal":
        return f"equal: {files} files of {len(rows)} stages compared{seconds}, no difference"
    told = []
    for comparison in report["comparisons"]:
        first = first_differences(comparison["stages"])
        if first:
            follow = [row["stage"] for row in comparison["stages"] if row.get("follows_from")]
            after = f"; from it follows that {', '.join(follow)} differ" if follow else ""
            told.append(f"{comparison['found']}: first difference in stage {first[0]}{after}")
            if len(first) > 1:
                told.append(f"of their own accord differ as well: {', '.join(first[1:])}")
    return f"differs: {files} files of {len(rows)} stages compared{seconds}. " + ". ".join(told)
