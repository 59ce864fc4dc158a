"""How a text is spoken: numbers, times, money and abbreviations as words, one tuple of words for each written word.

The engines, the aligner and the word error rate all see this form, so a numeral that an engine swallows is heard as a
missing word. Numbers are spelt by the library inflect; the forms around them follow American use. Why no larger
normaliser is used: docs/speech.md.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import NamedTuple

from cares.core.errors import CaresError
from cares.speech import wordforms as forms
from cares.speech.numerals import NUMBER, as_date, cardinal, day, name_number, number_words, one_by_one, ordinal, unit


class UnspeakableError(CaresError):
    """A text holds a character that no English voice can say."""


_PLAIN = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2032": "'", "\u201c": '"', "\u201d": '"', "\u2033": '"',
        "\u00ab": '"', "\u00bb": '"', "\u2026": "...", "\u2014": " - ", "\u2013": "-", "\u2011": "-", "\u2212": "-",
        "\u00ad": "", "\u200b": "", "\u00a0": " ",
    }
)  # fmt: skip
_SILENT = '"()[]{}<>*_^|\\`'
_STOPS = ".,;:!?"
_OTHER_SIGNS = "\u00b0\u00a3\u20ac\u00a5\u00a2\u00b1\u00d7\u00f7\u00bd\u00bc\u00be"
_FRACTIONS = (("\u00bd", "1/2"), ("\u00bc", "1/4"), ("\u00be", "3/4"))
_SYMBOLS = re.compile(r"[&+=@%/#\u00b0\u00b1\u00d7\u00f7\u00a2]")


class _Place(NamedTuple):
    """A word without the stops behind it, between its neighbours as written ("" at the ends)."""

    before: str
    core: str
    after: str
    following: str


def spoken_words(text: str) -> tuple[tuple[str, ...], ...]:
    """For each whitespace-separated word of `text` the words that are said, with their punctuation.

    A written word without a sound of its own (a dash, a closing quote) gives an empty tuple. A text wholly in capitals
    is shouted, not a row of acronyms.

    Raises:
        UnspeakableError: a letter of another script, an emoji or another sign that has no English name here.
    """
    written = [_plain(word) for word in (_unshouted(text)).split()]
    said: list[list[str]] = []
    currency = ""
    for number, (word, following) in enumerate(pairwise([*written, ""])):
        place = _place(written[number - 1] if number else "", word, following)
        ending, currency = currency, ""
        if place.core[:1] in forms.MONEY and following.strip(_STOPS).lower() in forms.SCALES:
            currency = forms.MONEY[place.core[0]][1]
            place = place._replace(core=place.core[1:])
        words = f"{_expand(place)} {ending}".split() if place.core else []
        spoken_before = next((earlier for earlier in reversed(said) if earlier), None)
        if words:
            words[-1] += place.after
        elif place.after and spoken_before and spoken_before[-1][-1] not in _STOPS:
            spoken_before[-1] += place.after
        said.append(words)
    return tuple(tuple(words) for words in said)


def spoken_text(text: str) -> str:
    """The whole text as it is said: the words of `spoken_words` with single spaces."""
    return " ".join(word for words in spoken_words(text) for word in words)


def has_words(text: str) -> bool:
    """Whether anything of the text is said, punctuation apart."""
    return any(character.isalnum() for character in spoken_text(text))


def _unshouted(text: str) -> str:
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text)
    if len(words) < 3 or not all(word.isupper() for word in words) or forms.COMMON.isdisjoint(words):
        return text
    return re.sub(r"[^\W\d_]+", lambda word: word[0] if word[0] == "I" else word[0].lower(), text)


def _plain(word: str) -> str:
    plain = unicodedata.normalize("NFC", word).translate(_PLAIN)
    for character in plain:
        if character in _SILENT or character.isascii():
            continue
        if character in _OTHER_SIGNS or _is_latin(character):
            continue
        name = unicodedata.name(character, "no name")
        raise UnspeakableError(f"{word!r} holds {character!r} (U+{ord(character):04X}, {name})")
    return re.sub(r"~(?!\d)", "", plain.translate({ord(sign): None for sign in _SILENT})).strip()


def _is_latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith("LATIN ") and character.isalpha()


def _place(before: str, word: str, following: str) -> _Place:
    """The word in its place; the full stop of an abbreviation belongs to its core."""
    word = re.sub(rf"^(?:(?!\.\d)[{re.escape(_STOPS)}'])+", "", word)
    core = word.rstrip(_STOPS + "'")
    after = word[len(core) :].replace("'", "")
    if after[:1] == "." and _abbreviation(_Place(before, core + ".", after[1:], following)):
        return _Place(before, core + ".", after[1:] if following else after, following)
    if not core.strip("-"):
        return _Place(before, "", after or ("," if core else ""), following)
    return _Place(before, core, after, following)


def _abbreviation(place: _Place) -> str:
    """The words of an abbreviation, or "" when it is none in this place."""
    word, lower = place.core, place.core.lower()
    number_follows = place.following[:1].isdigit()
    measured = _number_before(place)
    if word in ("St.", "St"):
        return _saint_or_street(place)
    if lower == "no.":
        return "number" if number_follows else ""
    if lower in ("a.m.", "p.m.") or (lower in ("am", "pm") and measured):
        return forms.ABBREVIATIONS[f"{lower[0]}.m."]
    if measured and lower.removesuffix(".") not in forms.NOT_APART and (name := unit(word.removesuffix("."), measured)):
        return name
    if lower.removesuffix(".") in forms.MONTH_FORMS and word[:1].isupper():
        dated = number_follows or re.match(r"\d{1,2}(st|nd|rd|th)?,?$", place.before) is not None
        return forms.MONTH_FORMS[lower.removesuffix(".")] if dated else ""
    if lower in forms.WEEKDAY_FORMS and word[0].isupper():
        sure = lower not in ("sat.", "sun.") or number_follows or place.following[:1].islower()
        return forms.WEEKDAY_FORMS[lower] if sure else ""
    if lower in forms.NEEDS_NUMBER and not (number_follows or (lower == "ft." and place.following[:1].isupper())):
        return ""
    return forms.ABBREVIATIONS.get(lower, "")


def _saint_or_street(place: _Place) -> str:
    """ "St. John St.": a saint before a name, a street behind one."""
    ends = bool(place.after.strip(".")) or not place.following[:1].isupper()
    behind_a_name = place.before[:1].isupper() and place.before not in ("In", "At", "To", "From", "The", "And")
    return "Street" if ends or (behind_a_name and place.before[-1:] not in _STOPS) else "Saint"


def _number_before(place: _Place) -> str:
    before = place.before.lstrip("~")
    return before if re.fullmatch(rf"{NUMBER}|\d+:\d\d", before) else ""


def _expand(place: _Place) -> str:
    core = place.core
    if core.startswith("~"):
        return f"about {_expand(place._replace(core=core[1:]))}"
    if core in forms.SPELT:
        return _letters(core)
    if known := _abbreviation(place):
        return known
    if said := _interjection(core):
        return said
    if core in forms.ROMAN and (said := _roman(place)):
        return said
    for sign, fraction in _FRACTIONS:
        core = core.replace(sign, f"+{fraction}").removeprefix("+")
    if match := re.fullmatch(rf"(?:(\S+)@)?((?:[\w-]+\.)+(?:{forms.DOMAINS}))(/\S*)?", core, re.IGNORECASE):
        return _address(match)
    if not any(character.isdigit() for character in core):
        return _symbols(place)
    return _number_in_place(place._replace(core=core)) or number_words(core) or _mixture(place._replace(core=core))


def _interjection(core: str) -> str:
    """Sounds of few letters, however long they are drawn: "Hmmm", "shhh"."""
    shortest = re.sub(r"(.)\1+", r"\1", core.lower())
    for form in (core.lower(), shortest):
        if said := forms.INTERJECTIONS.get(form):
            return said.capitalize() if core[0].isupper() else said
    return ""


def _roman(place: _Place) -> str:
    """ "World War II" is "two", "Henry VIII" "the eighth"; elsewhere the letters stay."""
    before = place.before.lower()
    value = str(forms.ROMAN[place.core])
    if before in forms.ROMAN_COUNTED:
        return cardinal(value)
    return f"the {ordinal(value)}" if before in forms.RULERS else ""


def _address(match: re.Match[str]) -> str:
    name, domain, path = match.groups()
    host = domain.replace("www.", "W W W.").replace(".", " dot ")
    parts = [f"{name.replace('.', ' dot ')} at"] if name else []
    parts += [host, *(f"slash {part}" for part in (path or "").split("/") if part)]
    return " ".join(re.sub(r"\d+", lambda digits: f" {cardinal(digits[0])} ", part) for part in parts)


def _symbols(place: _Place) -> str:
    core = place.core
    if re.fullmatch(r"[A-Z]{1,3}&[A-Z]{1,3}", core):
        return " and ".join(_letters(part) for part in core.split("&"))
    if re.fullmatch(r"[A-F]-", core):
        return f"{core[0]} minus"
    if core.lower() == "x" and _number_before(place) and place.following[:1].isdigit():
        return "by"
    if core.startswith("#"):
        return f"hashtag {core[1:]}" if len(core) > 1 else "number"
    if core.count("/") == 1 and core.split("/")[1].lower() in forms.PER:
        return core.replace("/", " per ")
    spaced = _SYMBOLS.sub(lambda sign: f" {forms.ABBREVIATIONS[sign[0]]} ", core)
    return re.sub(r"\s+-+\s+|-{2,}", ", ", spaced).strip(" -,")


def _letters(word: str) -> str:
    spelt = " ".join(letter for letter in word if letter.isupper())
    return f"{spelt}'s" if word.endswith("s") else spelt


def _number_in_place(place: _Place) -> str:
    """A number whose words depend on its neighbours: a day, a room, a telephone number, the rest of a fraction."""
    core, before = place.core, place.before.rstrip(_STOPS)
    if re.fullmatch(r"0?[1-9]|[12]\d|3[01]", core):
        if _is_month(before):
            return ordinal(core)
        if _is_month(place.following.rstrip(_STOPS)) and place.following[:1].isupper():
            return f"{'' if before.lower() == 'the' else 'the '}{ordinal(core)} of"
    if re.fullmatch(r"\d{3,4}", core) and before.lower() in forms.NUMBERED:
        return name_number(core)
    if re.fullmatch(r"\d{3,4}", core) and (core in forms.DIALLED or before.lower() in forms.DIALLED):
        return one_by_one(core)
    if re.fullmatch(r"\d{3}-\d{4}", core) and re.fullmatch(r"\d{3}", before):
        return ""
    if re.fullmatch(r"\d{3}", core) and re.match(r"\d{3}-\d{4}\b", place.following):
        return one_by_one(core)
    if match := re.fullmatch(r"(\d{1,2})/(\d{1,2})", core):
        if before.lower() in forms.DATE_PREPOSITIONS and as_date(*match.groups()) and core not in ("24/7", "9/11"):
            return day(*match.groups())
        if before.isdigit():
            return f"and {number_words(core)}"
    return ""


def _is_month(word: str) -> bool:
    return word in forms.MONTHS or (word[:1].isupper() and word.lower().rstrip(".") in forms.MONTH_FORMS)


def _mixture(place: _Place) -> str:
    """Whatever is left, piece by piece: "B12", "4A", "mid-1990s", "$5/hour", "5ft/6ft"."""
    core = place.core
    if core.count("/") == 1:
        left, right = core.split("/")
        between = "per" if right.lower() in forms.PER else "or"
        if left and right:
            return f"{_expand(place._replace(core=left))} {between} {_expand(place._replace(core=right))}"
    if "-" in core.strip("-"):
        parts = [part for part in core.split("-") if part]
        return " ".join(_expand(_Place("", part, "", "")) for part in parts)
    pieces = re.findall(rf"{NUMBER}|[^\W\d_]+|{_SYMBOLS.pattern}", core)
    return " ".join(cardinal(p) if p[-1].isdigit() else forms.ABBREVIATIONS.get(p, p) for p in pieces)
