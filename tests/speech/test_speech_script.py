"""Which utterances a dialogue makes."""

from __future__ import annotations

import pytest
from speech_world import DATA, dialogue

from cares.core.record import read_records
from cares.records.dialogue import Dialogue
from cares.speech.script import ScriptError, script

EVENT = {"event": 0}


def say(text: str) -> dict[str, object]:
    return {"text": text}


def test_a_sound_parts_two_utterances_but_not_a_joined_one() -> None:
    lines = script(
        dialogue(
            [say("One two."), EVENT, say("Three.")],
            [say("Four five"), EVENT, {"text": "six seven.", "delivery": "joined"}],
        )
    )
    assert [line.text for line in lines] == ["One two.", "Three.", "Four five six seven."]
    assert [[(s.segment, s.n_words) for s in line.segments] for line in lines] == [[(0, 2)], [(2, 1)], [(0, 2), (2, 2)]]
    assert [line.speaker for line in lines] == ["A", "A", "B"]


def test_a_cut_line_says_more_than_is_heard() -> None:
    cut = {"text": "It was $20 and", "delivery": "cut", "spoken_as": "It was $20 and a bit more."}
    line = script(dialogue([cut, EVENT, say("Sorry.")]))[0]
    assert line.cut
    assert line.heard == ("It", "was", "twenty", "dollars", "and")
    assert line.aloud[len(line.heard) :] == ("a", "bit", "more.")


def test_punctuation_may_differ_where_a_sentence_is_cut() -> None:
    cut = {"text": "We could go, I -", "delivery": "cut", "spoken_as": "We could go, I think so."}
    assert script(dialogue([cut]))[0].heard[-1] == "I"


@pytest.mark.parametrize(
    ("segment", "reason"),
    [
        (say("..."), "nothing_to_say"),
        (say(" "), "nothing_to_say"),
        (say("I love it \N{SMILING FACE WITH OPEN MOUTH}"), "unspeakable"),
        (say("привет"), "unspeakable"),
        ({"text": "Not this", "delivery": "cut", "spoken_as": "But that one is longer."}, "bad_cut"),
        ({"text": "All of it", "delivery": "cut", "spoken_as": "All of it."}, "bad_cut"),
        ({"text": "and more", "delivery": "joined"}, "bad_join"),
    ],
)
def test_what_cannot_be_spoken_has_a_named_reason(segment: dict[str, object], reason: str) -> None:
    with pytest.raises(ScriptError, match=f"^{reason}: turn 1, segment 0") as error:
        script(dialogue([say("Well.")], [segment]))
    assert error.value.reason == reason


def test_a_cut_line_cannot_be_continued() -> None:
    cut = {"text": "It was", "delivery": "cut", "spoken_as": "It was late."}
    with pytest.raises(ScriptError, match=r"^bad_join: turn 0, segment 2"):
        script(dialogue([cut, EVENT, {"text": "late.", "delivery": "joined"}]))


def test_a_dialogue_without_words_is_refused() -> None:
    with pytest.raises(ScriptError, match="nothing_to_say"):
        script(dialogue([EVENT]))


def test_the_small_dialogues_have_all_four_kinds_of_turns() -> None:
    lines = [line for one in read_records(Dialogue, DATA / "dialogues_small.jsonl") for line in script(one)]
    assert sum(line.cut for line in lines) == 2
    assert sum(len(line.segments) == 2 for line in lines) == 2
    assert len(lines) == 25
