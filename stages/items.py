"""Freeze the questions: data/scenes/scenes.jsonl, counterfactuals -> data/bench/items.jsonl, metrics/items.json."""

from pathlib import Path

from cares.bench.items import build_items
from cares.bench.items_file import check_items, describe_items, read_scenes
from cares.bench.items_params import ItemsParams
from cares.bench.questions import Questions
from cares.catalog.load import load_catalog
from cares.core.canonical import file_digest, write_json
from cares.core.executor import check_not_empty
from cares.core.params import Params
from cares.core.record import read_records, write_records
from cares.core.stage import run_stage
from cares.records.item import Counterfactual
from cares.records.scene import Scene

SCENES = Path("data/scenes/scenes.jsonl")
ALLOCATED = Path("data/allocation/scenes.jsonl")
COUNTERFACTUALS = Path("data/bench/counterfactuals/manifest.jsonl")
OUT = Path("data/bench/items.jsonl")


def main() -> None:
    params = Params()
    section = params.section("items", ItemsParams)
    scenes = read_scenes(SCENES)
    muted = read_records(Counterfactual, COUNTERFACTUALS) if section.muted_splits else []
    added = {scene.scene_id: scene.added for scene in read_records(Scene, ALLOCATED)}
    items = build_items(scenes, load_catalog(), section, params.seed, Questions(), muted, added)
    check_not_empty(items, SCENES)
    check_items(items, OUT)
    write_records(OUT, items)
    told = describe_items(items)
    write_json(Path("metrics/items.json"), told | {"sha256": file_digest(OUT)})
    counts = ", ".join(f"{group} {about['items']}" for group, about in told["groups"].items())
    print(f"items: {len(items)} questions about {told['scenes']} scenes -> {OUT}")
    print(f"items: {counts}")


if __name__ == "__main__":
    run_stage(main)
