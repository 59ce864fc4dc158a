"""Texts from outside (servers, result folders) made fit for a terminal and for tables."""

from __future__ import annotations

import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def plain(text: str) -> str:
    """A text as one line that shows what it holds: unseen characters become "?", white space one blank.

    An escape sequence could otherwise rewrite what the terminal shows.
    """
    return "".join("?" if unicodedata.category(letter) in _UNSEEN else letter for letter in " ".join(text.split()))


def no_formula(text: str) -> str:
    """A cell of a CSV file that no spreadsheet takes for a formula (OWASP, "CSV Injection")."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
