"""Reads CARES items, and the answers to them. Part of an export; needs nothing but the standard library.

Answers are read more strictly than by `cares bench`: only a letter, an option's id or its text counts, alone or after
"answer:", and a letter may be followed by its option. Everything else is unreadable, and so is wrong.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

LETTERS = "ABCD"
_LEAD = re.compile(
    r"\s*(?:(?:the |my )?(?:(?:correct|final|best) )?(?:answer|option)(?: is)?\s*[:=]?\s*)?", re.IGNORECASE
)
_LETTER = re.compile(r"[(\[]?([A-D])(?:[)\]:.,]+\s*(.*)|\s*)", re.DOTALL)


def read_items(path: Path) -> list[dict[str, Any]]:
    """The items of a file, one JSON object a line."""
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def read_choice(text: str, choices: list[str], texts: list[str]) -> str | None:
    """The choice that an answer names, or None."""
    text = text.strip().strip("*`\"'").strip()
    text = text[match.end() :] if (match := _LEAD.match(text)) else text
    text = text.strip().strip("*`\"'").strip()
    for choice, shown in zip(choices, texts, strict=True):
        if _bare(text) in (_bare(choice), _bare(shown)):
            return choice
    match = _LETTER.fullmatch(text)
    if match is None or match[1] not in LETTERS[: len(choices)]:
        return None
    place = LETTERS.index(match[1])
    rest = _bare(match[2] or "")
    return choices[place] if rest in ("", _bare(choices[place]), _bare(texts[place])) else None


def mentions(text: str, sounds: list[dict[str, Any]]) -> list[bool]:
    """Of each sound of a scene, whether a summary names it by one of its word forms."""
    plain = text.lower().replace("\u2019", "'")
    return [
        any(re.search(rf"(?<!\w){_spaced(form)}(?!\w)", plain) is not None for form in sound["word_forms"])
        for sound in sounds
    ]


def _spaced(form: str) -> str:
    return r"[\s-]+".join(re.escape(part) for part in re.split(r"[ -]", form))


def _bare(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
