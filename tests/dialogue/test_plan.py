"""The plan of a dialogue, its schema, and what becomes of an answer."""

import json
import re

import jsonschema
import pytest
from dialogue_world import CATALOG, PARAMS, good_answer, scene
from hypothesis import given
from hypothesis import strategies as st

from cares.core.errors import InputError
from cares.core.rng import KeyedRandom
from cares.dialogue.breaks import broken_turn, run_on_turn
from cares.dialogue.lint import spoken_line
from cares.dialogue.plan import load_moves, plan_turns
from cares.dialogue.skeleton import SkeletonFault, read_answer, realise, schema

MOVES = load_moves()
ALL = scene(("doorbell_chime", "pivot"), ("kettle_whistle", "behavioral"), ("vacuum_cleaner", "verbal"), n_turns=11)


def planned(which, attempt=0):
    return plan_turns(which, CATALOG, MOVES, 1, attempt)


def realised(which, answer=None):
    plans = planned(which)
    lines = read_answer(json.dumps(answer or good_answer(plans)), plans, PARAMS)
    return realise(lines, plans, which, KeyedRandom(1, "t"))


def test_speakers_alternate_and_a_pivot_holds_three_turns():
    plans = planned(ALL)
    assert [plan.speaker for plan in plans] == list("ABABABABABA")
    assert [plan.sound for plan in plans[1:4]] == ["doorbell_chime"] * 3
    assert [plan.kind for plan in plans][1:8] == ["pivot", "stay", "stay", "behavioral", "plain", "plain", "verbal"]


def test_a_pivot_without_room_is_refused():
    with pytest.raises(InputError, match="slot"):
        planned(scene(("doorbell_chime", "ambient"), ("kettle_whistle", "pivot"), n_turns=6))


def test_cues_vary_with_the_attempt_and_tell_no_silent_label():
    assert planned(ALL, 0) != planned(ALL, 1)
    quiet = planned(scene(("doorbell_chime", "ambient")))[1]
    broken = planned(scene(("doorbell_chime", "behavioral")))[1]
    assert quiet.cue == broken.cue, "the writer must not know that a sentence will break"


def test_every_good_answer_matches_the_schema_and_no_other():
    plans = planned(ALL)
    rule = schema(plans, CATALOG, PARAMS)
    jsonschema.validate(good_answer(plans), rule)
    for change in ({"who": "A, does something else"}, {"says": "no capital."}, {"says": "No end"}, {"more": "x"}):
        bad = good_answer(plans)
        bad[0] |= change
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, rule)


def test_a_name_stands_as_a_word_of_its_own():
    plans = planned(ALL)
    rule = schema(plans, CATALOG, PARAMS)["prefixItems"][7]["properties"]["remark"]["pattern"]
    opener = plans[7].openers[0]
    assert re.search(rule, f"{opener} vacuum cleaner is loud.")
    assert not re.search(rule, f"{opener}vacuum cleaner is loud.")
    assert not re.search(rule, f"{opener} vacuumloud.")


def test_sounds_fall_where_the_slots_say():
    turns = realised(ALL)
    where = {
        s.event: (n, k) for n, turn in enumerate(turns) for k, s in enumerate(turn.segments) if s.event is not None
    }
    assert where == {0: (1, 1), 1: (4, 1), 2: (7, 1)}
    assert [s.delivery for s in turns[4].segments] == ["cut", "plain", "plain"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "broken_json"),
        ("[", "broken_json"),
        ("{}", "wrong_turns"),
        ("[]", "wrong_turns"),
        (json.dumps([{}] * 11), "wrong_turn"),
        ("I'm sorry, I can't help with that.", "broken_json"),
    ],
)
def test_an_answer_that_is_no_skeleton_is_refused_by_name(text, reason):
    with pytest.raises(SkeletonFault) as caught:
        read_answer(text, planned(ALL), PARAMS)
    assert caught.value.reason == reason


def test_a_sentence_that_its_limit_cut_is_left_out():
    plans = planned(ALL)
    answer = good_answer(plans)
    whole = "This one is whole and may stay."
    answer[0]["says"] = f"{whole} {'and so on ' * 20}"[:149] + "."
    assert read_answer(json.dumps(answer), plans, PARAMS)[0]["says"] == whole


def test_an_empty_line_and_a_line_cut_by_its_limit_are_refused():
    plans = planned(ALL)
    for text, reason in ((" ", "empty_text"), ("X" * 149 + ".", "cut_text")):
        answer = good_answer(plans)
        answer[0]["says"] = text
        with pytest.raises(SkeletonFault) as caught:
            read_answer(json.dumps(answer), plans, PARAMS)
        assert caught.value.reason == reason


SENTENCE = "Fine. Then we should get the metal one, not the cheap wood again."


@pytest.mark.parametrize("register", ["break_restart", "break_lost_thread", "break_hesitation"])
@given(key=st.integers(min_value=0, max_value=200))
def test_a_break_resumes_the_sentence_that_it_left(register, key):
    cut, sound, after = broken_turn(SENTENCE, register, 2, KeyedRandom(1, "b", key))
    assert (cut.delivery, sound.event) == ("cut", 2)
    assert cut.spoken_as == SENTENCE
    assert SENTENCE.startswith(cut.text) and not cut.text.endswith((".", ","))
    assert after.text.endswith(SENTENCE.split(". ")[1][-30:])
    if register == "break_restart":
        assert after.text == "Then we should get the metal one, not the cheap wood again."


def test_a_short_line_cannot_break():
    assert broken_turn("Only five words are here.", "break_restart", 0, KeyedRandom(1, "b")) is None
    with pytest.raises(ValueError, match="register"):
        broken_turn(SENTENCE, "verbal_dry", 0, KeyedRandom(1, "b"))


@given(key=st.integers(min_value=0, max_value=200))
def test_an_ambient_sound_falls_between_two_words_and_changes_none(key):
    before, sound, after = run_on_turn(SENTENCE, 1, KeyedRandom(1, "r", key))
    assert f"{before.text} {after.text}" == SENTENCE
    assert (sound.event, after.delivery) == (1, "joined")
    assert before.text.split()[-1].lower() not in ("the", "a", "not the")


def test_the_spoken_line_leaves_the_sound_out():
    assert (
        spoken_line(realised(scene(("doorbell_chime", "ambient")))[1])
        == good_answer(planned(scene(("doorbell_chime", "ambient"))))[1]["says"]
    )
