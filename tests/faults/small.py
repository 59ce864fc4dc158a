"""The smallest pipeline that still has all stages: few scenes, few takes, few resamples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

# what is measured here is whether things are the same, not whether they are good
CHANGES: dict[str, dict[str, Any]] = {
    "allocation": {"scenes": 4},
    "sounds": {"takes": {"train": 1, "validation": 1, "test": 1}},
    "calibration": {"llm_sounds_per_label": 2, "bootstrap_draws": 200},
    "audit": {"repeats": 1, "bootstrap": 200, "trees": 20},
    "breaks": {"repeats": 1, "bootstrap": 200},
    "bench": {"bootstrap": 200},
}


def make_small(root: Path, scenes: int, real: bool) -> None:
    """Change params.yaml of a clone; with stand-ins for the models, the voices are short too."""
    path = root / "params.yaml"
    params = yaml.safe_load(path.read_text(encoding="utf-8"))
    changes = dict(CHANGES)
    if not real:
        from tests.scale.dry_params import SHORT

        changes = {name: {**SHORT.get(name, {}), **changes.get(name, {})} for name in SHORT.keys() | changes.keys()}
    for section, values in changes.items():
        for name, value in values.items():
            if name not in params[section]:
                raise KeyError(f"params.yaml has no {section}.{name}")
            params[section][name] = value
    params["allocation"]["scenes"] = scenes
    path.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
