"""The whole way of a question through real weights: the smallest language model answers, and its answers are read."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from cares.bench.params import BenchParams
from cares.bench.run import answer_items
from cares.bench.scores import score_tasks
from cares.catalog.catalog import Catalog
from cares.core.record import write_records
from cares.llm.params import LlmParams
from cares.records.item import Item
from cares.records.timeline import MixedScene


@pytest.mark.models
def test_a_small_model_answers_every_item(
    scenes: list[MixedScene],
    make_items: Callable[..., list[Item]],
    catalog: Catalog,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("CARES_LLM_URL", raising=False)
    write_records(tmp_path / "data/scenes/scenes.jsonl", scenes)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/bench_text.jinja").write_bytes(Path("prompts/bench_text.jinja").read_bytes())
    items = make_items(scenes, "reactions", "scene")
    params = BenchParams(
        systems=("oracle",),
        tasks=("scene", "reactions-time"),
        wave_templates=4,
        wave_size=6,
        context_s=20.0,
        max_tokens=12,
        repeats=4,
        bootstrap=100,
    )
    llm = LlmParams(context_tokens=2048, batched_tokens=4096, wave_limit=6, kv_cache_gib=0.5)
    found = {}
    for system in ("oracle", "oracle-constrained"):
        # in a process of its own: vLLM does not start beside llvmlite, which other tests bring in
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            task = pool.submit(answer_items, system, items, params, "smollm2-135m-instruct", llm, 1, tmp_path)
            found[system], about = task.result()
        answers = found[system]
        assert "error" not in {answer.status for answer in answers}
        assert all(1 <= answer.completion_tokens <= 12 for answer in answers)
        assert about["completion_tokens"] == sum(answer.completion_tokens for answer in answers)
        assert sum(answer.repeat for answer in answers) == 4
        tasks = score_tasks([item for item in items if params.asks(item)], answers, catalog, 100, 1)
        assert set(tasks) == {"scene", "reactions-time"}
    assert {answer.status for answer in found["oracle-constrained"]} == {"ok"}
    assert all(answer.constrained for answer in found["oracle-constrained"])
