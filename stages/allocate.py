"""Stage `allocate`: fix every scene's sounds, reactions, place and people, among the sounds that the bank delivers."""

from __future__ import annotations

from pathlib import Path

from cares.allocation.allocate import allocate, write_allocation
from cares.allocation.bank import available_sounds
from cares.allocation.params import AllocationParams
from cares.catalog.load import load_catalog
from cares.core.atomic import replace_folder
from cares.core.canonical import write_json
from cares.core.params import Params
from cares.core.record import read_records
from cares.core.stage import run_stage
from cares.records.bank import Take

BANK = Path("data/sounds/bank.jsonl")
OUT = Path("data/allocation")
METRICS = Path("metrics/allocation.json")


def main() -> None:
    """Read params and bank, allocate, write."""
    params = Params()
    catalog = load_catalog()
    available = available_sounds(read_records(Take, BANK)) if BANK.is_file() else None
    allocation = allocate(params.section("allocation", AllocationParams), params.seed, catalog, available)
    with replace_folder(OUT) as folder:
        write_allocation(folder, allocation)
    write_json(METRICS, allocation.metrics)

    figures = allocation.metrics
    source = "sounds that the bank can deliver" if available is not None else "sounds of the catalog (there is no bank)"
    print(
        f"{OUT}: {figures['scenes']} scenes, {sum(figures['events'].values())} events, drawn from "
        f"{figures['sounds_drawn_from']} of {len(catalog.sounds)} sounds, the {source}"
    )
    for name, is_short in (
        ("rare pivots", figures["rare_pivots_wanted"] - figures["rare_pivots"]),
        ("events off an even spread of labels over sounds", figures["sound_label_imbalance"]),
    ):
        if is_short:
            print(f"short of the quota: {is_short} {name}")


if __name__ == "__main__":
    run_stage(main)
