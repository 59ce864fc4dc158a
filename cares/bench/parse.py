"""From an answer's text to one label, as a fair person would read it; what is not plain is unreadable, never guessed.

A label counts when it is named as a word of its own, by its letter, or by its definition as shown. What is denied ("not
ambient") or left open ("I cannot tell whether it is verbal") is not meant. Exactly one label must be left. A text that
names several is read only if its last line states the answer ("Final answer: B").
"""

from __future__ import annotations

import json
import re
import unicodedata

from cares.records.answer import ParseStatus
from cares.records.item import LETTERS, Item

_FORMS = {
    "pivot": r"pivot(?:s|ed|ing)?",
    "verbal": r"verbal(?:ly)?",
    "behavioral": r"behaviou?ral(?:ly)?",
    "ambient": r"ambient(?:ly)?",
}
_WORD = re.compile(
    "|".join(rf"(?P<{label}>(?<![\w-]){form}(?![\w-]))" for label, form in _FORMS.items()), re.IGNORECASE
)

# "A" is also an article: after "answer" it is a letter only where a bracket, a stop or the end of the line follows.
_LETTER = r"(?:[B-D](?![\w'])|A(?=[)\]*\"']|\s*[.:,;]|\s*$|\s*\n))"
_NAMED_LETTER = re.compile(
    rf"\b(?:option|choice|letter)\s+(?-i:(?P<option>[A-D]))(?![\w'])"
    rf"|\b(?:option|choice|answer|letter)(?: is| would be)?\s*:?\s*[(\[*\"']*(?-i:(?P<letter>{_LETTER}))",
    re.IGNORECASE,
)
_LONE_LETTER = re.compile(
    r"(?<![\w'.])(?P<letter>[B-D])(?![\w'])|(?:\(|\b(?:is|say|choose|pick)\s)(?P<a>A)(?=\s*(?:[).:,;]|$))"
)
_SPEAKER = re.compile(r"\b(?:speaker|person|voice)s?\s+[A-D]\b", re.IGNORECASE)

_LEAD = (
    r"[\W_]*(?:(?:the|my)\s+)?(?:(?:correct|final|best)\s+)?"
    r"(?:(?:answer|option|reaction|label|choice)\b(?:\s+is)?[\W_]*)?"
)
_OPENS_WITH_LETTER = re.compile(
    rf"{_LEAD}(?:option\s+)?(?P<letter>[A-D])(?:\s*[).:\],*\"'`-]|\s*\n|\s*$|\s+[–—=])", re.IGNORECASE
)
_OPENS_WITH_WORD = re.compile(
    rf"{_LEAD}(?:[A-D][\W_]+)?(?:{'|'.join(_FORMS.values())})(?=[\"'`*)\]]*(?:\s*$|\s*\n|[.:;,)]|\s[-–—(]|\s(?:because|since|as)\b))",
    re.IGNORECASE,
)
_STATEMENT = re.compile(r"(?s:.*)\banswer\b(?:\s+is|\s+would be)?\s*:?[\s*(\[\"']*(?P<said>[^\n]*)$", re.IGNORECASE)

_DENIED = re.compile(
    r"(?:(?:\bnot\b|n't\b|\bnever\b|\bneither\b|\bnor\b|\bwithout\b|\brather than\b|\binstead of\b)(?:\s+[\w']+){0,3}"
    r"|\bno\b(?:\s+[\w']+)?)\s*$",
    re.IGNORECASE,
)
_LEFT_OPEN = re.compile(
    r"\b(?:whether|unsure|unclear|uncertain|not sure|impossible|unable|cannot|can't|can not|don't know|doubt)\b",
    re.IGNORECASE,
)
_ANSWER_KEYS = {"reaction", "answer", "label", "choice", "option", "final_answer", "response"}


def parse_answer(text: str, finish_reason: str, item: Item) -> tuple[ParseStatus, str | None]:
    """Status and label of one raw answer.

    A text that was cut off (`finish_reason` "length") counts only if it opens with its answer.
    """
    if finish_reason == "error":
        return "error", None
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").strip()
    if not plain:
        return "empty", None
    not_read: ParseStatus = "truncated" if finish_reason == "length" else "unreadable"
    plain = re.sub(r"(?s)<think>.*?</think>", "", plain).strip()
    if plain.startswith("<think>"):
        return not_read, None
    is_json, field = _json_field(plain)
    meant = _meant(field if is_json else plain, item)
    complete = finish_reason != "length" or is_json or _OPENS_WITH_WORD.match(plain) or _OPENS_WITH_LETTER.match(plain)
    return ("ok", meant.pop()) if len(meant) == 1 and complete else (not_read, None)


def _json_field(text: str) -> tuple[bool, str]:
    """Whether the text is one JSON value, fenced or not, and the text of its answer fields ("" if it has none)."""
    body = re.sub(r"^```\w*\s*|\s*```$", "", text).strip()
    if not body.startswith(("{", "[", '"')):
        return False, ""
    try:
        value = json.loads(body)
    except ValueError:
        return False, ""
    if isinstance(value, dict):
        fields = [field for key, field in value.items() if key.lower().replace(" ", "_") in _ANSWER_KEYS]
        value = fields or list(value.values())
    fields = value if isinstance(value, list) else [value]
    return True, "\n".join(fields) if all(isinstance(field, str) for field in fields) else ""


def _meant(text: str, item: Item) -> set[str]:
    """Labels that a text means: those of its closing statement if it has one that names exactly one, else all named."""
    for label, definition in zip(item.options, item.definitions, strict=True):
        text = re.sub(re.escape(definition), label, text, flags=re.IGNORECASE)
    named = _mentions(text, item)
    if len(named) > 1 and (statement := _STATEMENT.match(text)):
        said = statement.group("said")
        stated = _mentions(f"answer: {said}", item)
        if len(stated) == 1 and not _LEFT_OPEN.search(said):
            return stated
    return named


def _mentions(text: str, item: Item) -> set[str]:
    labels = {str(match.lastgroup) for match in _WORD.finditer(text) if _is_asserted(text, match.start())}
    text = _SPEAKER.sub("speaker", text)
    letters = {m["option"] or m["letter"] for m in _NAMED_LETTER.finditer(text) if _is_asserted(text, m.start())}
    letters |= {m["letter"] or m["a"] for m in _LONE_LETTER.finditer(text) if _is_asserted(text, m.start())}
    if opening := _OPENS_WITH_LETTER.match(text):
        letters.add(opening["letter"].upper())
    return labels | {item.options[LETTERS.index(letter)] for letter in letters}


def _is_asserted(text: str, start: int) -> bool:
    """Whether a mention is neither denied nor left open by what precedes it in its clause."""
    before = re.split(r"[.!?:;\n]", text[:start])[-1]
    return not _DENIED.search(before) and not _LEFT_OPEN.search(before)
