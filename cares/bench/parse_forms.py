"""How the choices of an item may be named in words, and plain phrases that mean one of them.

A name is what the question shows, the id, and for reactions the label with its inflections. A phrase counts only where
nothing is named: "They just keep talking" means ambient to any reader of the four options, "nobody says a word about
it" may mean two of them and is no phrase here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from cares.records.item import Item

_LABELS = {
    "pivot": r"pivot(?:s|ed|ing)?",
    # "verbal communication goes on" and "the ambient sound" describe; they do not name a label
    "verbal": r"verbal(?:ly)?(?!\s+(?:communication|conversation|exchange|interaction)\b)",
    "behavioral": r"behaviou?ral(?:ly)?",
    "ambient": r"ambient(?:ly)?(?!\s+(?:sound|noise|audio|music|background)s?\b)",
    "yes": r"yes",
    # "no" is an answer only at the end of a clause: "there is no dog" is one of the phrases
    "no": r"no(?=[\"'*`)\]]*\s*(?:[.,;:!?/]|$|\n|[-–—]|(?:or|and|yes)\b))",
}
_TALK = r"(?:talk|speak|chat|carry|go|conversation|discussion)\w*"
# from the start of a clause on, nothing that denies what follows ("no dog bark is heard") or leaves it open
_PLAIN_CLAUSE = (
    r"(?:^|(?<=[.!?:;\n])|(?<=\bbut)|(?<=\byet)|(?<=\bhowever))"
    r"(?:(?!\b(?:no|none|not|nothing|never|neither|nobody|without|whether|if|unsure|unclear|uncertain|impossible|unable|"
    r"cannot|doubt)\b|n't\b)[^.!?:;\n])*?"
)
_PHRASES = {
    "pivot": (
        r"(?:switch|shift|change|turn|divert|move|steer)\w*\s+(?:\w+\s+){0,4}?(?:to|toward|towards|onto)\s+(?:the\s+)?"
        r"(?:\w+\s+){0,2}?(?:sound|noise)"
        r"|(?:drop|abandon)\w*\s+(?:their|the)\s+(?:\w+\s+)?(?:topic|subject)"
        r"|(?:change|switch)\w*\s+the\s+(?:topic|subject)\b"
        r"|becomes?\s+the\s+(?:new\s+)?(?:topic|subject)"
    ),
    "verbal": (
        r"(?:one|a|single)\s+(?:\w+\s+)?(?:short|brief|quick|passing|single)\s+(?:\w+\s+)?(?:remark|comment|mention)"
        r"|(?:remark|comment)s?\s+(?:briefly|once|in passing)"
        r"|(?:briefly|only|just|quickly)\s+(?:remark|comment|mention)\w*"
        r"|mentions?\s+it\s+(?:briefly|once|in passing)"
    ),
    "behavioral": (
        r"(?:breaks?|broke)\s+off|(?:stumble|falter|stutter|stall)\w*|loses?\s+(?:the\s+|her\s+|his\s+|their\s+)?(?:thread|"
        r"train of thought)|starts?\s+(?:the\s+|her\s+|his\s+|their\s+)?(?:sentence\s+)?(?:again|over)"
    ),
    "ambient": (
        rf"(?:no|without\s+any|without)\s+reaction|(?:do|does|did)(?:\s+not|n't)\s+(?:re)?act\b"
        rf"|(?:keep|keeps|kept|continue|continues|continued)\s+(?:on\s+)?(?:to\s+)?{_TALK}"
        rf"|{_TALK}\s+on\s+as\s+(?:if|though)|as\s+(?:if|though)\s+nothing\s+(?:had\s+)?happened|ignor(?:e|es|ed|ing)\b"
        rf"|(?:pay|paid)\w*\s+no\s+attention"
    ),
    "yes": r"^\W*(?:yeah|yep|indeed|correct|true|present)\b(?!\s+not\b)"
    r"|^\W*it(?:'s|\s+is)(?:\s+(?:\w+ly\s+)?(?:there|heard|audible|present)\b|(?=\s*(?:[.,;!]|$)))"
    r"|^\W*i\s+(?:can\s+|do\s+)?(?:\w+ly\s+)?hear\s+(?:it|(?:the|this|that)\s+sound)\b(?!\s+(?:being\s+)?mentioned)"
    rf"|{_PLAIN_CLAUSE}\b(?:is|can be)\s+(?:clearly\s+|definitely\s+)?(?:heard|audible|present)\b(?!\s*\?)",
    "no": r"^\W*(?:nope|false|absent|incorrect|nothing(?!\s+(?:but|except)\b))\b"
    r"|\bit(?:'s|\s+is)\s+(?:absent|missing)\b"
    r"|\b(?:is|can)\s*(?:not|n't)\s+(?:be\s+)?(?:clearly\s+)?(?:heard|audible|present|there)\b"
    r"|\bcannot\s+be\s+heard\b|\b(?:there is|there's|i hear|i heard)\s+no\b(?!\s+(?:doubt|question|mistake|denying)\b)"
    r"|\bno\s+(?!doubt\b|question\b|problem\b|one\b|longer\b)(?:[\w'-]+\s+){1,5}?(?:is|was|can be)\s+(?:\w+ly\s+)?"
    r"(?:heard|audible|present)\b|\b(?:i hear|i heard)\s+nothing\b|\b(?:do|did)(?:\s+not|n't)\s+hear\b",
}


_BINDS = re.compile(r"\b(?:on|of|in|at|with|for|to|from|and|by)\b")


def folded(text: str) -> str:
    """Lower case without accents: a "cafe" is a café."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _parts(choices: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
    """Single words that stand for a choice when they are the whole answer.

    Each side of "café or restaurant", and the last word of a name that is put together ("park" of "public park"). A
    word that occurs in what is shown for another choice, or in its id, stands for none.
    """
    shown = {choice: f"{folded(text)} {choice.casefold()}" for choice, text in zip(choices, texts, strict=True)}
    found = {}
    for choice, text in zip(choices, texts, strict=True):
        plain = re.sub(r"\s*\(.*?\)", "", folded(text))
        for side in re.split(r"\s+or\s+", plain):
            words = side.split()
            if choice in _LABELS or not words or _BINDS.search(side):
                continue
            if not any(words[-1] in other for name, other in shown.items() if name != choice):
                found[words[-1]] = choice
    return found


class Forms:
    """The patterns of one list of choices.

    `names`: choice by the group's number of `named`, which finds every name as a word of its own; `phrases`: pattern of
    the plain phrases by choice; `parts`: choice by a folded word that stands for it when it is the whole answer.
    """

    def __init__(self, choices: tuple[str, ...], texts: tuple[str, ...]) -> None:
        forms: list[tuple[str, str]] = []
        for choice, text in zip(choices, texts, strict=True):
            spoken = {text, choice, choice.replace("_", " "), re.sub(r"\s*\(.*?\)", "", text)}
            spoken |= {folded(form) for form in spoken}
            spoken = {form.strip() for form in spoken} - {"", *_LABELS}
            forms += [(re.escape(form).replace(r"\ ", r"[\s_-]+"), choice) for form in spoken]
            if choice in _LABELS:
                forms.append((_LABELS[choice], choice))
        # the longest form first, so that "car horn" is not read as "car"
        forms.sort(key=lambda form: (-len(form[0]), form))
        self.names = tuple(choice for _, choice in forms)
        body = "|".join(rf"({pattern})" for pattern, _ in forms)
        self.named = re.compile(rf"(?<![\w-])(?:(?:an?|the)\s+)?(?:{body})(?:s|es)?(?![\w-])", re.IGNORECASE)
        self.any_name = "|".join(pattern for pattern, _ in forms)
        self.phrases = {choice: re.compile(_PHRASES[choice], re.IGNORECASE) for choice in choices if choice in _PHRASES}
        self.parts = _parts(choices, texts)

    def choice_of(self, match: re.Match[str]) -> str:
        """The choice that a match of `named` names."""
        return self.names[(match.lastindex or 1) - 1]


@lru_cache(maxsize=4096)
def _forms(choices: tuple[str, ...], texts: tuple[str, ...]) -> Forms:
    return Forms(choices, texts)


def forms_of(item: Item) -> Forms:
    """The forms of an item's choices."""
    return _forms(item.choices, item.texts)
