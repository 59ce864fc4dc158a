"""Every register of a break has its own form, and what it adds stays within its bounds."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from dialogue_world import CATALOG, scene
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cares.core.rng import KeyedRandom
from cares.dialogue.breaks import (
    OVERLAP_MS,
    PAUSE_MS,
    NoPlaceError,
    broken_turns,
    rebroken,
    split_sentences,
    turns_of,
)
from cares.dialogue.cues import load_cues, words_of
from cares.dialogue.lint import faults
from cares.dialogue.marked import Heard, Said, around, from_turns
from cares.records.dialogue import Segment, Turn, planned_turns
from cares.records.scene import Scene

SENTENCE = "Fine. Then we should get the metal one, not the cheap wood again."
WHOLE = SENTENCE.split(". ", 1)[1]
REGISTERS = [name for name, register in CATALOG.registers.items() if register.reaction == "behavioral"]
KEYS = st.integers(min_value=0, max_value=300)
VOCABULARY = ("we", "they", "should", "would", "get", "take", "the", "a", "metal", "one,", "gate", "again,", "soon")
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=7, max_size=20)


def parts_of(register: str, key: int, text: str = SENTENCE):
    return broken_turns(text, register, 2, KeyedRandom(1, "b", key))


def words(segments) -> str:
    return " ".join(segment.text for segment in segments if segment.event is None)


def plain(text: str, speaker="B") -> Turn:
    return Turn(speaker=speaker, segments=(Segment(text=text),))


@pytest.mark.parametrize("register", REGISTERS)
@given(key=KEYS)
def test_all_registers_are_the_same_up_to_the_sound(register, key):
    cut, sound, *_ = parts_of(register, key)[0]
    assert (cut.delivery, cut.spoken_as, sound.event) == ("cut", SENTENCE, 2)
    assert SENTENCE.startswith(cut.text) and not cut.text.endswith((".", ","))
    assert cut == parts_of("break_restart", key)[0][0]


@pytest.mark.parametrize("register", REGISTERS)
@given(key=KEYS)
def test_the_sentence_is_said_to_its_end(register, key):
    parts = parts_of(register, key)
    assert len(parts) == (3 if register == "break_interrupted" else 1)
    assert words(parts[-1]).endswith(SENTENCE[-30:])
    if register != "break_hesitation":
        assert words(parts[-1]).endswith(WHOLE)


@given(key=KEYS)
def test_who_searches_pauses_between_two_utterances(key):
    for register in ("break_lost_thread", "break_hesitation"):
        first, resumed = parts_of(register, key)[0][2:]
        assert first.pause_ms == 0
        assert PAUSE_MS[0] <= resumed.pause_ms <= PAUSE_MS[1]
    assert all(segment.pause_ms == 0 for segment in parts_of("break_restart", key)[0])


@given(key=KEYS)
def test_repeated_words_are_those_that_were_cut(key):
    cut, _, filler, resumed = parts_of("break_hesitation", key)[0]
    again = " ".join(cut.text.split()[-2:])
    assert resumed.text.startswith(again)
    if filler.delivery == "cut":
        assert filler.text.endswith(f", {again}") and filler.spoken_as.endswith(resumed.text)
    else:
        assert filler.text.endswith(",")


def test_a_filler_has_a_word_that_a_recogniser_can_hear():
    hesitations = set(load_cues().hesitations)
    for key in range(200):
        assert set(words_of(parts_of("break_hesitation", key)[0][2].text)) - hesitations


@given(key=KEYS)
def test_an_interruption_comes_in_over_a_fragment_of_the_same_sentence(key):
    first, second, third = parts_of("break_interrupted", key)
    fragment = first[-1]
    assert fragment.delivery == "cut" and WHOLE.startswith(fragment.text + " ") and fragment.spoken_as == WHOLE
    assert 2 <= len(fragment.text.split()) <= 4
    assert OVERLAP_MS[0] <= second[0].overlap_ms <= OVERLAP_MS[1] and len(second) == 1
    assert third == (Segment(text=WHOLE),)


@given(WORDS, KEYS)
def test_any_sentence_is_broken_well_or_refused(said, key):
    text = " ".join(said).capitalize().rstrip(",") + "."
    for register in REGISTERS:
        parts = parts_of(register, key, text)
        if parts is not None:
            turns = turns_of("A", parts)
            assert all(one.speaker != other.speaker for one, other in pairwise(turns))
            assert turns[0].speaker == turns[-1].speaker == "A"
            cuts = [s for turn in turns for s in turn.segments if s.delivery == "cut"]
            assert all(s.spoken_as.startswith(s.text + " ") for s in cuts)
            assert planned_turns([plain("Well.", "B"), *turns, plain("Yes.", "B")]) == [0, *[1] * len(turns), 2]


def test_a_short_line_cannot_break():
    assert broken_turns("Only five words are here.", "break_restart", 0, KeyedRandom(1, "b")) is None
    with pytest.raises(ValueError, match="register"):
        broken_turns(SENTENCE, "verbal_dry", 0, KeyedRandom(1, "b"))


@given(key=KEYS)
def test_nothing_that_a_break_adds_is_a_line_of_five_words(key):
    added = [words(parts_of("break_lost_thread", key)[0][2:]).removesuffix(WHOLE)]
    added.append(words(parts_of("break_interrupted", key)[1]))
    for text in added:
        assert text
        assert max(len(part.split()) for part in re.split(r"(?<=[.?!])", text)) < 5


def test_what_interrupts_is_never_about_a_sound():
    said = {words(parts_of("break_interrupted", key)[1]) for key in range(400)}
    assert len(said) > 30
    assert not [text for text in said for sound in CATALOG.sounds.values() if sound.mention_in(text)]


@pytest.mark.parametrize(
    "segments",
    [
        (Segment(text="One."), Segment(text="Two.", overlap_ms=200)),
        (Segment(text="One.", pause_ms=300),),
        (Segment(text="One."), Segment(event=0), Segment(text="Two.", pause_ms=300)),
    ],
)
def test_pauses_and_overlaps_have_their_place(segments):
    with pytest.raises(ValidationError, match=r"overlap|pause"):
        Turn(speaker="A", segments=segments)


def test_a_sound_has_neither_pause_nor_overlap():
    for fields in ({"event": 1, "pause_ms": 300}, {"event": 1, "overlap_ms": 300}):
        with pytest.raises(ValidationError, match="utterance of its own"):
            Segment(**fields)


def test_segments_of_older_files_have_neither():
    old = Segment.parse({"text": "Yes.", "event": None, "delivery": "plain", "spoken_as": ""}, "accepted.jsonl")
    assert (old.pause_ms, old.overlap_ms) == (0, 0)


def interrupted() -> tuple[Scene, list[Turn]]:
    one = scene(("doorbell_chime", "behavioral"))
    assert one.events[0].slot == 1
    lines = [
        "We still have the old gate in the shed, you know.",
        "",
        "It has hung there since the flood in ninety four.",
        "Then the hinges are the only thing worth keeping.",
        "Sell them to the man with the yellow van.",
        "He pays in plums and I am tired of plums.",
        "Plums keep longer than hinges if you boil them.",
    ]
    turns: list[Turn] = []
    for number, line in enumerate(lines):
        speaker = "AB"[number % 2]
        broken = broken_turns(SENTENCE, "break_interrupted", 0, KeyedRandom(1, "b"))
        turns += [plain(line, speaker)] if line else turns_of(speaker, broken)
    return one, turns


def test_an_interruption_is_no_turn_of_its_own_for_the_lint():
    one, turns = interrupted()
    assert len(turns) == 9 and all(a.speaker != b.speaker for a, b in pairwise(turns))
    assert list(faults(turns, one, CATALOG, ())) == []
    assert planned_turns(turns) == [0, 1, 1, 1, 2, 3, 4, 5, 6]


def test_a_fault_after_an_interruption_names_the_planned_turn():
    one, turns = interrupted()
    turns[5] = plain("Then the hinges [laughs] are the only thing worth keeping.", turns[5].speaker)
    assert [(fault.reason, fault.turn) for fault in faults(turns, one, CATALOG, ())] == [("placeholder", 3)]


def test_what_is_said_after_a_sound_is_read_as_one_whatever_its_pauses():
    turns = turns_of("A", parts_of("break_hesitation", 3))
    pieces = from_turns(turns, ["a", "b", "doorbell_chime"])
    assert [type(piece) for piece in pieces] == [Said, Heard, Said]
    assert around(pieces, 1).after == words(turns[0].segments[2:])


def written(after: str, register: str) -> tuple[Scene, Turn]:
    one = scene(("doorbell_chime", "behavioral"))
    event = one.events[0].model_copy(update={"register_id": register})
    cut = Segment(text="I thought the gate", delivery="cut", spoken_as="I thought the gate was locked.")
    turn = Turn(speaker="B", segments=(cut, Segment(event=0), Segment(text=after)))
    return one.model_copy(update={"events": (event,)}), turn


@pytest.mark.parametrize(
    ("after", "register", "said"),
    [
        ("Um, well, the gate was locked.", "break_hesitation", ["Um, well,", "the gate was locked."]),
        ("Uh... I mean, um, the gate was locked.", "break_hesitation", ["Uh... I mean, um,", "the gate was locked."]),
        (
            "Um... where was I? The gate was locked.",
            "break_lost_thread",
            ["Um... where was I?", "The gate was locked."],
        ),
        ("Um, the gate was locked.", "break_hesitation", ["Um, the gate was locked."]),
        ("Well, the gate was locked.", "break_hesitation", ["Well, the gate was locked."]),
        ("Where was I? The gate was locked.", "break_lost_thread", ["Where was I?", "The gate was locked."]),
        ("The gate was locked.", "break_hesitation", ["The gate was locked."]),
        ("Um, I thought the gate was locked.", "break_restart", ["Um, I thought the gate was locked."]),
    ],
)
def test_a_break_in_words_of_a_model_gets_its_pauses(after, register, said):
    one, turn = written(after, register)
    (made,) = rebroken([turn], one, [KeyedRandom(1, "b")])
    found = made.segments[2:]
    assert [segment.text for segment in found] == said
    assert [segment.pause_ms > 0 for segment in found] == [False, True][: len(said)]


def test_a_break_in_words_of_a_model_is_interrupted():
    one, turn = written("I thought the gate was locked by now.", "break_interrupted")
    draws = [KeyedRandom(1, "b", number) for number in range(3)]
    made = rebroken([plain("Well, go in.", "A"), turn, plain("It was not.", "A")], one, draws)
    assert [t.speaker for t in made] == ["A", "B", "A", "B", "A"]
    assert made[2].interrupts and words(made[3].segments) == "I thought the gate was locked by now."
    short, turn = written("It was.", "break_interrupted")
    with pytest.raises(NoPlaceError, match="It was"):
        rebroken([turn], short, [KeyedRandom(1, "b")])


def test_sentences_are_split_as_they_were():
    assert split_sentences(SENTENCE) == ["Fine.", WHOLE]
