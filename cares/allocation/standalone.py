"""An allocation outside the pipeline: `cares allocate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cares.allocation.allocate import Allocation, allocate
from cares.allocation.bank import available_sounds
from cares.allocation.params import AllocationParams
from cares.catalog.load import load_catalog
from cares.core.errors import InputError
from cares.core.record import read_records
from cares.records.bank import Take

PAPER: dict[str, Any] = {
    "splits": {"train": 0.8, "validation": 0.1, "test": 0.1},
    "min_turns": 10,
    "max_turns": 36,
    "rare_share": 0.05,
    "length": {"mean_s": 120.0, "deviation_s": 18.8, "shortest_s": 75.0, "longest_s": 165.0, "turn_s": [4.8, 6.6]},
}
"""What the command does not ask for: the values of the paper's size."""


def allocate_with(scenes: int, per_template: int, seed: int, bank: Path | None) -> Allocation:
    """Allocate with the paper's shares and turns.

    Args:
        scenes: how many scenes, 1 to 100,000.
        per_template: scenes that share a template, 1 to 1000.
        seed: the data set's seed, at least 0.
        bank: bank.jsonl, to draw only sounds that it can deliver; None for the whole catalog.

    Raises:
        InputError: a number out of range, or a bank that is missing, damaged or lacks sounds for a location.
    """
    if seed < 0:
        raise InputError("command line", "seed", seed, "a whole number of at least 0")
    values = {"scenes": scenes, "scenes_per_template": per_template, **PAPER}
    params = AllocationParams.parse(values, "command line")
    available = None if bank is None else available_sounds(read_records(Take, bank))
    return allocate(params, seed, load_catalog(), available)
