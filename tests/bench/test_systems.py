"""Systems that cannot hear: what is asked, in which waves, and that answers keep their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import jinja2
import pytest

from cares.bench.ask import Question, ask, waves
from cares.bench.systems import (
    cascade_questions,
    load_prompt,
    majority_answers,
    oracle_questions,
    random_answers,
    read_answer,
    read_answers,
)
from cares.bench.systems_repeats import flip_rate, repeated
from cares.core.errors import CaresError, InputError
from cares.llm.types import ChatAnswer, ChatRequest, failed
from cares.records.answer import Answer
from cares.records.item import Item
from cares.records.timeline import MixedScene
from cares.records.transcript import Transcript
from tests.bench.readers import PARAMS, PROMPT, Echo, MakeItems


@pytest.fixture
def asked(scenes: list[MixedScene], make_items: MakeItems) -> list[Item]:
    return make_items(scenes, "reactions")


def by_id(scenes: list[MixedScene]) -> dict[str, MixedScene]:
    return {scene.scene_id: scene for scene in scenes}


def oracle(items: Sequence[Item], scenes: list[MixedScene], names: dict[str, str]) -> list[Question]:
    return oracle_questions(items, by_id(scenes), names, PROMPT, 20, marked=True)


def test_majority_is_the_most_frequent_label_and_ties_go_by_order(asked: list[Item], make_items: MakeItems) -> None:
    counts = Counter(item.answer for item in asked if item.level == "time")
    chosen = {answer.choice for answer in majority_answers([item for item in asked if item.level == "time"])}
    assert len(chosen) == 1
    assert counts[str(chosen.pop())] == max(counts.values())
    tie = [next(item for item in asked if item.answer == label) for label in ("ambient", "verbal")]
    assert {answer.choice for answer in majority_answers([item for item in tie if item.level == tie[0].level])} == {
        "verbal"
    }


def test_majority_knows_no_answer_of_items_whose_choices_differ(items: list[Item]) -> None:
    for task in ("sounds", "scene"):
        chosen = [item for item in items if item.task == task]
        answers = majority_answers(chosen)
        places = {item.choices.index(str(answer.choice)) for item, answer in zip(chosen, answers, strict=True)}
        if len({frozenset(item.choices) for item in chosen}) > 1:
            assert len(places) == 1


def test_both_halves_of_a_pair_get_one_constant_answer(items: list[Item]) -> None:
    answers = majority_answers([item for item in items if item.task == "grounding"])
    assert {answer.choice for answer in answers} == {"yes"}


def test_random_follows_from_the_item_and_the_seed_alone(items: list[Item]) -> None:
    answers = random_answers(items, 1)
    assert [answer.item_id for answer in answers] == [item.item_id for item in items if item.choices]
    assert random_answers(items[::-1], 1) == answers[::-1]
    assert random_answers(items, 2) != answers
    assert len({answer.choice for answer in answers if answer.item_id.startswith("reactions")}) == 4


def test_the_prompt_holds_the_transcript_and_the_whole_question(
    items: list[Item], scenes: list[MixedScene], names: dict[str, str]
) -> None:
    for question in oracle(items, scenes, names):
        assert question.prompt.endswith(question.item.question)
        assert "S1: w00" in question.prompt


def test_the_right_answer_is_not_told_by_anything_but_the_transcript(
    make_scene: Callable[..., MixedScene], make_items: MakeItems, names: dict[str, str]
) -> None:
    prompts = set()
    for reaction in ("pivot", "ambient"):
        scene = make_scene(0, (reaction,))
        item = make_items([scene], "reactions")[0]
        question = oracle_questions(
            [item], by_id([scene]), names, jinja2.Template("{{ transcript }}"), 20, marked=True
        )[0]
        prompts.add(question.prompt)
    assert len(prompts) == 1


def test_the_cascade_sees_what_was_heard(
    asked: list[Item], scenes: list[MixedScene], transcripts: dict[str, Transcript]
) -> None:
    questions = cascade_questions(asked, by_id(scenes), transcripts, PROMPT, 20)
    assert all("W10 W11 W12" in question.prompt for question in questions if question.item.event == 0)
    assert not any("S1:" in question.prompt for question in questions)


def test_a_transcript_of_another_file_is_an_error(
    asked: list[Item], scenes: list[MixedScene], transcripts: dict[str, Transcript]
) -> None:
    first = asked[0].scene_id
    stale = transcripts | {first: transcripts[first].model_copy(update={"audio_sha256": "f" * 64})}
    with pytest.raises(InputError, match=rf"{first}\.audio_sha256.*dvc repro"):
        cascade_questions(asked, by_id(scenes), stale, PROMPT, 20)
    with pytest.raises(InputError, match=first):
        cascade_questions(asked, by_id(scenes), {}, PROMPT, 20)


def test_items_of_an_older_build_are_an_error(
    asked: list[Item], scenes: list[MixedScene], names: dict[str, str]
) -> None:
    changed = [scene.model_copy(update={"sha256": "e" * 64}) for scene in scenes]
    with pytest.raises(InputError, match="dvc repro items"):
        oracle(asked, changed, names)


def test_an_undefined_name_in_the_prompt_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "prompt.jinja").write_text("{{ sonud }}")
    with pytest.raises(jinja2.UndefinedError, match="sonud"):
        load_prompt(tmp_path / "prompt.jinja").render(sound="dog bark")
    (tmp_path / "prompt.jinja").write_text("{% if %}")
    with pytest.raises(InputError, match="line 1"):
        load_prompt(tmp_path / "prompt.jinja")
    with pytest.raises(InputError, match="no such file"):
        load_prompt(tmp_path / "none.jinja")


def test_waves_follow_from_template_numbers_alone(asked: list[Item]) -> None:
    plan = waves(asked, 4, 6)
    assert sorted(place for wave in plan for place in wave) == list(range(len(asked)))
    assert max(len(wave) for wave in plan) <= 6
    groups = [{int(asked[place].template_id[1:]) // 4 for place in wave} for wave in plan]
    assert all(len(group) == 1 for group in groups)
    kept = [item for item in asked if item.template_id != "t00001"]
    later = {tuple(kept[place].item_id for place in wave) for wave in waves(kept, 4, 6)}
    untouched = {tuple(asked[p].item_id for p in wave) for wave in plan if int(asked[wave[0]].template_id[1:]) >= 4}
    assert untouched <= later


def test_a_template_id_without_a_number_is_an_error(asked: list[Item]) -> None:
    with pytest.raises(InputError, match="template_id"):
        waves([asked[0].model_copy(update={"template_id": "beach"})], 4, 6)


def test_answers_come_in_the_order_of_the_questions_at_temperature_zero(
    asked: list[Item], scenes: list[MixedScene], names: dict[str, str]
) -> None:
    questions = oracle(asked[::-1], scenes, names)
    model = Echo()
    answers = read_answers("oracle", questions, ask(questions, model, PARAMS, 1))
    assert [answer.item_id for answer in answers] == [item.item_id for item in asked[::-1]]
    assert [answer.choice for answer in answers] == [item.choices[1] for item in asked[::-1]]
    requests = [request for wave in model.asked for request in wave]
    assert {(request.temperature, request.max_tokens, request.choices) for request in requests} == {(0.0, 24, None)}
    assert len({request.seed for request in requests}) == len(requests)


def test_a_summary_may_be_as_long_as_it_is_asked_to_be(
    items: list[Item], scenes: list[MixedScene], names: dict[str, str]
) -> None:
    model = Echo()
    ask(oracle([item for item in items if item.task == "summary"], scenes, names), model, PARAMS, 1)
    assert {request.max_tokens for wave in model.asked for request in wave} == {91, 241, 616}


def test_questions_that_read_alike_are_asked_once(
    items: list[Item], scenes: list[MixedScene], transcripts: dict[str, Transcript]
) -> None:
    pairs = [item for item in items if item.task == "grounding"]
    model = Echo()
    questions = cascade_questions(pairs, by_id(scenes), transcripts, PROMPT, 20)
    answers = read_answers("cascade", questions, ask(questions, model, PARAMS, 1))
    assert sum(len(wave) for wave in model.asked) == len(pairs) / 2
    of_pair: dict[str, set[str | None]] = {}
    for item, answer in zip(pairs, answers, strict=True):
        assert answer.item_id == item.item_id
        of_pair.setdefault(item.pair, set()).add(answer.choice)
    assert all(len(choices) == 1 for choices in of_pair.values())


def test_constrained_answers_are_letters_and_are_marked(
    items: list[Item], scenes: list[MixedScene], names: dict[str, str]
) -> None:
    model = Echo()
    questions = [question._replace(constrained=True) for question in oracle(items, scenes, names)]
    answers = read_answers("oracle-constrained", questions, ask(questions, model, PARAMS, 1))
    choices = {request.choices for wave in model.asked for request in wave}
    assert choices == {("A", "B", "C", "D"), ("A", "B"), None}
    assert all(answer.constrained == bool(item.choices) for item, answer in zip(items, answers, strict=True))


def test_one_failed_answer_moves_no_other_row(
    asked: list[Item], scenes: list[MixedScene], names: dict[str, str]
) -> None:
    questions = [
        question._replace(prompt=question.prompt + ("\nBAD" if place == 3 else ""))
        for place, question in enumerate(oracle(asked, scenes, names))
    ]
    answers = read_answers("oracle", questions, ask(questions, Echo(bad="BAD"), PARAMS, 1))
    assert (answers[3].status, answers[3].choice, answers[3].finish_reason) == ("error", None, "error")
    assert answers[3].text == "refused"
    for place, (item, answer) in enumerate(zip(asked, answers, strict=True)):
        assert answer.item_id == item.item_id
        assert place == 3 or answer.choice == item.choices[1]


def test_a_filtered_answer_is_a_refusal(asked: list[Item]) -> None:
    answer = read_answer("openai", asked[0], failed("content_filter"), constrained=False, repeat=0)
    assert (answer.status, answer.finish_reason) == ("refused", "content_filter")


def test_a_model_that_loses_an_answer_is_an_error(
    asked: list[Item], scenes: list[MixedScene], names: dict[str, str]
) -> None:
    class Loses(Echo):
        def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
            return super().complete(wave)[1:]

    with pytest.raises(CaresError, match="answers to"):
        ask(oracle(asked, scenes, names), Loses(), PARAMS, 1)


def test_the_repeated_subset_changes_little_with_more_items(items: list[Item]) -> None:
    some = repeated(items, 10, 1)
    assert len(some) == 10
    assert all(item.choices for item in some)
    assert [item for item in items if item in some] == some
    fewer = repeated([item for item in items if item.template_id != "t00003"], 10, 1)
    assert len({item.item_id for item in some} - {item.item_id for item in fewer}) <= sum(
        item.template_id == "t00003" for item in some
    )
    assert repeated(items, 0, 1) == []


def test_the_flip_rate_counts_other_choices() -> None:
    def answer(item_id: str, choice: str | None, repeat: int) -> Answer:
        status = "ok" if choice else "unreadable"
        return Answer.parse(
            {
                "item_id": item_id, "system": "s", "text": choice or "?", "finish_reason": "stop", "status": status,
                "choice": choice, "repeat": repeat,
            },
            "test",
        )  # fmt: skip

    rows = [answer(f"i{n}", "verbal", 0) for n in range(4)]
    again = [answer("i0", "verbal", 1), answer("i1", "pivot", 1), answer("i2", None, 1)]
    assert flip_rate([*rows, *again]) == {"n": 3, "flips": 2, "rate": 0.6667, "same_text": 0.3333}
    assert flip_rate(rows) == {"n": 0, "flips": 0, "rate": None, "same_text": None}
