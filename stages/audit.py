"""Ask whether labels leak: data/scenes -> metrics/audit.json, and what each measurement tells and how it is spread."""

from pathlib import Path

from cares.audit.distributions import distributions
from cares.audit.finished import audit_scenes
from cares.audit.params import AuditParams
from cares.audit.run import compact, lines
from cares.audit.tables import write_distributions, write_features
from cares.core.canonical import write_json
from cares.core.params import Params
from cares.core.stage import run_stage

SCENES = Path("data/scenes/scenes.jsonl")
OUT = Path("metrics/audit.json")
PLOTS = Path("metrics/plots")


def main() -> None:
    """Read `seed` and `audit` of params.yaml and the finished scenes; write the scores and two tables."""
    params = Params()
    examples, result = audit_scenes(SCENES, params.section("audit", AuditParams), params.seed)
    write_json(OUT, compact(result))
    write_features(PLOTS / "audit_features.csv", result)
    write_distributions(PLOTS / "audit_distributions.csv", distributions(examples))
    print(f"audit: {len(examples)} events of {result['scenes']} scenes -> {OUT}")
    for line in lines(result):
        print(f"audit: {line}")


if __name__ == "__main__":
    run_stage(main)
