"""Systems that cannot hear, from the files of a build: resumed, with the wanted tasks, called in a wrong way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cares.bench import run
from cares.bench.params import BenchParams
from cares.core.errors import CaresError, InputError
from cares.core.record import write_records
from cares.llm import waves as llm_waves
from cares.llm.params import LlmParams
from cares.llm.types import LlmError
from cares.records.item import Item
from cares.records.timeline import MixedScene
from cares.records.transcript import Transcript
from tests.bench.readers import PARAMS, Echo


@pytest.fixture
def build(
    tmp_path: Path, scenes: list[MixedScene], transcripts: dict[str, Transcript], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A repository with scenes, transcripts and the prompt, and an item store of its own."""
    write_records(tmp_path / "data/scenes/scenes.jsonl", scenes)
    write_records(tmp_path / "data/bench/transcripts.jsonl", list(transcripts.values()))
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/bench_text.jinja").write_bytes(Path("prompts/bench_text.jinja").read_bytes())
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    monkeypatch.setattr(llm_waves, "model_identity", lambda model_id, params: model_id)
    monkeypatch.delenv("CARES_LLM_URL", raising=False)
    return tmp_path


def use(model: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def opened(model_id: str, params: LlmParams) -> Iterator[Echo]:
        yield model

    monkeypatch.setattr(llm_waves, "open_llm", opened)


@pytest.mark.parametrize("system", ["oracle", "oracle-unmarked", "cascade", "cascade-constrained"])
def test_a_killed_run_resumes_and_asks_nothing_twice(
    system: str, build: Path, items: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = LlmParams(wave_limit=6)
    params = PARAMS.model_copy(update={"repeats": 7})
    broken, second, third = Echo(fail_at_wave=2), Echo(), Echo()
    use(broken, monkeypatch)
    with pytest.raises(LlmError):
        run.answer_items(system, items, params, "qwen", llm, 1, build)
    use(second, monkeypatch)
    resumed, about = run.answer_items(system, items, params, "qwen", llm, 1, build)
    seen = [request.seed for model in (broken, second) for wave in model.asked for request in wave]
    assert len(seen) == len(set(seen))
    use(third, monkeypatch)
    again, _ = run.answer_items(system, items, params, "qwen", llm, 1, build)
    assert third.asked == []
    assert again == resumed
    assert [answer.item_id for answer in resumed if not answer.repeat] == [item.item_id for item in items]
    assert sum(answer.repeat for answer in resumed) == 7
    assert about["model"] == "qwen"


def test_only_the_wanted_tasks_are_asked(build: Path, items: list[Item], monkeypatch: pytest.MonkeyPatch) -> None:
    use(Echo(), monkeypatch)
    params = PARAMS.model_copy(update={"tasks": ("scene", "summary-25")})
    answers, _ = run.answer_items("oracle", items, params, "qwen", LlmParams(wave_limit=6), 1, build)
    assert {answer.item_id.split("/")[0] for answer in answers} == {"scene", "summary-25"}


def test_a_wave_larger_than_the_model_takes_is_an_error(build: Path, items: list[Item]) -> None:
    with pytest.raises(InputError, match=r"bench\.wave_size"):
        run.answer_items("oracle", items, PARAMS, "qwen", LlmParams(wave_limit=2), 1, build)


@pytest.mark.parametrize(("system", "hint"), [("openai", "bench.audio_model"), ("transformers", "bench.transformers")])
def test_a_system_without_its_model_is_an_error(system: str, hint: str, build: Path, items: list[Item]) -> None:
    with pytest.raises(InputError, match=hint):
        run.answer_items(system, items, PARAMS, "qwen", LlmParams(wave_limit=6), 1, build)


def test_openai_without_a_server_is_an_error(build: Path, items: list[Item]) -> None:
    params = PARAMS.model_copy(update={"audio_model": "ears"})
    with pytest.raises(CaresError, match="CARES_LLM_URL"):
        run.answer_items("openai", items, params, "qwen", LlmParams(wave_limit=6), 1, build)


@pytest.mark.parametrize("name", ["oracel", "majority-constrained", "random-constrained", "", "openai_constrained"])
def test_an_unknown_system_is_an_error(name: str) -> None:
    with pytest.raises(InputError, match="oracle"):
        BenchParams.parse(PARAMS.to_json() | {"systems": [name]}, "params.yaml", "bench")


@pytest.mark.parametrize("task", ["reaction", "grounding-muted", "summary-30", ""])
def test_an_unknown_task_is_an_error(task: str) -> None:
    with pytest.raises(InputError, match="grounding"):
        BenchParams.parse(PARAMS.to_json() | {"tasks": [task]}, "params.yaml", "bench")
