"""docs/changes.md says which stages a change re-runs; the table is worked out from dvc.yaml and has to be the page's.

CARES_WRITE_DOCS=1 writes the page anew.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "changes.md"
BEGIN, END = "<!-- changes: written by tests/economy -->", "<!-- end of changes -->"
MODELS = {"calibrate", "topics", "dialogues", "speech", "align", "transcribe", "bench", "judge"}
CHANGES = {
    "ten more scenes, `allocation.added: [10]`": "allocation.added",
    "`mix.master_lufs`, or another parameter of the mix": "mix.master_lufs",
    "`timeline.gap_ms`, or another of the timeline": "timeline.gap_ms",
    "`dialogues.temperature`": "dialogues.temperature",
    "`speech.voices`": "speech.voices",
    "`bench.max_tokens`": "bench.max_tokens",
    "a voice, its entry in `voices.yaml`": "cares/speech/voices.yaml",
    "a sound of the catalog, its entry": "cares/catalog/sounds/shared.yaml",
    "the prompt of the writer, `dialogue_request.jinja`": "prompts/dialogue_request.jinja",
    "the prompt of a task, `item_scene.jinja`": "prompts/item_scene.jinja",
    "the prompt of the systems, `bench_text.jinja`": "prompts/bench_text.jinja",
}


def pipeline() -> dict[str, dict[str, Any]]:
    """The stages of dvc.yaml."""
    stages: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    return stages


def paths(entries: list[Any]) -> list[str]:
    """Deps or outs without their options, up to what a matrix or a param fills in."""
    names = [entry if isinstance(entry, str) else next(iter(entry)) for entry in entries]
    return [name.split("${")[0].rstrip("/") for name in names if not name.startswith("${")]


def inside(one: str, other: str) -> bool:
    """Whether one path is the other or lies in it."""
    return one == other or one.startswith(f"{other}/")


def direct(stage: dict[str, Any], changed: str) -> bool:
    """Whether a stage names a file, a folder around it, or a param or its section."""
    named = [entry for entry in stage.get("params", []) if isinstance(entry, str)]
    return any(inside(changed, dep) for dep in paths(stage.get("deps", []))) or any(
        changed == param or changed.startswith(f"{param}.") for param in named
    )


def followers(stages: dict[str, dict[str, Any]], first: set[str]) -> set[str]:
    """The stages behind some stages, by outs and deps."""
    found, waiting = set(first), list(first)
    while waiting:
        stage = stages[waiting.pop()]
        outs = paths([*stage.get("outs", []), *stage.get("metrics", []), *stage.get("plots", [])])
        for name, other in stages.items():
            deps = paths(other.get("deps", []))
            if name not in found and any(inside(dep, out) or inside(out, dep) for dep in deps for out in outs):
                found.add(name)
                waiting.append(name)
    return found - first


def re_run(changed: str) -> tuple[list[str], list[str]]:
    """Stages that a change runs for certain, and those that run if their inputs come out different."""
    stages = pipeline()
    first = {name for name, stage in stages.items() if direct(stage, changed)}
    assert first, f"no stage names {changed}"
    behind = followers(stages, first)
    return [name for name in stages if name in first], [name for name in stages if name in behind]


def table() -> str:
    """The table in Markdown."""
    rows = [["change", "runs", "runs if its inputs came out different"], ["---"] * 3]
    rows += [[told, *(", ".join(names) or "none" for names in re_run(changed))] for told, changed in CHANGES.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def test_a_mix_parameter_reaches_no_stage_before_the_timeline() -> None:
    runs, behind = re_run("mix.master_lufs")
    assert runs == ["timeline"] and behind[0] == "mix"
    # new mixes have to be heard and asked about: these stages load what measures, none of what makes the set
    assert set(behind) & MODELS == {"transcribe", "bench", "judge"}


def test_more_scenes_reach_neither_bank_nor_rooms_nor_calibration() -> None:
    runs, behind = re_run("allocation.added")
    assert runs == ["allocate"] and not set(behind) & {"models", "sounds", "rooms", "calibrate"}


def test_the_prompt_of_a_task_reaches_no_sound() -> None:
    runs, behind = re_run("prompts/item_scene.jinja")
    assert runs == ["items"] and not set(behind) & {"timeline", "mix", "counterfactuals", "transcribe", "audit"}


def test_the_page_holds_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    page = f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"
    if os.environ.get("CARES_WRITE_DOCS"):
        PAGE.write_text(page, encoding="utf-8")
    assert text == page, "write it anew: CARES_WRITE_DOCS=1 pytest tests/economy"
