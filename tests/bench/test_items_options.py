"""Options: distractors that are as often answers, positions, locations that sound alike."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cares.bench.options import Distractors, Placed, answer_positions, read_confusable_locations
from cares.catalog.catalog import Catalog
from cares.core.errors import InputError
from cares.core.rng import KeyedRandom

NAMES = [f"s{number:02d}" for number in range(30)]


def nothing(name: str) -> frozenset[str]:
    return frozenset()


def test_what_is_often_an_answer_is_as_often_a_distractor() -> None:
    draw, answers, wrong = Distractors("test", 1, nothing), Counter[str](), Counter[str]()
    for number in range(3000):
        # some sounds are ten times as frequent as others, and s29 never occurs
        random = KeyedRandom(1, "answer", number)
        answer = NAMES[random.below(random.between(3, 29))]
        answers[answer] += 1
        wrong.update(draw.draw(f"item{number}", answer, NAMES))
    assert min(answers.values()) * 10 < max(answers.values())
    for name in NAMES:
        assert abs(wrong[name] - 3 * answers[name]) <= 12, name


def test_distractors_do_not_depend_on_later_questions() -> None:
    def drawn(answers: list[str]) -> list[tuple[str, ...]]:
        draw = Distractors("test", 1, nothing)
        return [draw.draw(f"item{number}", answer, NAMES) for number, answer in enumerate(answers)]

    assert drawn([*NAMES, *NAMES])[: len(NAMES)] == drawn(NAMES)


def test_three_that_fit_are_found_where_the_first_ones_do_not() -> None:
    # "a" and "b" are like all others but one; only c, d, e go together
    pairs = {"a": "cde", "b": "cde", "c": "ab", "d": "ab", "e": "ab"}
    for seed in range(50):
        draw = Distractors("test", seed, lambda name: set(pairs.get(name, "")))
        assert sorted(draw.draw("item", "x", "abcde")) == ["c", "d", "e"]


def test_too_few_distractors_are_an_error_that_names_the_question() -> None:
    draw = Distractors("sound", 1, lambda name: {"d"} if name == "p" else set())
    with pytest.raises(InputError, match=r"sound of t00001-0/2: got 'a', expected 3 options beside it"):
        draw.draw("t00001-0/2", "a", "abcdp", present={"p"})


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["train", "test"]), st.sampled_from("abcde")), max_size=60),
    st.sampled_from([2, 4]),
    st.integers(0, 3),
)
def test_positions_are_even_in_each_split_and_for_each_label(
    drawn: list[tuple[str, str]], n_choices: int, seed: int
) -> None:
    placed = [Placed(f"i{number}", split, label) for number, (split, label) in enumerate(drawn)]
    at = answer_positions(placed, n_choices, "test", seed)
    assert at.keys() == {item.item_id for item in placed}
    for split in ("train", "test"):
        for label in (*"abcde", None):
            found = [at[one.item_id] for one in placed if one.split == split and label in (one.label, None)]
            counts = [found.count(place) for place in range(n_choices)]
            assert max(counts) - min(counts) <= 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=60), st.sampled_from([2, 4]))
def test_positions_of_an_added_batch_change_none_before_it(drawn: list[tuple[str, int]], n_choices: int) -> None:
    placed = [Placed(f"i{number}", "train", label, added) for number, (label, added) in enumerate(drawn)]
    at = answer_positions(placed, n_choices, "test", 1)
    for last in range(4):
        before = [item for item in placed if item.added <= last]
        assert answer_positions(before, n_choices, "test", 1) == {item.item_id: at[item.item_id] for item in before}
    for label in "abc":
        counts = Counter(dict.fromkeys(range(n_choices), 0))
        counts.update(at[item.item_id] for item in placed if item.label == label)
        assert max(counts.values()) - min(counts.values()) <= 1


def test_locations_that_sound_alike_are_known_both_ways_and_leave_four_apart(catalog: Catalog) -> None:
    alike = read_confusable_locations(catalog.locations)
    assert "nighttime_nature" in alike["rural"] and "rural" in alike["nighttime_nature"]
    assert all(name not in others for name, others in alike.items())
    for name in catalog.locations:
        draw = Distractors("location", 1, alike.__getitem__)
        assert len(set(draw.draw("t00000-0", name, catalog.locations))) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("beach: car", "expected a list of groups"),
        ("- [beach]", "group 1: .*at least two different locations"),
        ("- [beach, beach]", "group 1: .*at least two different locations"),
        ("- [beach, car]\n- [beach, moon]", "group 2: got 'moon', expected the id of a location"),
        ("- beach", "group 1"),
    ],
)
def test_a_wrong_list_of_locations_is_an_error(catalog: Catalog, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "confusable_locations.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_confusable_locations(catalog.locations, path)
