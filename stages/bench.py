"""Let one system answer the items: python -m stages.bench SYSTEM -> answers, metrics and confusion of that system."""

import sys
from pathlib import Path

from cares.bench.params import BenchParams
from cares.bench.run import answer_items
from cares.bench.scores import confusion, score
from cares.core.atomic import write_bytes
from cares.core.canonical import write_json
from cares.core.errors import InputError
from cares.core.executor import check_not_empty
from cares.core.params import Params
from cares.core.record import read_records, write_records
from cares.core.stage import run_stage
from cares.llm.params import LlmParams
from cares.models.params import ModelsParams
from cares.records.item import Item

ITEMS = Path("data/bench/items.jsonl")


def main() -> None:
    params = Params()
    bench = params.section("bench", BenchParams)
    system = sys.argv[1] if len(sys.argv) == 2 else None
    if system not in bench.systems:
        raise InputError("command line", "SYSTEM", system, f"one of bench.systems: {', '.join(bench.systems)}")
    items = read_records(Item, ITEMS)
    check_not_empty(items, ITEMS)
    model_id, llm = params.section("models", ModelsParams).writer, params.section("llm", LlmParams)
    answers, about = answer_items(system, items, bench, model_id, llm, params.seed, Path())
    scores = score(items, answers, bench.bootstrap, params.seed)
    rows = ["actual,predicted", *(",".join(pair) for pair in confusion(items, answers))]
    out, metrics = Path(f"data/bench/answers/{system}.jsonl"), Path(f"metrics/bench/{system}.json")
    write_records(out, answers)
    write_bytes(Path(f"metrics/plots/bench_{system}.csv"), ("\n".join(rows) + "\n").encode("ascii"))
    write_json(metrics, {"reactions": scores, "system": about})
    balanced = scores["balanced_accuracy"]
    interval = f"95 % interval {balanced['ci95']['low']} to {balanced['ci95']['high']}"
    print(f"bench {system}: balanced accuracy {balanced['value']}, {interval}, {len(items)} items, ", end="")
    print(f"{scores['unreadable']} unreadable -> {out}, {metrics}")


if __name__ == "__main__":
    run_stage(main)
