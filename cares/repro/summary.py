"""What a finished run made, in a few lines: the end of `make repro`."""

from __future__ import annotations

from pathlib import Path

from cares.core.canonical import Json, read_json, read_jsonl
from cares.core.errors import CaresError
from cares.repro.parts import in_cache, scenes_text


def summarise(root: Path) -> str:
    """Where scenes, metrics and report are, how many scenes were accepted, and what was not.

    Raises:
        CaresError: the pipeline was not run in this clone.
    """
    scenes = root / "data" / "scenes"
    if not (scenes / "scenes.jsonl").is_file():
        raise CaresError("no finished scenes here; run make repro, or cares pull")
    words, mix = _metrics(root, "dialogues"), _metrics(root, "mix")
    if not words:
        raise CaresError("metrics/dialogues.json is missing; it is part of git: git checkout metrics")
    count = sum(1 for _ in read_jsonl(scenes / "scenes.jsonl"))
    here = len(list(scenes.glob("*.wav")))
    shown, rest = f"{count} scenes     ", ""
    if here < count:
        shown, rest = f"{scenes_text(here, count)} scenes here", "; the rest: cares pull"
    lines = [
        f"{shown} {scenes.relative_to(root)} (WAV, scenes.jsonl, SHA256SUMS){rest}",
        f"accepted       {words['accepted']} of {words['scenes']} dialogues after {words['attempts']} attempts",
    ]
    if words["refused"]:
        lines.append(f"not accepted   {', '.join(words['refused'])}; reasons: data/dialogues/attempts.jsonl")
    lost = words["accepted"] - count
    if lost:
        lines.append(f"not mixed      {lost} accepted scenes; reasons: metrics/speech.json, metrics/timeline.json")
    if mix:
        lines.append("metrics        metrics/ (dvc metrics show, dvc plots show)")
    page = "report/index.html"
    lines.append(f"report         {page if (root / page).is_file() else _report_from(root)}")
    return "\n".join(lines)


def _report_from(root: Path) -> str:
    return f"not here; run: {'dvc checkout report' if in_cache(root, 'report') else 'cares pull'}"


def _metrics(root: Path, name: str) -> Json:
    path = root / "metrics" / f"{name}.json"
    return read_json(path) if path.is_file() else {}
