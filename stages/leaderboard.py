"""All systems in one table, beside published results: data/bench/answers -> data/bench/leaderboard, metrics."""

from pathlib import Path

from cares.bench.items_file import read_items
from cares.bench.leaderboard_files import Standing, leaderboard_files
from cares.bench.leaderboard_published import read_published
from cares.bench.params import BenchParams
from cares.bench.scores_summary import Judged
from cares.catalog.load import load_catalog
from cares.core.atomic import replace_folder, write_bytes
from cares.core.canonical import file_digest, read_json, write_json
from cares.core.params import Params
from cares.core.record import read_records
from cares.core.stage import run_stage
from cares.records.answer import Answer

ITEMS = Path("data/bench/items.jsonl")
OUT = Path("data/bench/leaderboard")


def main() -> None:
    params = Params()
    bench = params.section("bench", BenchParams)
    verdicts = read_records(Judged, Path("data/bench/verdicts.jsonl"))
    systems = {
        system: Standing(
            read_records(Answer, Path(f"data/bench/answers/{system}.jsonl")),
            read_json(Path(f"metrics/bench/{system}.json")),
            [verdict for verdict in verdicts if verdict.system == system],
        )
        for system in bench.systems
    }
    published = read_published()
    items, digest = read_items(ITEMS), file_digest(ITEMS)
    found = leaderboard_files(items, digest, systems, published, load_catalog(), bench.bootstrap, params.seed)
    with replace_folder(OUT) as work:
        for name, text in found.texts.items():
            write_bytes(work / name, text.encode("utf-8"))
        write_json(work / "leaderboard.json", found.report)
    write_json(Path("metrics/leaderboard.json"), found.metrics)
    told = f"{len(published)} published results" if published else "no published result (cares/bench/published.yaml)"
    print(f"leaderboard: {len(systems)} systems, {told}, {len(found.report['differences'])} differences -> {OUT}")


if __name__ == "__main__":
    run_stage(main)
