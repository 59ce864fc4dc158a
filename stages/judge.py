"""A language model says which sounds the summaries mention: data/bench/answers -> data/bench/verdicts.jsonl."""

from pathlib import Path

from cares.bench.items_file import read_items
from cares.bench.params import BenchParams
from cares.bench.scores_judge import cases, judge, silent_verdicts
from cares.bench.systems import load_prompt
from cares.catalog.load import load_catalog
from cares.core.params import Params
from cares.core.record import read_records, write_records
from cares.core.stage import run_stage
from cares.llm.params import LlmParams
from cares.llm.waves import StoredWaves
from cares.models.params import ModelsParams
from cares.records.answer import Answer

OUT = Path("data/bench/verdicts.jsonl")


def main() -> None:
    params = Params()
    bench = params.section("bench", BenchParams)
    if not bench.judge_summaries:
        write_records(OUT, [])
        print("judge: no judge is asked (bench.judge_summaries); summaries are searched for word forms only")
        return
    items, catalog = read_items(Path("data/bench/items.jsonl")), load_catalog()
    answers = [
        answer
        for system in bench.systems
        for answer in read_records(Answer, Path(f"data/bench/answers/{system}.jsonl"))
    ]
    model_id = params.section("models", ModelsParams).judge
    found = cases(items, answers, catalog, params.seed)
    prompt = load_prompt(Path("prompts/summary_judge.jinja"))
    with StoredWaves(model_id, params.section("llm", LlmParams)) as model:
        verdicts = judge(found, model, prompt, catalog, bench.wave_templates, bench.wave_size, params.seed)
    verdicts += silent_verdicts(items, answers, catalog, params.seed)
    write_records(OUT, verdicts)
    unsupported = sum(verdict.verdict == "unsupported" for verdict in verdicts)
    unreadable = sum(verdict.verdict == "unreadable" for verdict in verdicts)
    print(f"judge: {model_id} on {len(verdicts)} sounds in {len(found)} summaries -> {OUT}")
    print(f"judge: {unsupported} verdicts with a quote that is not in the summary, {unreadable} unreadable")


if __name__ == "__main__":
    run_stage(main)
