"""Variety of words: the measures against counts by hand, equal sizes, and what is said again across scenes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cares.core.rng import KeyedRandom
from cares.dialogue.diversity import (
    bare_words,
    cut_to,
    dialogue_pieces,
    distinct,
    distinct_at,
    diversity,
    repeated,
    repetition,
    self_bleu,
    text_of,
)
from cares.dialogue.probes import load_probes
from cares.records.dialogue import Dialogue, Segment, Turn

WORDS = st.lists(st.sampled_from("abcdef"), max_size=12).map(tuple)
TEXTS = st.lists(st.lists(WORDS, max_size=4).map(tuple), max_size=5)


def dialogue(*turns, number=0):
    """A dialogue of plain turns; a turn may be a list of segments."""
    return Dialogue(
        scene_id=f"t{number:05d}-0",
        topic="why the rent went up",
        attempt=0,
        writer="w",
        evaluator="e",
        topic_similarity=1.0,
        turns=tuple(
            Turn(speaker="AB"[n % 2], segments=tuple(t) if isinstance(t, list) else (Segment(text=t),))
            for n, t in enumerate(turns)
        ),
    )


def test_words_are_lower_case_without_punctuation():
    assert bare_words("Don’t – you KNOW it's 3 o'clock?") == ("don't", "you", "know", "it's", "3", "o'clock")


def test_distinct_is_counted_within_lines():
    text = (("a", "b", "a"), ("b", "a"))
    assert distinct(text, 1) == 2 / 5
    assert distinct(text, 2) == 2 / 3, "ab, ba, ba; none across the two lines"
    assert distinct(text, 4) is None
    assert distinct((), 1) is None


@given(TEXTS, st.integers(0, 40))
def test_a_cut_has_just_so_many_words(texts, words):
    lines = cut_to(texts, words, KeyedRandom(1, "t"))
    assert sum(map(len, lines)) == min(words, sum(len(line) for text in texts for line in text))


def test_sizes_decide_so_they_are_made_equal():
    long = [(tuple(f"w{i % 50}" for i in range(k, k + 20)),) for k in range(0, 400, 20)]
    short = long[:3]
    assert distinct(short[0], 1) > distinct([line for text in long for line in text], 1)
    assert distinct_at(long, 20, 1, "x") == distinct_at(short, 20, 1, "x") == {1: 1.0, 2: 1.0, 3: 1.0}


def test_self_bleu_tells_the_same_words_from_others():
    same = [(("the", "rent", "goes", "up", "again"),)] * 4
    other = [(tuple(f"{word}{n}" for word in "abcde"),) for n in range(4)]
    assert self_bleu(same, 4, 1, "x") == pytest.approx(100)
    assert self_bleu(other, 4, 1, "x") == 0
    assert self_bleu(other, 5, 1, "x") is None
    assert self_bleu(same[:1], 1, 1, "x") is None
    assert self_bleu([same[0] * 3], 2, 1, "x") is None, "lines of one text are no references for each other"


def test_the_probes_are_the_baseline_of_equal_size():
    texts = ["The rent goes up again in March and nobody told us why."] * 6
    figures = diversity([dialogue(*texts, number=n) for n in range(3)], load_probes(), 1)
    assert figures["words"] == 3 * 6 * 12
    assert figures["accepted"]["distinct_2"] == round(11 / (18 * 11), 4)
    assert figures["ratio"]["distinct_2"] < 0.1
    assert figures["ratio"]["self_bleu"] > 3
    assert figures == diversity([dialogue(*texts, number=n) for n in range(3)], load_probes(), 1)
    probes = figures["probes"]
    assert 0 < probes["distinct_1"] < probes["distinct_2"] < probes["distinct_3"] < 1


def test_nothing_accepted_is_no_figure_and_no_fault():
    figures = diversity([], load_probes(), 1)
    assert figures["words"] == 0 and figures["bleu_lines"] == 0
    assert set(figures["ratio"].values()) == {None}
    assert repetition(repeated([]), 0)["most_frequent_line"] == 0.0


def test_lines_of_five_words_that_several_scenes_hold_are_found():
    sentence = "I see your point about that."
    scenes = [
        dialogue(f"Well. {sentence}", "Not now, please."),
        dialogue(sentence.upper(), sentence),
        dialogue("Not now, please.", "Only here are these five words."),
        dialogue("He said that I see your point about nothing."),
    ]
    found = repeated(scenes)
    assert [(one.kind, one.words, one.scenes) for one in found] == [
        ("5-gram", "i see your point about", 3),
        ("line", "i see your point about that", 2),
    ], "twice in one scene counts once, short lines do not, the line's other 5-gram says nothing new"
    assert repetition(found, 4) == {
        "lines": 1,
        "lines_over_1_percent": 1,
        "most_frequent_line": 0.5,
        "most_frequent_line_scenes": 2,
    }
    assert repetition(found, 400)["lines_over_1_percent"] == 0


def test_a_sound_parts_no_line():
    joined = [Segment(text="The rent goes up"), Segment(event=0), Segment(text="again in March.", delivery="joined")]
    scenes = [dialogue(joined), dialogue("The rent goes up again in March.")]
    assert text_of(dialogue_pieces(scenes[0])) == text_of(dialogue_pieces(scenes[1]))
    assert repeated(scenes)[0].words == "the rent goes up again in march"
