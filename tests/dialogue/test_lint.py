"""Each check of the lint fires on its fault, by name, and a clean dialogue passes."""

import json

import pytest
from dialogue_world import CATALOG, PARAMS, good_answer, scene

from cares.core.rng import KeyedRandom
from cares.dialogue.lint import lint, pronounceable
from cares.dialogue.plan import load_moves, plan_turns
from cares.dialogue.skeleton import read_answer, realise

SCENE = scene(("doorbell_chime", "verbal"), ("kettle_whistle", "behavioral"), ("vacuum_cleaner", "ambient"), n_turns=10)
EXAMPLE = ["Saturday's empty on the plan, and guess whose name they'll put there."]


def reason(change, which=SCENE):
    """The lint's reason for a good answer after `change` (a dict turn -> fields), or None."""
    plans = plan_turns(which, CATALOG, load_moves(), 1, 0)
    answer = good_answer(plans)
    for turn, fields in change.items():
        answer[turn] |= fields
    turns = realise(read_answer(json.dumps(answer), plans, PARAMS), plans, which, KeyedRandom(1, "t"))
    fault = lint(turns, which, CATALOG, EXAMPLE)
    return fault.reason if fault else None


def test_a_clean_dialogue_passes():
    assert reason({}) is None


@pytest.mark.parametrize(
    ("turn", "text", "named"),
    [
        (0, "Yes.", "length_of_turn"),
        (0, "Please ask [NAME] about the letter, would you.", "placeholder"),
        (0, "A suggests that they write a letter to the owner.", "narration"),
        (0, "Could you please provide the letter of the owner?", "assistant_phrase"),
        (0, "Is there anything else I can do for you today?", "assistant_phrase"),
        (0, "You have a bad connection, say that again, please.", "phone_call"),
        (0, "We went to the Mrkvptz house on the hill.", "unpronounceable"),
        (0, "We have to go and see about the", "cut_text"),
        (0, "We could do that when we are there, but not s.", "cut_text"),
        (0, "Well well well, that is what you always say to me.", "stutter"),
        (3, "The rent goes up again in March, and nobody told us why.", "repeated_line"),
        (3, "Guess whose name they'll put there this time, Paul.", "copies_example"),
        (3, "I am boiling the kettle for us in a minute.", "unwanted_reference"),
        (9, "Vacuuming can wait until tomorrow, I would say.", "unwanted_reference"),
        (0, "The doorbell must be fixed before they come.", "early_reference"),
        (5, "That doorbell again, who rings at this hour?", "remark_goes_on"),
    ],
)
def test_each_fault_is_named(turn, text, named):
    if not text.endswith((".", "?")):
        text += "."
    assert reason({turn: {"says": text}}) == named


def test_a_possessive_ending_is_no_cut_text():
    assert reason({0: {"says": "We could have gone to the Levi's."}}) is None


def test_a_remark_without_the_sound_is_refused():
    assert reason({1: {"remark": "Lovely, the usual."}}) == "no_reference"


@pytest.mark.parametrize(
    "word", ["don't", "hmm", "Mrs.", "21st", "3pm", "1,200", "rhythm", "strengths", "A", "GPS,", "TVs."]
)
def test_words_that_can_be_said(word):
    assert pronounceable(word)


@pytest.mark.parametrize("word", ["xkcd", "aaargh", "b4ckup", "bcdfghj"])
def test_words_that_cannot_be_said(word):
    assert not pronounceable(word)
