"""Ask whether labels leak: data/scenes -> metrics/audit.json."""

from pathlib import Path

from cares.audit.features import scene_examples
from cares.audit.params import AuditParams
from cares.audit.score import audit
from cares.core.canonical import write_json
from cares.core.executor import check_not_empty, progress
from cares.core.params import Params
from cares.core.record import read_records
from cares.core.stage import run_stage
from cares.records.timeline import MixedScene

SCENES = Path("data/scenes/scenes.jsonl")
OUT = Path("metrics/audit.json")


def main() -> None:
    params = Params()
    section = params.section("audit", AuditParams)
    scenes = read_records(MixedScene, SCENES)
    check_not_empty(scenes, SCENES)
    bar = progress(scenes, desc="audit")
    examples = [example for scene in bar for example in scene_examples(scene, Path(), section.context_ms)]
    result = audit(examples, section, params.seed)
    write_json(OUT, result)
    print(f"audit: {len(examples)} events of {len(scenes)} scenes -> {OUT}")
    if result["balanced_accuracy"] is None:
        print(f"audit: no score, {result['note']}")
    else:
        low, high = result["ci95"]
        print(f"audit: balanced accuracy {result['balanced_accuracy']} ({low} to {high}), chance {result['chance']}")


if __name__ == "__main__":
    run_stage(main)
