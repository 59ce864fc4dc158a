"""Each check of the lint fires on its fault, by name, and a clean dialogue passes."""

import pytest
from dialogue_world import CATALOG, good_lines, scene

from cares.core.rng import KeyedRandom
from cares.dialogue.lint import faults, pronounceable, text_fault
from cares.dialogue.plan import Planner
from cares.dialogue.realise import realise

SCENE = scene(("doorbell_chime", "verbal"), ("kettle_whistle", "behavioral"), ("vacuum_cleaner", "ambient"), n_turns=10)
EXAMPLE = ["Saturday's empty on the plan, and guess whose name they'll put there."]


NAMES = {"A": "Rita", "B": "Carl"}


def reason(change, which=SCENE):
    """The first fault of good lines after `change` (a dict turn -> fields), or None."""
    plans = Planner(CATALOG, 1).plan(which, 0)
    lines = good_lines(plans)
    for turn, fields in change.items():
        lines[turn] |= fields
    turns = realise(lines, plans, which, [KeyedRandom(1, "t", turn) for turn in range(len(plans))])
    fault = next(faults(turns, which, CATALOG, EXAMPLE, NAMES), None)
    if fault and change:
        assert fault.turn in change, "the turn to blame is the one that was changed"
    return fault.reason if fault else None


def test_a_clean_dialogue_passes():
    assert reason({}) is None


@pytest.mark.parametrize(
    ("turn", "text", "named"),
    [
        (0, "Yes.", "length_of_turn"),
        (0, "Please ask [NAME] about the letter, would you.", "placeholder"),
        (0, "A suggests that they write a letter to the owner.", "narration"),
        (0, "A goes back to the house and thinks about it.", "narration"),
        (0, "Carl, takes the other half of the letter.", "narration"),
        (0, "Rita has to write to the owner again.", "narration"),
        (0, "Could you please provide the letter of the owner?", "assistant_phrase"),
        (0, "Is there anything else I can do for you today?", "assistant_phrase"),
        (0, "I can help with that.", "assistant_phrase"),
        (0, "You have a bad connection, say that again, please.", "phone_call"),
        (0, "We went to the Mrkvptz house on the hill.", "unpronounceable"),
        (0, "We have to go and see about the", "cut_text"),
        (0, "We could do that when we are there, but not s.", "cut_text"),
        (0, "Well well well, that is what you always say to me.", "stutter"),
        (3, "The rent goes up again in March, and nobody told us why.", "repeated_line"),
        (3, "I heard that nobody told us why before, did you?", None),
        (3, "I heard the rent goes up again in March, did you?", "repeated_phrase"),
        (3, "It was different then. It was different then, was it not?", "repeated_phrase"),
        (3, "It was different then. It was different then.", "repeated_line"),
        (3, "The top is gone and the lid too, and the top is gone and so am I.", "repeated_phrase"),
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


def test_a_name_of_the_example_is_no_name_for_a_dialogue():
    assert reason({0: {"says": "We should ask Teresa about the letter."}}) is None
    EXAMPLE.append("Not mine, ask Teresa.")
    try:
        assert reason({0: {"says": "We should ask Teresa about the letter."}}) == "copies_example"
    finally:
        EXAMPLE.pop()


def test_a_speaker_may_be_called_by_name():
    assert reason({0: {"says": "Carl, is that the letter from the owner?"}}) is None


def test_a_possessive_ending_is_no_cut_text():
    assert reason({0: {"says": "We could have gone to the Levi's."}}) is None


def test_a_remark_without_the_sound_is_refused():
    assert reason({1: {"remark": "Lovely, the usual."}}) == "no_reference"


@pytest.mark.parametrize(
    "word",
    [
        "don't", "hmm", "Mrs.", "21st", "3pm", "1,200", "rhythm", "strengths", "A", "GPS,", "TVs.", "20-year-old", "A4",
        "M25.", "length-three", "10:30am",
    ],
)  # fmt: skip
def test_words_that_can_be_said(word):
    assert pronounceable(word)


@pytest.mark.parametrize("word", ["xkcd", "aaargh", "b4ckup", "bcdfghj", "half-xkcd", "a4"])
def test_words_that_cannot_be_said(word):
    assert not pronounceable(word)


@pytest.mark.parametrize(
    "line",
    [
        "A bus is coming.",
        "A glass of water, please.",
        "A less expensive one would do.",
        "A few years later it was plan B.",
        "Then plan B is all we have.",
        "The man is a 20-year-old who drives on the M25.",
        "So let's call the shop and ask.",
        "I need to call the police, and you should call mother.",
        "Why don't you call the landlord?",
        "They said they would call me, but I think the landlord will call you.",
        "You can call me Ann, or call me crazy if you like.",
        "Nobody may call you a liar, and I would call you a genius.",
        "It cost 1,200 in 2019 and 300 more in 2021, at 10.30.",
        "One, two, three, and up with it.",
        "Is there anything else in that box?",
        "I'll help you with that box.",
    ],
)
def test_plain_speech_passes(line):
    assert text_fault(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "If you want to call me later, write to me first.",
        "My number is 555-1234.",
        "It is 5551234, or so.",
        "Try 020 7946 0958 in the morning.",
        "Try 0171 123456 in the morning.",
        "It is five, five, five, one, two, three, four.",
        "I need to call you right now.",
        "I'll call you tonight.",
        "Let me call you about it.",
        "Why don't you call now?",
        "Just call me when it is done.",
    ],
)
def test_the_two_are_not_on_the_phone(line):
    assert text_fault(line)[0] == "phone_call"


@pytest.mark.parametrize(
    "line",
    ["I can help you with that.", "I apologize for the trouble.", "I apologise.", "Is there anything else?",
     "Is there anything else you need today?", "Is there anything I can do?"],
)  # fmt: skip
def test_nobody_talks_like_an_assistant(line):
    assert text_fault(line)[0] == "assistant_phrase"


@pytest.mark.parametrize(
    "line",
    ["A looks at the letter.", "Now B, who has the letter, is sure.", "B, I have the letter.", "A's letter is here.",
     "So A was late again."],
)  # fmt: skip
def test_nobody_is_told_of(line):
    assert text_fault(line)[0] == "narration"
