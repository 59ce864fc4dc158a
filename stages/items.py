"""Freeze the questions of the benchmark: data/scenes/scenes.jsonl -> data/bench/items.jsonl, metrics/items.json."""

from pathlib import Path

from cares.bench.items import build_items, describe_items
from cares.bench.params import ItemsParams
from cares.catalog.load import load_catalog
from cares.core.canonical import file_digest, write_json
from cares.core.executor import check_not_empty
from cares.core.params import Params
from cares.core.record import read_records, write_records
from cares.core.stage import run_stage
from cares.records.timeline import MixedScene

SCENES = Path("data/scenes/scenes.jsonl")
OUT = Path("data/bench/items.jsonl")


def main() -> None:
    params = Params()
    scenes = read_records(MixedScene, SCENES)
    names = {sound.id: sound.display for sound in load_catalog().sounds.values()}
    items = build_items(scenes, names, params.section("items", ItemsParams), params.seed)
    check_not_empty(items, SCENES)
    write_records(OUT, items)
    write_json(Path("metrics/items.json"), describe_items(items) | {"sha256": file_digest(OUT)})
    print(f"items: {len(items)} questions about {len({item.scene_id for item in items})} scenes -> {OUT}")


if __name__ == "__main__":
    run_stage(main)
