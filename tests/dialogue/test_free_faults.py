"""Faults of models behind a server, from the wire to the record: an attempt is lost, its reason kept, the next counts.

The writers are asked through a server on loopback that answers as the test says.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dialogue_world import CATALOG, PARAMS, scene
from fixed_judge import LabelJudge
from test_free import GOOD, SCENE

from cares.core.store import ItemStore
from cares.dialogue.acceptance import accept_dialogues
from cares.dialogue.free import make_writer
from cares.llm.params import LlmParams
from cares.llm.probe import ANSWERED, ANSWERS, GREETS
from cares.llm.waves import StoredWaves
from cares.records.dialogue import Topic
from tests.llm.conftest import answer, served

__all__ = ["served"]

PROMPTS = Path(__file__).parents[2] / "prompts"
ONE = {"group_scenes": 1, "candidates": 1, "waves": 2, "repairs": 0}
KEPT = json.dumps({GREETS: "Good morning, how are you?", ANSWERED: ANSWERS[0]})
GERMAN = "A: Die Miete steigt im Maerz schon wieder, und niemand weiss warum.\nB: Hast du Selma danach gefragt?\n"


def write(url, kind, of, monkeypatch, tmp_path):
    monkeypatch.setenv("CARES_LLM_URL", url)
    params = PARAMS.model_copy(update=ONE | {"writer": kind})
    topics = [Topic(scene_id=of.scene_id, attempt=0, topic="why the rent went up")]
    judge = LabelJudge({event.sound: event.reaction for event in of.events})
    with StoredWaves("toy", LlmParams(), ItemStore("llm", tmp_path)) as model:
        return accept_dialogues([of], topics, make_writer(CATALOG, params, 1, PROMPTS), model, judge, params)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (answer(""), "empty_answer"),
        (answer("I'm sorry, but I can't help with that."), "refusal"),
        (answer(GOOD.splitlines()[0] + "\nB: Yes.\nA: No." * 200, "length"), "endless_repetition"),
        (answer(GOOD[:300], "length"), "too_long"),
        (answer(GOOD.rsplit("B: Deal", 1)[0]), "wrong_turns"),
        (answer(GOOD.replace("Friday. [SOUND: dog_bark] Wow", "Fri[SOUND: dog_bark]day. Wow")), "marker_in_word"),
        (answer(GERMAN), "other_language"),
        ((400, {}, b'{"error": {"message": "context length exceeded"}}'), "request_failed"),
        (answer("", "content_filter"), "request_failed"),
        ((200, {}, b'{"choices": [{"finish_reason": "stop"}]}'), "request_failed"),
    ],
)
def test_a_bad_answer_to_the_free_writer_costs_one_attempt(served, reply, reason, monkeypatch, tmp_path):
    served.script = lambda number, body: reply if number == 1 else answer(GOOD)
    outcome = write(served.url, "free", SCENE, monkeypatch, tmp_path)
    assert [attempt.reason for attempt in outcome.attempts] == [reason, "accepted"]
    assert [dialogue.scene_id for dialogue in outcome.accepted] == [SCENE.scene_id] and outcome.refused == ()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (answer('{"1 Rita, as'), "broken_json"),
        (answer(""), "empty_answer"),
        (answer("I'm sorry, but I can't help with that."), "broken_json"),
        (answer("[]"), "wrong_turns"),
        (answer('{"1 Rita, as', "length"), "too_long"),
    ],
)
def test_a_bad_answer_to_the_skeleton_writer_has_its_reason(
    served,
    reply,
    reason,
    monkeypatch,
    tmp_path,
):
    # the first request is the small question whether schemas are kept
    served.script = lambda number, body: (answer(KEPT), reply, answer("{}"))[number - 1]
    outcome = write(served.url, "skeleton", scene(("doorbell_chime", "behavioral"), n_turns=8), monkeypatch, tmp_path)
    assert [attempt.reason for attempt in outcome.attempts] == [reason, "wrong_turns"]


def test_a_writer_that_never_keeps_to_the_form_leaves_a_reported_scene(served, monkeypatch, tmp_path):
    served.script = lambda number, body: answer("Certainly! Here is a dialogue.")
    outcome = write(served.url, "free", SCENE, monkeypatch, tmp_path)
    assert outcome.accepted == () and outcome.refused == (SCENE.scene_id,)
    assert [attempt.reason for attempt in outcome.attempts] == ["narration", "narration"]
