"""The params of a dry run: those of the default, but for the number of scenes and whatever makes them short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

# A scene of the real set takes two minutes, 10 MB; here it takes some seconds, so that many fit on a disk. What has to
# be the same for that are its records: turns, words, sounds and files are as many as in the default.
SHORT: dict[str, dict[str, Any]] = {
    "calibration": {"llm_sounds_per_label": 2, "bootstrap_draws": 200},
    "speech": {"letters_per_second": [9.5, 60.0], "cut_search_ms": 2, "cut_fade_ms": 5},
    "timeline": {
        "gap_ms": [50, 85],
        "event_gap_max_ms": 85,
        "onset_before_ms": [10, 30],
        "release_ms": [10, 20],
        "decoy_clear_ms": 100,
        "lead_in_ms": [50, 100],
        "lead_out_ms": [100, 200],
        "event_max_ms": 400,
        "extension_max_ms": 250,
        "event_spacing_ms": 20,
        "event_fade_ms": 20,
        "crossfade_ms": 50,
    },
}
# for a dry run as a test: as little of what does not grow with the number of scenes as can be
TINY = 12
FEW: dict[str, dict[str, Any]] = {
    "sounds": {
        "takes": {"train": 1, "validation": 1, "test": 1},
        "ambience_takes": {"train": 1, "validation": 1, "test": 1},
    },
    "rooms": {"event_positions": 1, "max_seconds": 0.3},
}
LARGE = 1000
# as conf/size/paper.yaml, where it grows with the number of scenes
AS_PAPER: dict[str, dict[str, Any]] = {
    "allocation": {"scenes_per_template": 10},
    "items": {"grounding_splits": ["test"]},
    "report": {"scenes": 200},
}


def set_params(path: Path, scenes: int) -> None:
    """Change params.yaml for a dry run of so many scenes."""
    params = yaml.safe_load(path.read_text(encoding="utf-8"))
    sized = AS_PAPER if scenes >= LARGE else FEW if scenes < TINY else {}
    for changes in (SHORT, sized, {"allocation": {"scenes": scenes}}):
        for section, values in changes.items():
            for name, value in values.items():
                assert name in params[section], f"params.yaml has no {section}.{name}"
                params[section][name] = value
    path.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")


def stage_outs(clone: Path) -> dict[str, list[str]]:
    """The stages in the order of dvc.yaml, those of a matrix one by one, and the paths of their outs."""
    pipeline = yaml.safe_load((clone / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    params = yaml.safe_load((clone / "params.yaml").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    for name, stage in pipeline.items():
        paths = [
            path if isinstance(path, str) else next(iter(path))
            for kind in ("outs", "metrics", "plots")
            for path in stage.get(kind, [])
        ]
        if "matrix" not in stage:
            found[name] = paths
            continue
        for system in params["bench"]["systems"]:
            found[f"{name}@{system}"] = [path.replace("${item.system}", system) for path in paths]
    return found
