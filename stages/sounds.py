"""Stage `sounds`: takes of sounds and ambiences, checked; data/sounds holds FLAC, manifest, report and attribution."""

from pathlib import Path

from cares.catalog.load import load_catalog
from cares.core.atomic import replace_folder
from cares.core.canonical import write_json
from cares.core.params import Params
from cares.core.record import read_records
from cares.core.stage import run_stage
from cares.core.store import ItemStore
from cares.sounds.bank import FOLDER, build_bank
from cares.sounds.coverage import METRICS, describe_bank
from cares.sounds.freesound.pins import read_pins
from cares.sounds.freesound.source import fetch_pins
from cares.sounds.params import SoundsParams
from cares.sounds.report import QUALITY, TakeReport
from cares.sounds.sources import open_sources


def main() -> None:
    """Read `seed` and `sounds` of params.yaml; write data/sounds and metrics/sounds.json."""
    params = Params()
    section = params.section("sounds", SoundsParams)
    catalog = load_catalog()
    sources = open_sources(section, catalog, params.seed)
    if "freesound" in section.source:
        pins = Path(section.pins)
        fetch_pins(read_pins(pins, catalog), pins)
    with replace_folder(FOLDER) as out:
        takes = build_bank(sources, catalog, section, out, ItemStore("sounds"))
    reports = read_records(TakeReport, FOLDER / QUALITY)
    metrics = describe_bank(takes, catalog, reports)
    write_json(METRICS, metrics)
    refused = sum(not report.used for report in reports)
    print(
        f"sounds: {len(takes)} takes of {metrics['sounds']} sounds and {metrics['ambiences']} ambiences, "
        f"{metrics['seconds']} s -> {FOLDER}" + (f"; {refused} recordings refused, see {QUALITY}" if refused else "")
    )


if __name__ == "__main__":
    run_stage(main)
