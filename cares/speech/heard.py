"""What of a text was heard: where the words differ, told apart by what an engine does wrong.

Words are compared as `cares.asr.wer` normalises them. An engine that says a phrase twice, goes on after the text, or
stops before its end makes only a few word errors in a long sentence; each is looked for by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from cares.asr.wer import normalised
from cares.speech.hearing import as_said

PHRASE_WORDS = 3


class Differences(NamedTuple):
    """Of one utterance.

    Attributes:
        repeated: the longest phrase that is heard more often than it is written; words joined by spaces, or "".
        words_after: words that are heard behind the text's last word.
        end_lost, start_lost: how many of the text's last and of its first words are not heard.
    """

    repeated: str
    words_after: int
    end_lost: int
    start_lost: int


def differences(wanted: Sequence[str], heard: str) -> Differences:
    """Compare spoken words with a recogniser's text."""
    import jiwer

    reference, found = normalised(" ".join(wanted)).split(), normalised(as_said(heard)).split()
    if not reference or not found:
        return Differences("", len(found), len(reference), len(reference))
    chunks = jiwer.process_words(" ".join(reference), " ".join(found)).alignments[0]
    first, last = chunks[0], chunks[-1]
    return Differences(
        repeated=repeated_phrase(reference, found),
        words_after=last.hyp_end_idx - last.hyp_start_idx if last.type == "insert" else 0,
        end_lost=last.ref_end_idx - last.ref_start_idx if last.type == "delete" else 0,
        start_lost=first.ref_end_idx - first.ref_start_idx if first.type == "delete" else 0,
    )


def repeated_phrase(reference: Sequence[str], found: Sequence[str]) -> str:
    """The longest phrase of `found` that it holds more often than `reference`, and at least twice; "" if there is none.

    Of three words or more anywhere, of two where they follow each other at once, of one where it is the whole text.
    """
    for size in range(len(found) // 2, PHRASE_WORDS - 1, -1):
        written, counts = _phrases(reference, size), _phrases(found, size)
        for phrase, count in counts.items():
            if count > max(1, written[phrase]):
                return " ".join(phrase)
    pairs = {tuple(reference[at : at + 4]) for at in range(len(reference) - 3)}
    for at in range(len(found) - 3):
        four = tuple(found[at : at + 4])
        if four[:2] == four[2:] and four not in pairs:
            return " ".join(four[:2])
    if len(reference) == 1 and len(found) > 1 and set(found) == set(reference):
        return found[0]
    return ""


def _phrases(words: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + size]) for at in range(len(words) - size + 1))
