"""Let one system answer the items: python -m stages.bench SYSTEM -> answers, metrics and confusion of that system."""

import sys
from pathlib import Path

from cares.bench.items_file import read_items
from cares.bench.params import BenchParams
from cares.bench.run import answer_items
from cares.bench.run_results import asked_items, headlines, scored
from cares.bench.scores import confusion_rows
from cares.catalog.load import load_catalog
from cares.core.atomic import write_bytes
from cares.core.canonical import file_digest, write_json
from cares.core.errors import InputError
from cares.core.executor import check_not_empty
from cares.core.params import Params
from cares.core.record import write_records
from cares.core.stage import run_stage
from cares.llm.params import LlmParams
from cares.models.params import ModelsParams

ITEMS = Path("data/bench/items.jsonl")


def main() -> None:
    params = Params()
    bench = params.section("bench", BenchParams)
    system = sys.argv[1] if len(sys.argv) == 2 else None
    if system not in bench.systems:
        raise InputError("command line", "SYSTEM", system, f"one of bench.systems: {', '.join(bench.systems)}")
    items = read_items(ITEMS)
    check_not_empty(items, ITEMS)
    model_id, llm = params.section("models", ModelsParams).writer, params.section("llm", LlmParams)
    answers, about = answer_items(system, items, bench, model_id, llm, params.seed, Path())
    asked = asked_items(items, answers)
    check_not_empty(asked, f"{ITEMS} (bench.tasks, questions for {system})")
    found = scored(system, about, asked, answers, file_digest(ITEMS), load_catalog(), bench.bootstrap, params.seed)
    rows = ["task,actual,predicted", *(",".join(row) for row in confusion_rows(asked, answers))]
    out, metrics = Path(f"data/bench/answers/{system}.jsonl"), Path(f"metrics/bench/{system}.json")
    write_records(out, answers)
    write_bytes(Path(f"metrics/plots/bench_{system}.csv"), ("\n".join(rows) + "\n").encode("ascii"))
    write_json(metrics, found)
    for line in headlines(found):
        print(f"bench {system}: {line}")
    print(f"bench {system}: {len(answers)} answers -> {out}, {metrics}")


if __name__ == "__main__":
    run_stage(main)
