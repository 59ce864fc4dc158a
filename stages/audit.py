"""Ask whether labels leak: data/scenes -> metrics/audit.json and the distribution of every measurement by label."""

from pathlib import Path

from cares.audit.distributions import distributions, write_distributions
from cares.audit.finished import audit_scenes
from cares.audit.params import AuditParams
from cares.audit.run import lines
from cares.core.canonical import write_json
from cares.core.params import Params
from cares.core.stage import run_stage

SCENES = Path("data/scenes/scenes.jsonl")
OUT = Path("metrics/audit.json")
PLOT = Path("metrics/plots/audit_distributions.csv")


def main() -> None:
    """Read `seed` and `audit` of params.yaml and the finished scenes; write the scores and the distributions."""
    params = Params()
    examples, result = audit_scenes(SCENES, params.section("audit", AuditParams), params.seed)
    write_json(OUT, result)
    write_distributions(PLOT, distributions(examples))
    print(f"audit: {len(examples)} events of {result['scenes']} scenes -> {OUT}")
    for line in lines(result):
        print(f"audit: {line}")


if __name__ == "__main__":
    run_stage(main)
