"""Texts from outside (servers, models, pulled files) made fit for a terminal and for tables."""

from __future__ import annotations

import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def plain(text: str) -> str:
    """A text as one line that shows what it holds: unseen characters become "?", white space one blank.

    An escape sequence could otherwise rewrite what the terminal shows.
    """
    return "".join(_seen(letter) for letter in " ".join(text.split()))


def plain_lines(text: str) -> str:
    """A text of several lines, of which each keeps its blanks and shows what it holds."""
    return "\n".join("".join(_seen(letter) for letter in line) for line in text.split("\n"))


def no_formula(text: str) -> str:
    """A cell of a CSV file that no spreadsheet takes for a formula (OWASP, "CSV Injection")."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _seen(letter: str) -> str:
    return "?" if unicodedata.category(letter) in _UNSEEN else letter
