"""Licences under which a recording may be passed on, however they are written."""

from __future__ import annotations

import re

LICENCES = ("CC0-1.0", "CC-BY-3.0", "CC-BY-4.0")
_DEED = re.compile(r"https?://creativecommons\.org/(licenses/by|publicdomain/zero)/(\d\.\d)(?:/(?:deed(?:\.\w+)?)?)?")


def spdx(text: str) -> str | None:
    """The SPDX identifier out of `LICENCES` that a text means: the identifier itself or the address of its deed."""
    text = text.strip()
    if match := _DEED.fullmatch(text):
        text = f"{'CC-BY' if match[1] == 'licenses/by' else 'CC0'}-{match[2]}"
    return text if text in LICENCES else None
