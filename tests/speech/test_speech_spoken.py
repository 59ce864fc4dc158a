"""Texts as they are said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cares.speech.hearing import heard_errors, lost_numbers
from cares.speech.spoken import UnspeakableError, has_words, spoken_text, spoken_words


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("bring 2 bottles.", "bring two bottles."),
        ("at about 11:30, because", "at about eleven thirty, because"),
        ("at 10:05 or 3:00", "at ten oh five or three o'clock"),
        ("7pm, 7:30am", "seven P M, seven thirty A M"),
        ("$180, $1 and $2.50", "one hundred eighty dollars, one dollar and two dollars fifty"),
        ("$5 million!", "five million dollars!"),
        ("Dr. Miller on St. John St. today", "Doctor Miller on Saint John Street today"),
        ("in 1984, 2005, 2019", "in nineteen eighty-four, two thousand five, twenty nineteen"),
        ("the 1990s and 80s", "the nineteen nineties and eighties"),
        ("12,345.6", "twelve thousand three hundred forty-five point six"),
        ("3rd, 21st", "third, twenty-first"),
        ("50% or 5 %", "fifty percent or five percent"),
        ("24/7, 3/4, 1½", "twenty-four seven, three quarters, one and one half"),
        ("555-1234", "five five five, one two three four"),
        ("5-10 people, a 5-year-old", "five to ten people, a five-year-old"),
        ("No. 5 said no.", "number five said no."),
        ("Room 4A", "Room four A"),
        ("“Well” (she said) [loud] *no*", "Well she said loud no"),
        ("what if I - But", "what if I, But"),
        ("don’t—stop", "don't, stop"),
        ("café naïve", "café naïve"),
    ],
)
def test_written_forms_are_said_as_people_say_them(written: str, said: str) -> None:
    assert spoken_text(written) == said


def test_each_written_word_keeps_its_place() -> None:
    assert spoken_words("It was $180 - twice") == (
        ("It",),
        ("was",),
        ("one", "hundred", "eighty", "dollars,"),
        (),
        ("twice",),
    )


@pytest.mark.parametrize("text", ["nice \N{GRINNING FACE}", "привет", "日本", "a → b", "π"])
def test_what_no_english_voice_can_say_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(UnspeakableError, match=r"U\+[0-9A-F]{4,}"):
        spoken_text(text)


@pytest.mark.parametrize("text", ["", " ", "...", "?!", "- —", "()"])
def test_punctuation_alone_has_no_words(text: str) -> None:
    assert not has_words(text)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60))
def test_any_ascii_text_is_said_word_for_word_without_digits_or_brackets(text: str) -> None:
    said = spoken_words(text)
    assert len(said) == len(text.split())
    joined = spoken_text(text)
    assert not any(character.isdigit() or character in '()[]{}<>"' for character in joined)
    assert all(word == word.strip() and word for words in said for word in words)


@given(st.integers(0, 10**12))
def test_every_whole_number_has_words(number: int) -> None:
    assert has_words(str(number))
    assert spoken_text(f"{number:,}").replace("-", " ").replace(" ", "").isalpha()


@pytest.mark.parametrize(
    ("wanted", "heard", "lost"),
    [
        ("It was one hundred eighty dollars", "It was $180.", []),
        ("It was one hundred eighty dollars", "It was 8 dollars", ["180"]),
        ("at about eleven thirty, because", "at about 11:30 because", []),
        ("Two of us are for it", "To of us are four it", []),
        ("in nineteen eighty-four", "in", ["1984"]),
        ("call five five five, one two three four", "call 555-1234", []),
    ],
)
def test_a_number_that_is_not_heard_is_found(wanted: str, heard: str, lost: list[str]) -> None:
    assert lost_numbers(wanted.split(), heard) == lost


def test_what_is_heard_in_numerals_is_compared_as_said() -> None:
    assert heard_errors(["at", "eleven", "thirty", "I", "paid", "twenty", "dollars"], "At 11:30, I paid $20.").rate == 0
    assert heard_errors(["yes"], "\N{EIGHTH NOTE} yes").rate <= 1
