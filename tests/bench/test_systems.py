"""Systems with a language model of our own: what is asked, in which waves, and that answers keep their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import jinja2
import pytest

from cares.bench import run
from cares.bench.ask import Question, ask, waves
from cares.bench.items import build_items
from cares.bench.params import BenchParams, ItemsParams
from cares.bench.systems import cascade_questions, load_prompt, majority_answers, oracle_questions, read_answers
from cares.core.errors import CaresError, InputError
from cares.core.record import write_records
from cares.llm import waves as llm_waves
from cares.llm.params import LlmParams
from cares.llm.types import ChatAnswer, ChatRequest, LlmError, failed
from cares.records.item import LETTERS, Item
from cares.records.timeline import MixedScene
from cares.records.transcript import HeardWord, Transcript

PARAMS = BenchParams(
    systems=("majority", "oracle", "cascade"),
    wave_templates=4,
    wave_size=6,
    context_s=20.0,
    max_tokens=24,
    bootstrap=100,
)
PROMPT = load_prompt(Path("prompts/bench_reactions.jinja"))


class Echo:
    """Answers each question with the letter of its second option; requests holding `bad` fail alone."""

    promised = True

    def __init__(self, bad: str = "\0", fail_at_wave: int | None = None) -> None:
        self.asked: list[list[ChatRequest]] = []
        self._bad, self._fail_at_wave = bad, fail_at_wave

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        if self._fail_at_wave == len(self.asked):
            raise LlmError("the engine stopped")
        self.asked.append(list(wave))
        return [self._answer(request) for request in wave]

    def close(self) -> None:
        """Nothing to free."""

    def _answer(self, request: ChatRequest) -> ChatAnswer:
        text = request.messages[-1].content
        if self._bad in text:
            return failed("refused", 7)
        label = text.split("\nB) ")[1].split(":")[0]
        return ChatAnswer(text=label, finish_reason="stop", prompt_tokens=len(text.split()), completion_tokens=1)


@pytest.fixture
def items(scenes: list[MixedScene], names: dict[str, str]) -> list[Item]:
    return build_items(scenes, names, ItemsParams(tasks=("reactions",), splits=("train", "validation", "test")), 1)


@pytest.fixture
def transcripts(scenes: list[MixedScene]) -> dict[str, Transcript]:
    return {
        scene.scene_id: Transcript(
            scene_id=scene.scene_id,
            audio_sha256=scene.sha256,
            recogniser="whisper-base",
            words=tuple(
                HeardWord(word=word.word.upper(), start_sample=word.start_sample, end_sample=word.end_sample)
                for word in scene.words
            ),
        )
        for scene in scenes
    }


def by_id(scenes: list[MixedScene]) -> dict[str, MixedScene]:
    return {scene.scene_id: scene for scene in scenes}


def test_majority_is_the_most_frequent_label_and_ties_go_by_order(items: list[Item]) -> None:
    counts = {label: sum(item.answer == label for item in items) for label in items[0].options}
    chosen = majority_answers(items)[0].choice
    assert counts[str(chosen)] == max(counts.values())
    tie = [items[0].model_copy(update={"answer": label}) for label in ("ambient", "verbal")]
    assert {answer.choice for answer in majority_answers(tie)} == {"verbal"}


def test_the_prompt_holds_the_question_and_all_options_in_their_order(
    items: list[Item], scenes: list[MixedScene]
) -> None:
    for question in oracle_questions(items, by_id(scenes), PROMPT, 20):
        lines = question.prompt.splitlines()
        assert question.prompt.count("[SOUND]") == 2
        assert question.item.sound_name in lines[0]
        shown = [line[3:].split(":")[0] for line in lines if line[:2] in {f"{letter})" for letter in LETTERS}]
        assert tuple(shown) == question.item.options
        assert len(question.prompt.split()) < 160


def test_the_right_answer_is_not_told_by_anything_but_the_transcript(
    make_scene: Callable[..., MixedScene], names: dict[str, str]
) -> None:
    params = ItemsParams(tasks=("reactions",), splits=("train",))
    prompts = set()
    for reaction in ("pivot", "ambient"):
        scene = make_scene(0, (reaction,))
        item = build_items([scene], names, params, 1)[0]
        same = item.model_copy(update={"options": ("pivot", "verbal", "behavioral", "ambient")})
        prompts.add(
            oracle_questions([same], by_id([scene]), jinja2.Template("{{ sound }} {{ transcript }}"), 20)[0].prompt
        )
    assert len(prompts) == 1


def test_the_cascade_sees_what_was_heard(
    items: list[Item], scenes: list[MixedScene], transcripts: dict[str, Transcript]
) -> None:
    questions = cascade_questions(items, by_id(scenes), transcripts, PROMPT, 20)
    assert all("W12 [SOUND] W13" in question.prompt for question in questions if question.item.event == 0)
    assert not any("S1:" in question.prompt for question in questions)


def test_a_transcript_of_another_file_is_an_error(
    items: list[Item], scenes: list[MixedScene], transcripts: dict[str, Transcript]
) -> None:
    first = items[0].scene_id
    stale = transcripts | {first: transcripts[first].model_copy(update={"audio_sha256": "f" * 64})}
    with pytest.raises(InputError, match=rf"{first}\.audio_sha256.*dvc repro"):
        cascade_questions(items, by_id(scenes), stale, PROMPT, 20)
    with pytest.raises(InputError, match=first):
        cascade_questions(items, by_id(scenes), {}, PROMPT, 20)


def test_items_of_an_older_build_are_an_error(items: list[Item], scenes: list[MixedScene]) -> None:
    changed = [scene.model_copy(update={"sha256": "e" * 64}) for scene in scenes]
    with pytest.raises(InputError, match="dvc repro items"):
        oracle_questions(items, by_id(changed), PROMPT, 20)


def test_an_undefined_name_in_the_prompt_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "prompt.jinja").write_text("{{ sonud }}")
    with pytest.raises(jinja2.UndefinedError, match="sonud"):
        load_prompt(tmp_path / "prompt.jinja").render(sound="dog bark")
    (tmp_path / "prompt.jinja").write_text("{% if %}")
    with pytest.raises(InputError, match="line 1"):
        load_prompt(tmp_path / "prompt.jinja")
    with pytest.raises(InputError, match="no such file"):
        load_prompt(tmp_path / "none.jinja")


def test_waves_follow_from_template_numbers_alone(items: list[Item]) -> None:
    plan = waves(items, 4, 6)
    assert sorted(place for wave in plan for place in wave) == list(range(len(items)))
    assert max(len(wave) for wave in plan) <= 6
    groups = [{int(items[place].template_id[1:]) // 4 for place in wave} for wave in plan]
    assert all(len(group) == 1 for group in groups)
    kept = [item for item in items if item.template_id != "t00001"]
    later = {tuple(kept[place].item_id for place in wave) for wave in waves(kept, 4, 6)}
    untouched = {tuple(items[p].item_id for p in wave) for wave in plan if int(items[wave[0]].template_id[1:]) >= 4}
    assert untouched <= later


def test_a_template_id_without_a_number_is_an_error(items: list[Item]) -> None:
    with pytest.raises(InputError, match="template_id"):
        waves([items[0].model_copy(update={"template_id": "beach"})], 4, 6)


def test_answers_come_in_the_order_of_the_questions_at_temperature_zero(
    items: list[Item], scenes: list[MixedScene]
) -> None:
    questions = oracle_questions(items[::-1], by_id(scenes), PROMPT, 20)
    model = Echo()
    answers = read_answers("oracle", items[::-1], ask(questions, model, PARAMS, 1))
    assert [answer.item_id for answer in answers] == [item.item_id for item in items[::-1]]
    assert [answer.choice for answer in answers] == [item.options[1] for item in items[::-1]]
    requests = [request for wave in model.asked for request in wave]
    assert {(request.temperature, request.max_tokens) for request in requests} == {(0.0, 24)}
    assert len({request.seed for request in requests}) == len(requests)


def test_one_failed_answer_moves_no_other_row(items: list[Item], scenes: list[MixedScene]) -> None:
    questions = [
        Question(question.item, question.prompt + ("\nBAD" if place == 3 else ""))
        for place, question in enumerate(oracle_questions(items, by_id(scenes), PROMPT, 20))
    ]
    answers = read_answers("oracle", items, ask(questions, Echo(bad="BAD"), PARAMS, 1))
    assert (answers[3].status, answers[3].choice, answers[3].finish_reason) == ("error", None, "error")
    for place, (item, answer) in enumerate(zip(items, answers, strict=True)):
        assert answer.item_id == item.item_id
        assert place == 3 or answer.choice == item.options[1]


def test_a_model_that_loses_an_answer_is_an_error(items: list[Item], scenes: list[MixedScene]) -> None:
    class Loses(Echo):
        def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
            return super().complete(wave)[1:]

    with pytest.raises(CaresError, match="answers to"):
        ask(oracle_questions(items, by_id(scenes), PROMPT, 20), Loses(), PARAMS, 1)


@pytest.fixture
def build(
    tmp_path: Path, scenes: list[MixedScene], transcripts: dict[str, Transcript], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A repository with scenes, transcripts and the prompt, and an item store of its own."""
    write_records(tmp_path / "data/scenes/scenes.jsonl", scenes)
    write_records(tmp_path / "data/bench/transcripts.jsonl", list(transcripts.values()))
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/bench_reactions.jinja").write_bytes(Path("prompts/bench_reactions.jinja").read_bytes())
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    monkeypatch.setattr(llm_waves, "model_identity", lambda model_id, params: model_id)
    monkeypatch.delenv("CARES_LLM_URL", raising=False)
    return tmp_path


def use(model: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def opened(model_id: str, params: LlmParams) -> Iterator[Echo]:
        yield model

    monkeypatch.setattr(llm_waves, "open_llm", opened)


@pytest.mark.parametrize("system", ["oracle", "cascade"])
def test_a_killed_run_resumes_and_asks_nothing_twice(
    system: str, build: Path, items: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = LlmParams(wave_limit=6)
    broken, second, third = Echo(fail_at_wave=2), Echo(), Echo()
    use(broken, monkeypatch)
    with pytest.raises(LlmError):
        run.answer_items(system, items, PARAMS, "qwen", llm, 1, build)
    use(second, monkeypatch)
    resumed, about = run.answer_items(system, items, PARAMS, "qwen", llm, 1, build)
    seen = [request.seed for model in (broken, second) for wave in model.asked for request in wave]
    assert len(seen) == len(set(seen)) == len(items)
    use(third, monkeypatch)
    again, _ = run.answer_items(system, items, PARAMS, "qwen", llm, 1, build)
    assert third.asked == []
    assert again == resumed
    assert about["language_model"] == "qwen"
    assert about["same_again_promised"] is True


def test_a_wave_with_a_failed_answer_is_asked_again(
    build: Path, items: list[Item], scenes: list[MixedScene], monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = LlmParams(wave_limit=6)
    first_prompt = oracle_questions(items, by_id(scenes), PROMPT, 20)[0].prompt
    failing, sound = Echo(bad=first_prompt), Echo()
    failing.promised = False  # as a server's answers are; a failure that would only come again is kept
    use(failing, monkeypatch)
    answers, _ = run.answer_items("oracle", items, PARAMS, "qwen", llm, 1, build)
    assert [answer.status for answer in answers].count("error") == 1
    use(sound, monkeypatch)
    answers, _ = run.answer_items("oracle", items, PARAMS, "qwen", llm, 1, build)
    assert len(sound.asked) == 1
    assert {answer.status for answer in answers} == {"ok"}


def test_a_wave_larger_than_the_model_takes_is_an_error(build: Path, items: list[Item]) -> None:
    with pytest.raises(InputError, match=r"bench\.wave_size.*llm\.wave_limit"):
        run.answer_items("oracle", items, PARAMS, "qwen", LlmParams(wave_limit=5), 1, build)


def test_majority_needs_no_file_and_no_model(tmp_path: Path, items: list[Item]) -> None:
    answers, about = run.answer_items("majority", items, PARAMS, "qwen", LlmParams(), 1, tmp_path)
    assert {answer.choice for answer in answers} == {about["label"]}


def test_the_store_keeps_whole_waves(build: Path, items: list[Item], monkeypatch: pytest.MonkeyPatch) -> None:
    model = Echo()
    use(model, monkeypatch)
    run.answer_items("oracle", items, PARAMS, "qwen", LlmParams(wave_limit=6), 1, build)
    kept = [path for path in (build / "store").rglob("*") if path.is_file()]
    assert len(kept) == len(model.asked)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("systems", []),
        ("systems", ["oracle", "oracle"]),
        ("systems", ["oracel"]),
        ("wave_size", 0),
        ("context_s", -1.0),
        ("bootstrap", 10),
        ("max_tokens", 0),
    ],
)
def test_a_wrong_section_is_an_error_with_its_field(field: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"params\.yaml: bench\.{field}"):
        BenchParams.parse(PARAMS.to_json() | {field: value}, "params.yaml", "bench")
