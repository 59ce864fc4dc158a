"""Word error rate, after Whisper's English normaliser (Radford et al. 2022, appendix C): case, punctuation, numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated

from pydantic import Field

from cares.core.record import Record

Count = Annotated[int, Field(ge=0)]


class WordErrors(Record):
    """Counts of one comparison; counts of several add up to those of all."""

    n_reference: Count
    substitutions: Count
    deletions: Count
    insertions: Count

    @property
    def rate(self) -> float:
        """(substitutions + deletions + insertions) / reference words; an empty reference counts as one word."""
        return (self.substitutions + self.deletions + self.insertions) / max(1, self.n_reference)

    def __add__(self, other: WordErrors) -> WordErrors:
        return WordErrors(
            n_reference=self.n_reference + other.n_reference,
            substitutions=self.substitutions + other.substitutions,
            deletions=self.deletions + other.deletions,
            insertions=self.insertions + other.insertions,
        )


def normalised(text: str) -> str:
    """The text as it is compared: lower case, no punctuation (alone or not), numbers as digits, one spelling."""
    words = _normaliser()(text).split()
    return " ".join(word for word in words if any(letter.isalnum() for letter in word))


def word_errors(reference: str, heard: str) -> WordErrors:
    """Compare what should be heard with what was."""
    import jiwer

    wanted, got = normalised(reference), normalised(heard)
    if not wanted:
        return WordErrors(n_reference=0, substitutions=0, deletions=0, insertions=len(got.split()))
    found = jiwer.process_words(wanted, got)
    return WordErrors(
        n_reference=len(wanted.split()),
        substitutions=found.substitutions,
        deletions=found.deletions,
        insertions=found.insertions,
    )


def word_error_rate(reference: str, heard: str) -> float:
    """Word error rate of one text; 0 when equal after normalising, above 1 when much was invented."""
    return word_errors(reference, heard).rate


@cache
def _normaliser() -> Callable[[str], str]:
    from whisper.normalizers import EnglishTextNormalizer

    normaliser: Callable[[str], str] = EnglishTextNormalizer()
    return normaliser
