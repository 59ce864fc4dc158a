"""Stage `rooms`: a room for every location and split; its impulse responses as integers."""

from pathlib import Path

from cares.catalog.load import load_catalog
from cares.core.canonical import write_json
from cares.core.params import Params
from cares.core.stage import run_stage
from cares.sounds.room_params import RoomsParams
from cares.sounds.rooms import room_metrics, write_rooms
from cares.sounds.rooms_sources import make_rooms

OUT, METRICS = Path("data/rooms"), Path("metrics/rooms.json")


def main() -> None:
    """Read `rooms` of params.yaml and the catalog; write data/rooms and metrics/rooms.json."""
    params = Params()
    section = params.section("rooms", RoomsParams)
    built = make_rooms(list(load_catalog().locations.values()), section, params.seed)
    write_rooms(built, OUT)
    metrics = room_metrics(built)
    write_json(METRICS, metrics)
    print(
        f"rooms: {metrics['rooms']} rooms with {metrics['responses']} impulse responses of up to "
        f"{metrics['longest_ms']} ms in {OUT}; measured reverberation within {metrics['rt60_worst_error_percent']} % "
        f"of the aimed"
    )


if __name__ == "__main__":
    run_stage(main)
