"""How a text is spoken: numbers, times, money and abbreviations as words, one tuple of words for each written word.

The engines, the aligner and the word error rate all see this form, so a numeral that an engine swallows is heard as a
missing word. Numbers are spelt by the library inflect; the forms around them follow American use.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import inflect

from cares.core.errors import CaresError


class UnspeakableError(CaresError):
    """A text holds a character that no English voice can say."""


_PLAIN = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"', "\u00ab": '"', "\u00bb": '"',
        "\u2026": "...", "\u2014": " - ", "\u2013": "-", "\u2011": "-", "\u00ad": "", "\u200b": "",
    }
)  # fmt: skip
_SILENT = '"()[]{}<>*_~^|\\`'
_STOPS = ".,;:!?"
_ABBREVIATIONS = {
    "dr.": "Doctor", "mr.": "Mister", "mrs.": "Missis", "ms.": "Miz", "prof.": "Professor", "jr.": "Junior",
    "sr.": "Senior", "vs.": "versus", "vs": "versus", "etc.": "et cetera", "approx.": "approximately",
    "dept.": "department",
    "ave.": "Avenue", "rd.": "Road", "blvd.": "Boulevard", "mt.": "Mount", "e.g.": "for example", "i.e.": "that is",
    "a.m.": "A M", "p.m.": "P M", "and/or": "and or",
    "w/": "with", "w/o": "without", "&": "and", "+": "plus", "=": "equals",
    "@": "at", "%": "percent", "/": "or", "#": "number", "\u00b0": "degrees",
}  # fmt: skip
_UNITS = {
    "km": "kilometers", "m": "meters", "cm": "centimeters", "mm": "millimeters", "kg": "kilograms", "g": "grams",
    "lb": "pounds", "lbs": "pounds", "oz": "ounces", "ft": "feet", "in": "inches", "mi": "miles",
    "mph": "miles per hour",
    "km/h": "kilometers per hour", "min": "minutes", "hr": "hours", "hrs": "hours", "h": "hours", "sec": "seconds",
    "s": "seconds", "am": "A M", "pm": "P M", "a.m.": "A M", "p.m.": "P M", "gb": "gigabytes", "mb": "megabytes",
    "k": "thousand", "%": "percent", "\u00b0": "degrees", "\u00b0c": "degrees Celsius", "\u00b0f": "degrees Fahrenheit",
}  # fmt: skip
_MONEY = {"$": ("dollar", "dollars"), "\u00a3": ("pound", "pounds"), "\u20ac": ("euro", "euros")}
_SCALES = ("hundred", "thousand", "million", "billion", "trillion")
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"


def spoken_words(text: str) -> tuple[tuple[str, ...], ...]:
    """For each whitespace-separated word of `text` the words that are said, with their punctuation.

    A written word without a sound of its own (a dash, a closing quote) gives an empty tuple.

    Raises:
        UnspeakableError: a letter of another script, an emoji or another sign that has no English name here.
    """
    written = text.split()
    said: list[list[str]] = []
    currency = ""
    for word, following in pairwise([*written, ""]):
        core, after = _split(_plain(word), following)
        ending, currency = currency, ""
        if core[:1] in _MONEY and following.strip(_STOPS).lower() in _SCALES:
            core, currency = core[1:], _MONEY[core[0]][1]
        words = f"{_expand(core, following)} {ending}".split() if core else []
        spoken_before = next((earlier for earlier in reversed(said) if earlier), None)
        if words:
            words[-1] += after
        elif after and spoken_before and spoken_before[-1][-1] not in _STOPS:
            spoken_before[-1] += after
        said.append(words)
    return tuple(tuple(words) for words in said)


def spoken_text(text: str) -> str:
    """The whole text as it is said: the words of `spoken_words` with single spaces."""
    return " ".join(word for words in spoken_words(text) for word in words)


def has_words(text: str) -> bool:
    """Whether anything of the text is said, punctuation apart."""
    return any(character.isalnum() for character in spoken_text(text))


def _plain(word: str) -> str:
    plain = unicodedata.normalize("NFC", word).translate(_PLAIN)
    for character in plain:
        if character in _SILENT or character.isascii():
            continue
        if character in "\u00b0\u00a3\u20ac\u00bd\u00bc\u00be" or _is_latin(character):
            continue
        name = unicodedata.name(character, "no name")
        raise UnspeakableError(f"{word!r} holds {character!r} (U+{ord(character):04X}, {name})")
    return plain.translate({ord(sign): None for sign in _SILENT})


def _is_latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith("LATIN ") and character.isalpha()


def _split(word: str, following: str) -> tuple[str, str]:
    """(core, trailing stops); the full stop of an abbreviation belongs to the core."""
    word = word.strip().lstrip(_STOPS + "'")
    core = word.rstrip(_STOPS + "'")
    after = word[len(core) :].replace("'", "")
    if after[:1] == "." and _abbreviation(core + ".", following):
        return core + ".", after[1:] if following else after
    if not core.strip("-"):
        return "", after or ("," if core else "")
    return core, after


def _abbreviation(word: str, following: str) -> str:
    """The words of an abbreviation, or "" when it is none in this place."""
    if word == "St.":
        return "Saint" if following[:1].isupper() else "Street"
    if word.lower() == "no.":
        return "number" if following[:1].isdigit() else ""
    return _ABBREVIATIONS.get(word.lower(), "")


def _expand(core: str, following: str) -> str:
    if known := _abbreviation(core, following):
        return known
    for sign, fraction in (("\u00bd", "1/2"), ("\u00bc", "1/4"), ("\u00be", "3/4")):
        core = core.replace(sign, f"+{fraction}").removeprefix("+")
    if not any(character.isdigit() for character in core):
        return _symbols(core)
    for pattern, say in _PATTERNS:
        if match := pattern.fullmatch(core):
            return say(match)
    # whatever mixture is left is said piece by piece: "B12", "4A", "win10"
    return " ".join(_piece(piece) for piece in re.findall(rf"{_NUMBER}|[^\W\d_]+|[&+%@=#]", core))


def _symbols(core: str) -> str:
    spaced = re.sub(r"[&+=@%/#]", lambda sign: f" {_ABBREVIATIONS[sign[0]]} ", core)
    return re.sub(r"\s+-+\s+|-{2,}", ", ", spaced).strip(" -,")


def _piece(piece: str) -> str:
    return _cardinal(piece) if piece[0].isdigit() else _ABBREVIATIONS.get(piece, piece)


@cache
def _engine() -> inflect.engine:
    return inflect.engine()


def _cardinal(digits: str) -> str:
    plain = digits.replace(",", "")
    if (len(plain) > 1 and plain[0] == "0" and "." not in plain) or len(plain.split(".")[0]) > 15:
        return _one_by_one(plain)
    return str(_engine().number_to_words(plain, andword="", comma="")).replace("  ", " ")


def _ordinal(digits: str) -> str:
    return str(_engine().number_to_words(str(_engine().ordinal(digits)), andword="", comma=""))


def _one_by_one(digits: str) -> str:
    return " ".join(str(_engine().number_to_words(digit)) for digit in digits if digit.isdigit())


def _year(digits: str) -> str:
    high, low = digits[:2], digits[2:]
    if low == "00":
        return _cardinal(digits) if high[1] == "0" else f"{_cardinal(high)} hundred"
    if high == "20" and low[0] == "0":
        return _cardinal(digits)
    return f"{_cardinal(high)} {'oh ' + _cardinal(low[1]) if low[0] == '0' else _cardinal(low)}"


def _plural(words: str) -> str:
    return words[:-1] + "ies" if words.endswith("y") else words + ("es" if words.endswith("x") else "s")


def _time(match: re.Match[str]) -> str:
    hour, minute, half = match["hour"], match["minute"], (match["half"] or "").lower()
    said = _cardinal(str(int(hour)))
    if minute.strip("0"):
        said += f" {'oh ' + _cardinal(minute[1]) if minute[0] == '0' else _cardinal(minute)}"
    elif not half:
        said += " o'clock" if 1 <= int(hour) <= 12 else " hundred"
    return f"{said} {_UNITS[half]}" if half else said


def _amount(match: re.Match[str]) -> str:
    one, many = _MONEY[match["sign"]]
    whole, _, part = match["number"].replace(",", "").partition(".")
    if match["scale"]:
        scale = {"k": "thousand", "m": "million", "b": "billion"}[match["scale"].lower()]
        return f"{_cardinal(match['number'])} {scale} {many}"
    if len(part) not in (0, 2):
        return f"{_cardinal(match['number'])} {many}"
    said = f"{_cardinal(whole)} {one if whole == '1' else many}"
    return f"{said} {_cardinal(str(int(part)))}" if part.strip("0") else said


def _fraction(match: re.Match[str]) -> str:
    top, bottom = int(match["top"]), int(match["bottom"])
    whole = f"{_cardinal(match['whole'])} and " if match["whole"] else ""
    if not (1 <= top < bottom <= 16):
        return f"{whole}{_cardinal(str(top))} {_cardinal(str(bottom))}"
    name = {2: "half", 4: "quarter"}.get(bottom) or _ordinal(str(bottom))
    return f"{whole}{_cardinal(str(top))} {name if top == 1 else {'half': 'halves'}.get(name, name + 's')}"


_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), say)
    for pattern, say in (
        (r"(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?P<half>[ap]m|[ap]\.m\.)?", _time),
        (r"(?P<hour>1[0-2]|[1-9])(?P<minute>)(?P<half>[ap]m|[ap]\.m\.)", _time),
        (rf"(?P<sign>[$\u00a3\u20ac])(?P<number>{_NUMBER})(?P<scale>[kmb])?", _amount),
        (r"(\d+)(?:st|nd|rd|th)", lambda m: _ordinal(m[1])),
        (r"((?:1[1-9]|20)\d\d)", lambda m: _year(m[1])),
        (r"((?:1[1-9]|20)\d0)'?s", lambda m: _plural(_year(m[1]))),
        (r"'?([2-9]0)'?s", lambda m: _plural(_cardinal(m[1]))),
        (r"(\d{3})-(\d{3})-(\d{4})", lambda m: ", ".join(_one_by_one(part) for part in m.groups())),
        (r"(\d{3})-(\d{4})", lambda m: ", ".join(_one_by_one(part) for part in m.groups())),
        (r"(\d+)-(\d+)", lambda m: f"{_cardinal(m[1])} to {_cardinal(m[2])}"),
        (r"(?:(?P<whole>\d+)\+)?(?P<top>\d{1,2})/(?P<bottom>\d{1,2})", _fraction),
        (rf"#({_NUMBER})", lambda m: f"number {_cardinal(m[1])}"),
        (rf"-({_NUMBER})", lambda m: f"minus {_cardinal(m[1])}"),
        (rf"({_NUMBER})-([a-z]+(?:-[a-z]+)*)", lambda m: f"{_cardinal(m[1])}-{m[2]}"),
        (rf"({_NUMBER})({'|'.join(sorted(map(re.escape, _UNITS), key=len, reverse=True))})",
         lambda m: f"{_cardinal(m[1])} {_UNITS[m[2].lower()]}"),
        (rf"({_NUMBER})", lambda m: _cardinal(m[1])),
    )
)  # fmt: skip
