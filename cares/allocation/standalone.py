"""Allocation without params.yaml: the command `cares allocate`."""

from __future__ import annotations

from pathlib import Path

from cares.allocation.allocate import Allocation, allocate
from cares.allocation.params import AllocationParams
from cares.catalog.load import load_catalog
from cares.core.record import read_records
from cares.records.bank import Take
from cares.records.scene import SPLITS


def allocate_with(scenes: int, per_template: int, seed: int, bank: Path | None) -> Allocation:
    """Allocate with the published proportions: splits 80/10/10, rare sounds in 5 % of the scenes.

    Args:
        scenes: how many.
        per_template: scenes that share a template.
        seed: the data set's seed.
        bank: bank.jsonl to draw the sounds from; None draws from the whole catalog.

    Raises:
        InputError: a value is out of range, or the bank lacks sounds for a location.
    """
    section = {
        "scenes": scenes,
        "scenes_per_template": per_template,
        "splits": {"train": 0.8, "validation": 0.1, "test": 0.1},
        "min_turns": 7,
        "max_turns": 11,
        "rare_share": 0.05,
    }
    params = AllocationParams.parse(section, "command line")
    available = None
    if bank is not None:
        takes = [take for take in read_records(Take, bank) if take.kind == "event"]
        available = {split: {take.name for take in takes if take.split == split} for split in SPLITS}
    return allocate(params, seed, load_catalog(), available)
