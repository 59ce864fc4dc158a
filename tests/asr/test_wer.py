"""Word error rate after normalising."""

from __future__ import annotations

import pytest

from cares.asr.wer import WordErrors, normalised, word_error_rate, word_errors


@pytest.mark.parametrize(
    ("reference", "heard"),
    [
        ("Don't wait, Martha!", "don't wait martha"),
        ("It costs twenty dollars.", "It costs $20"),
        ("The colour is gray - really.", "the color is gray really"),
        ("", ""),
        ("...", ""),
    ],
)
def test_what_only_looks_different_is_no_error(reference: str, heard: str) -> None:
    assert word_error_rate(reference, heard) == 0


def test_kinds_of_errors_are_counted() -> None:
    errors = word_errors("please close the gate now", "please close that gate")
    assert (errors.n_reference, errors.substitutions, errors.deletions, errors.insertions) == (5, 1, 1, 0)
    assert errors.rate == pytest.approx(2 / 5)
    assert word_errors("close the gate", "close the open gate").insertions == 1


def test_nothing_heard_and_too_much_heard() -> None:
    assert word_error_rate("one word more", "") == 1
    assert word_error_rate("go", "go go go go") == 3
    assert word_error_rate("", "thanks for watching") == 3


def test_counts_add_up() -> None:
    total = word_errors("the gate is open", "the gate is open") + word_errors("close it", "close")
    assert total == WordErrors(n_reference=6, substitutions=0, deletions=1, insertions=0)
    assert total.rate == pytest.approx(1 / 6)


def test_normalising_twice_changes_nothing() -> None:
    text = normalised("Well, Mr. O'Neill paid twenty-one pounds; I'm SURE.")
    assert normalised(text) == text
