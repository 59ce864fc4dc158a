"""Mentions in summaries: by word forms, and by a judge whose quotes are checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import jinja2
import pytest
from pydantic import ValidationError

from cares.bench.scores import score_tasks
from cares.bench.scores_judge import cases, judge, quoted, read_verdicts, silent_verdicts, waves
from cares.bench.scores_summary import DECOY, Judged, sought
from cares.catalog.catalog import Catalog
from cares.core.errors import CaresError, InputError
from cares.llm.types import ChatAnswer, ChatRequest
from tests.bench.answering import reference, summary_item, wrote

PROMPT = jinja2.Template(
    (Path(__file__).parents[2] / "prompts/summary_judge.jinja").read_text(), undefined=jinja2.StrictUndefined
)
REFERENCES = (
    reference("dog_bark", "pivot"),
    reference("train_horn", "ambient", 1),
    reference("church_bell", "verbal", 2),
)


class Scripted:
    """A judge that answers by a script: (quote, mentioned) by sound's name, "no" where it has none."""

    def __init__(self, script: dict[str, tuple[str, str]]) -> None:
        self.script, self.waves = script, list[list[ChatRequest]]()

    def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
        self.waves.append(list(wave))
        return [self._answer(request) for request in wave]

    def _answer(self, request: ChatRequest) -> ChatAnswer:
        assert request.json_schema is not None
        names = [entry["properties"]["sound"]["const"] for entry in request.json_schema["prefixItems"]]
        said = [(name, *self.script.get(name, ("", "no"))) for name in names]
        text = json.dumps([{"sound": name, "quote": quote, "mentioned": word} for name, quote, word in said])
        return ChatAnswer(text=text, finish_reason="stop", prompt_tokens=1, completion_tokens=1)


def test_the_sounds_looked_for_are_those_of_the_scene_and_one_that_cannot_be_confused(catalog: Catalog) -> None:
    for template in range(40):
        looked = sought(summary_item(template, REFERENCES), catalog, 1)
        assert [(one.sound, one.kind) for one in looked[:-1]] == [
            ("dog_bark", "pivot"),
            ("train_horn", "ambient"),
            ("church_bell", "verbal"),
        ]
        assert looked[-1].kind == DECOY
        assert not any(looked[-1].sound in catalog.confusable(one.sound) for one in looked[:-1])
    lengths = [sought(summary_item(3, REFERENCES, words), catalog, 1) for words in (25, 75, 200)]
    assert lengths[0] == lengths[1] == lengths[2]


def test_rates_by_word_forms(catalog: Catalog) -> None:
    items = [summary_item(n, REFERENCES) for n in range(4)]
    texts = [
        "Two friends stop talking because dogs bark.",
        "They hear a barking dog and then the church bells.",
        "They plan a trip.",
        "A dog!",
    ]
    answers = [wrote(item, text) for item, text in zip(items, texts, strict=True)]
    answers[3] = answers[3].model_copy(update={"status": "truncated"})
    found = score_tasks(items, answers, catalog, 200, 1)["summary-25"]
    rates = {label: figure["value"] for label, figure in found["mention_rate_by_label"].items()}
    assert rates == {"pivot": 0.5, "verbal": 0.25, "behavioral": None, "ambient": 0.0}
    assert found["mention_rate"]["value"] == 0.25
    assert found["salience_gap"]["value"] == 0.5
    assert found["false_mention_rate"]["value"] == 0.0
    assert (found["n"], found["sounds"], found["unreadable"]) == (4, 12, 1)
    assert found["length"] == {"asked": 25, "mean_words": 7.0, "too_long": 0.0}
    assert "judge" not in found


def test_a_scene_without_sounds_has_nothing_to_mention(catalog: Catalog) -> None:
    items = [summary_item(0, ()), summary_item(1, REFERENCES)]
    found = score_tasks(items, [wrote(item, "A dog.") for item in items], catalog, 200, 1)["summary-25"]
    assert found["sounds"] == 3
    only = items[:1]
    found = score_tasks(only, [wrote(only[0], "A dog.")], catalog, 200, 1)["summary-25"]
    assert found["mention_rate"] == {"value": None, "ci95": None}


def test_a_judge_is_believed_only_with_a_quote_from_the_summary(catalog: Catalog) -> None:
    items = [summary_item(n, REFERENCES) for n in range(3)]
    answers = [wrote(item, "An animal makes a noise, and they laugh.") for item in items[:2]]
    answers.append(wrote(items[2], "An animal makes a", status="truncated"))
    found = cases(items, answers, catalog, 1)
    assert len(found) == 2
    dog, train = (catalog.sounds[sound].display for sound in ("dog_bark", "train_horn"))
    model = Scripted({dog: ("an animal makes a noise", "yes"), train: ("the train sounds", "yes")})
    verdicts = judge(found, model, PROMPT, catalog, 12, 8, 1)
    kinds = {(one.item_id, one.sound): one.verdict for one in verdicts}
    assert kinds[items[0].item_id, "dog_bark"] == "mentioned"
    assert kinds[items[0].item_id, "train_horn"] == "unsupported"
    assert kinds[items[0].item_id, "church_bell"] == "not_mentioned"
    verdicts += silent_verdicts(items, answers, catalog, 1)
    figures = score_tasks(items, answers, catalog, 200, 1, verdicts)["summary-25"]
    assert figures["mention_rate_by_label"]["pivot"]["value"] == 0.0
    assert figures["judge"]["mention_rate_by_label"]["pivot"]["value"] == round(2 / 3, 4)
    assert figures["judge"]["unsupported"] == 2
    assert figures["judge"]["unreadable"] == 0
    assert figures["judge"]["kappa_with_word_forms"] == 0.0
    part = score_tasks(items, answers, catalog, 200, 1, verdicts[:-1])["summary-25"]
    assert "judge" not in part


def test_the_judge_is_told_neither_labels_nor_which_sound_is_the_decoy(catalog: Catalog) -> None:
    items = [summary_item(n, REFERENCES) for n in range(30)]
    found = cases(items, [wrote(item, "Talk.") for item in items], catalog, 1)
    model = Scripted({})
    judge(found, model, PROMPT, catalog, 12, 8, 1)
    prompts = [request.messages[0].content for wave in model.waves for request in wave]
    assert len(prompts) == 30
    assert not any(word in prompt.lower() for prompt in prompts for word in ("pivot", "ambient", "decoy"))
    places = {[one.kind for one in case.sounds].index(DECOY) for case in found}
    assert places == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("a barking dog", True),
        ("  A BARKING   dog. ", True),
        ("“barking dog”", True),
        ("bark", False),
        ("dog barking", False),
        ("", False),
        ("...", False),
        ("They hear a barking dog and then they go on as before until the end of it all", True),
        ("they " * 21, False),
    ],
)
def test_a_quote_stands_in_the_text_as_whole_words(quote: str, stands: bool) -> None:
    text = "They hear a barking dog, and then they go on as before until the end of it all. " + "they " * 30
    assert quoted(quote, text) == stands


@pytest.mark.parametrize(
    "text",
    ["", "no", "[]", '[{"quote": "a"}]', '{"quote": "a", "mentioned": "yes"}', "[1, 2, 3, 4]", "null"],
)
def test_an_answer_that_is_not_what_was_asked_for_is_unreadable(catalog: Catalog, text: str) -> None:
    item = summary_item(0, REFERENCES)
    (case,) = cases([item], [wrote(item, "A dog.")], catalog, 1)
    answer = ChatAnswer(text=text, finish_reason="stop", prompt_tokens=0, completion_tokens=0)
    assert {one.verdict for one in read_verdicts(case, answer, catalog)} == {"unreadable"}


def test_verdicts_in_another_order_than_asked_are_unreadable(catalog: Catalog) -> None:
    item = summary_item(0, REFERENCES)
    (case,) = cases([item], [wrote(item, "A dog.")], catalog, 1)
    names = [catalog.sounds[one.sound].display for one in case.sounds]
    for order, readable in ((names, True), (names[::-1], False)):
        text = json.dumps([{"sound": name, "quote": "", "mentioned": "no"} for name in order])
        answer = ChatAnswer(text=text, finish_reason="stop", prompt_tokens=0, completion_tokens=0)
        found = {one.verdict for one in read_verdicts(case, answer, catalog)}
        assert found == ({"not_mentioned"} if readable else {"unreadable"})


def test_waves_follow_from_template_numbers(catalog: Catalog) -> None:
    items = [summary_item(n, REFERENCES) for n in range(8)]
    found = cases(items, [wrote(item, "Talk.", system) for system in ("b", "a") for item in items], catalog, 1)
    assert waves(found, 4, 3) == [[8, 9, 10], [11], [12, 13, 14], [15], [0, 1, 2], [3], [4, 5, 6], [7]]
    with pytest.raises(InputError, match="template_id"):
        waves([found[0]._replace(item=found[0].item.model_copy(update={"template_id": "x"}))], 4, 3)


def test_a_judge_that_answers_too_little_is_an_error(catalog: Catalog) -> None:
    class Short:
        def complete(self, wave: Sequence[ChatRequest]) -> list[ChatAnswer]:
            return []

    item = summary_item(0, REFERENCES)
    with pytest.raises(CaresError, match="0 answers to 1 questions"):
        judge(cases([item], [wrote(item, "Talk.")], catalog, 1), Short(), PROMPT, catalog, 12, 8, 1)


def test_a_mention_needs_a_quote() -> None:
    with pytest.raises(ValidationError, match="has a quote"):
        Judged(item_id="i", system="s", sound="dog_bark", kind="pivot", verdict="mentioned")
