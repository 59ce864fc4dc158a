"""A key must stand in no message, no log and no file, whatever a server says back."""

from __future__ import annotations

import json
from urllib.parse import quote

HIDDEN = "(key)"
# a shorter one is no secret, and such as "EMPTY" may well occur in an honest answer
LEAST = 8


def hide(text: str, key: str | None) -> str:
    """A message without the key, in each form in which it may be quoted: as it is, escaped, or in an address."""
    for form in _forms(key):
        text = text.replace(form, HIDDEN)
    return text


def hide_secret(text: str, key: str | None) -> str:
    """An answer without the key, if that is long enough to be a secret; every other text stays as it is."""
    return hide(text, key) if key and len(key) >= LEAST else text


def _forms(key: str | None) -> list[str]:
    """The longest first, so that no part of one stays behind."""
    if not key:
        return []
    return sorted({key, repr(key)[1:-1], json.dumps(key)[1:-1], quote(key, safe="")}, key=len, reverse=True)
