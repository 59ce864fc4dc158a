"""Stage `sounds`: takes of sounds and ambiences, checked; data/sounds (FLAC, bank.jsonl, ATTRIBUTION.csv)."""

from cares.catalog.load import load_catalog
from cares.core.atomic import replace_folder
from cares.core.canonical import write_json
from cares.core.params import Params
from cares.core.stage import run_stage
from cares.core.store import ItemStore
from cares.sounds.bank import FOLDER, build_bank
from cares.sounds.coverage import METRICS, describe_bank
from cares.sounds.params import SoundsParams
from cares.sounds.procedural.recipes import load_recipes
from cares.sounds.procedural.source import ProceduralSource


def main() -> None:
    """Read `seed` and `sounds` of params.yaml; write data/sounds and metrics/sounds.json."""
    params = Params()
    section = params.section("sounds", SoundsParams)
    catalog = load_catalog()
    source = ProceduralSource(load_recipes(), params.seed)
    with replace_folder(FOLDER) as out:
        takes = build_bank(source, catalog, section, out, ItemStore("sounds"))
    metrics = describe_bank(takes, catalog)
    write_json(METRICS, metrics)
    print(
        f"sounds: {len(takes)} takes of {metrics['sounds']} sounds and {metrics['ambiences']} ambiences, "
        f"{metrics['seconds']} s -> {FOLDER}"
    )


if __name__ == "__main__":
    run_stage(main)
