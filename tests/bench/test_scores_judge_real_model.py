"""The judge of summaries with real weights: the smallest language model is held to schema and quotes."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from cares.bench.scores_judge import cases, judge, quoted
from cares.bench.scores_summary import Judged
from cares.bench.systems import load_prompt
from cares.catalog.load import load_catalog
from cares.llm.params import LlmParams
from cares.llm.waves import StoredWaves
from tests.bench.answering import reference, summary_item, wrote

TEXTS = (
    "Two friends plan a picnic. A dog barks, and they talk about it for a while.",
    "They talk about the rent.",
    "While they talk about their mother, the bells of a church ring.",
)
REFERENCES = (reference("dog_bark", "pivot"), reference("church_bell", "ambient", 1))


def judged(model_id: str) -> list[Judged]:
    """Verdicts of a model on the three summaries."""
    items = [summary_item(template, REFERENCES) for template in range(len(TEXTS))]
    answers = [wrote(item, text) for item, text in zip(items, TEXTS, strict=True)]
    llm = LlmParams(context_tokens=2048, batched_tokens=4096, wave_limit=4, kv_cache_gib=0.5)
    catalog, prompt = load_catalog(), load_prompt(Path(__file__).parents[2] / "prompts/summary_judge.jinja")
    with StoredWaves(model_id, llm) as model:
        return judge(cases(items, answers, catalog, 1), model, prompt, catalog, 4, 4, 1)


@pytest.mark.models
def test_every_sound_gets_a_verdict_and_every_mention_a_quote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("CARES_LLM_URL", raising=False)
    # in a process of its own: vLLM does not start beside llvmlite, which other tests bring in
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        verdicts = pool.submit(judged, "smollm2-135m-instruct").result()
    assert len(verdicts) == 9
    assert "unreadable" not in {one.verdict for one in verdicts}
    texts = {summary_item(template, REFERENCES).item_id: text for template, text in enumerate(TEXTS)}
    for one in verdicts:
        if one.verdict == "mentioned":
            assert quoted(one.quote, texts[one.item_id])
