"""The words and sentences of data/cues.yaml, and how a text is searched for them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from cares.core.params import read_yaml
from cares.core.record import Record

CUES = Path(__file__).parent / "data" / "cues.yaml"
_WORD = re.compile(r"[\w']+")
_SENTENCE_END = re.compile(r"(?<=[.?!…])[\"'”]?\s+")


class Cues(Record):
    """Phrases are lower-case words between single spaces; `meanings` are sentences for the encoder, by feature."""

    hesitations: tuple[str, ...]
    openers: tuple[str, ...]
    joining: tuple[str, ...]
    repairs: tuple[str, ...]
    noticing: tuple[str, ...]
    exclaiming: tuple[str, ...]
    meanings: dict[str, tuple[str, ...]]

    @property
    def fillers(self) -> tuple[str, ...]:
        """Hesitations and openers: what stands between a break and the words said again."""
        return self.hesitations + self.openers


@cache
def load_cues() -> Cues:
    """The cues that come with the package; InputError when the file is not as it should be."""
    return Cues.parse(read_yaml(CUES), CUES)


def words_of(text: str) -> list[str]:
    """Lower-case words; an apostrophe belongs to its word, and is made straight."""
    return _WORD.findall(text.lower().replace("’", "'"))


def sentences_of(text: str) -> list[str]:
    """Sentences, split after . ? ! and …; what follows the last mark is a sentence of its own."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def counts(text: str, phrases: tuple[str, ...]) -> int:
    """How many of the phrases occur in the text as whole words, punctuation aside."""
    line = f" {' '.join(words_of(text))} "
    return sum(f" {phrase} " in line for phrase in phrases)


def is_unfinished(text: str) -> bool:
    """Whether a text ends without the mark of a finished sentence: nothing, a comma, a dash or an ellipsis."""
    end = text.rstrip("\"'” ")
    return bool(end) and (end.endswith(("...", "…")) or end[-1] not in ".?!")
