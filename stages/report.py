"""Write the static site about this build: report/index.html."""

from pathlib import Path

from cares.catalog.load import load_catalog
from cares.core.params import Params
from cares.core.stage import run_stage
from cares.report.inputs import read_inputs
from cares.report.params import ReportParams
from cares.report.site import write_site

OUT = Path("report")


def main() -> None:
    params = Params()
    inputs = read_inputs(Path())
    catalog = load_catalog()
    sounds = {sound.id: sound.display for sound in catalog.sounds.values()}
    places = {place.id: place.display for place in catalog.locations.values()}
    most = params.section("report", ReportParams).scenes
    pages = write_site(inputs, sounds, places, most, params.seed, OUT)
    lacking = f"; not there yet: {', '.join(inputs.missing)}" if inputs.missing else ""
    print(f"report: {pages} scene pages -> {OUT / 'index.html'} (open it in a browser){lacking}")


if __name__ == "__main__":
    run_stage(main)
