"""Written numbers, times, dates and money as the words in which they are said, in American use.

The words of a number are those of the library inflect; the patterns of `PATTERNS` say which number a form is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import inflect

from cares.speech.wordforms import MONEY, MONTHS, UNITS

NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+"
_SIGNS = "".join(map(re.escape, MONEY))
_HALF = r"(?P<half>[ap]m|[ap]\.m\.)"
_LAST_YEAR_DIGITS = r"(?:1[1-9]|20)\d\d"
_UNIT_SIGNS = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))


def unit(sign: str, number: str) -> str:
    """The name of a unit after a number, in the singular after 1; "" when it is none ("5G", "2.5M")."""
    if len(sign) == 1 and sign.isalpha() and sign.isupper():
        return ""
    one, many = UNITS.get(sign.lower(), ("", ""))
    return one if number == "1" else many


def cardinal(digits: str) -> str:
    """Words of a number: "12,345.6" is "twelve thousand three hundred forty-five point six"."""
    plain = digits.replace(",", "")
    if (len(plain) > 1 and plain[0] == "0" and "." not in plain) or len(plain.split(".")[0]) > 15:
        return one_by_one(plain)
    if plain.startswith("."):
        return f"point {one_by_one(plain)}"
    return _words(plain)


def ordinal(digits: str) -> str:
    """Words of a rank: "21" is "twenty-first"."""
    return _words(str(_engine().ordinal(digits.replace(",", ""))))


def one_by_one(digits: str) -> str:
    """Each digit as a word."""
    return " ".join(str(_engine().number_to_words(digit)) for digit in digits if digit.isdigit())


def year(digits: str) -> str:
    """Words of a year of four digits: "1984" is "nineteen eighty-four"."""
    high, low = digits[:2], digits[2:]
    if low == "00":
        return cardinal(digits) if high[1] == "0" else f"{cardinal(high)} hundred"
    if high == "20" and low[0] == "0":
        return cardinal(digits)
    return f"{cardinal(high)} {_two(low)}"


def name_number(digits: str) -> str:
    """A number that names a thing: "66" is "sixty-six", "101" "one oh one", "1204" "twelve oh four"."""
    if len(digits) not in (3, 4) or digits[0] == "0":
        return cardinal(digits)
    high, low = digits[:-2], digits[-2:]
    return f"{cardinal(high)} {'hundred' if low == '00' else _two(low)}"


def day(month: str, number: str, after: str = "") -> str:
    """A date from numbers: month, day and, if there is one, year."""
    said = f"{MONTHS[int(month) - 1]} {ordinal(number.lstrip('0'))}"
    if not after:
        return said
    return f"{said}, {year(after) if len(after) == 4 else cardinal(after)}"


def as_date(month: str, number: str) -> bool:
    """Whether two numbers can be month and day."""
    return 1 <= int(month) <= 12 and 1 <= int(number) <= 31


def plural(words: str) -> str:
    """The plural of a number's words: "nineties", "twos", "sixes"."""
    return words[:-1] + "ies" if words.endswith("y") else words + ("es" if words.endswith("x") else "s")


@cache
def _engine() -> inflect.engine:
    return inflect.engine()


def _words(number: str) -> str:
    return str(_engine().number_to_words(number, andword="", comma="")).replace("  ", " ")


def _two(low: str) -> str:
    return f"oh {cardinal(low[1])}" if low[0] == "0" else cardinal(low)


def _time(match: re.Match[str]) -> str:
    hour, minute, half = match["hour"], match["minute"], (match["half"] or "").lower()
    said = cardinal(str(int(hour)))
    if minute.strip("0"):
        said += f" {_two(minute)}"
    elif not half:
        said += " o'clock" if 1 <= int(hour) <= 12 else " hundred"
    return f"{said} {UNITS[half][1]}" if half else said


def _hours(match: re.Match[str]) -> str:
    return " to ".join(_of_pattern(part) for part in re.split("-", match[0]))


def _amount(match: re.Match[str]) -> str:
    one, many = MONEY[match["sign"]]
    whole, _, part = match["number"].replace(",", "").partition(".")
    if match["scale"]:
        scale = {"k": "thousand", "m": "million", "b": "billion"}[match["scale"].lower()]
        return f"{cardinal(match['number'])} {scale} {many}"
    if len(part) not in (0, 2):
        return f"{cardinal(match['number'])} {many}"
    if whole in ("", "0") and match["sign"] != "\u00a5" and part.strip("0"):
        coins = int(part)
        small = "cent" if match["sign"] != "\u00a3" else "penny"
        return f"{cardinal(str(coins))} {small if coins == 1 else {'cent': 'cents', 'penny': 'pence'}[small]}"
    said = f"{cardinal(whole or '0')} {one if whole == '1' else many}"
    return f"{said} {cardinal(str(int(part)))}" if part.strip("0") else said


def _amounts(match: re.Match[str]) -> str:
    scale = {"k": "thousand ", "m": "million "}.get((match["scale"] or "").lower(), "")
    return f"{cardinal(match['low'])} to {cardinal(match['high'])} {scale}{MONEY[match['sign']][1]}"


def _fraction(match: re.Match[str]) -> str:
    top, bottom = int(match["top"]), int(match["bottom"])
    whole = f"{cardinal(match['whole'])} and " if match["whole"] else ""
    if (top, bottom) == (9, 11):
        return "nine eleven"
    if not whole and bottom > 16 and as_date(match["top"], match["bottom"]):
        return day(match["top"], match["bottom"])
    if not (1 <= top < bottom <= 16):
        return f"{whole}{cardinal(str(top))} {cardinal(str(bottom))}"
    name = {2: "half", 4: "quarter"}.get(bottom) or ordinal(str(bottom))
    return f"{whole}{cardinal(str(top))} {name if top == 1 else {'half': 'halves'}.get(name, name + 's')}"


def _range(match: re.Match[str]) -> str:
    low, high = match[1], match[2]
    return f"{cardinal(low)} {'' if low == high else 'to '}{cardinal(high)}"


def _calendar(month: str, number: str, after: str, otherwise: str) -> str:
    return day(month, number, after) if as_date(month, number) else _pieces(otherwise)


def _measure(match: re.Match[str]) -> str:
    name = unit(match[2], match[1])
    if name:
        return f"{cardinal(match[1])} {name}"
    large = match[2] == "M" or (match[2] == "B" and "." in match[1])
    scale = {"M": "million", "B": "billion"}[match[2]] if large else match[2]
    return f"{cardinal(match[1])} {scale}"


def _measured(match: re.Match[str]) -> str:
    one = UNITS[match[2].lower()][0]
    return f"{cardinal(match[1])}-{one}"


def _times_k(match: re.Match[str]) -> str:
    return f"{cardinal(match[1])} {'K' if len(match[1]) == 1 else 'thousand'}"


def _groups(digits: str) -> str:
    """A telephone number's groups; 800 and its like are said whole."""
    parts = re.findall(r"\d+", digits)
    return ", ".join(cardinal(part) if re.fullmatch(r"[1-9]00", part) else one_by_one(part) for part in parts)


def _pieces(token: str) -> str:
    return " ".join(cardinal(p) if p[0].isdigit() else p for p in re.findall(rf"{NUMBER}|[^\W\d_]+", token))


def _of_pattern(token: str) -> str:
    return number_words(token) or _pieces(token)


def number_words(token: str) -> str:
    """The words of a token with digits in it, or "" when it has none of the known forms."""
    for pattern, say in PATTERNS:
        if match := pattern.fullmatch(token):
            return say(match)
    return ""


PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), say)
    for pattern, say in (
        (rf"(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d){_HALF}?", _time),
        (rf"(?P<hour>1[0-2]|[1-9])(?P<minute>){_HALF}", _time),
        (rf"(?:1[0-2]|[1-9])(?::[0-5]\d)?(?:[ap]m)?-(?:1[0-2]|[1-9])(?::[0-5]\d)?{_HALF}", _hours),
        (r"(?:[01]?\d|2[0-4]):[0-5]\d-(?:[01]?\d|2[0-4]):[0-5]\d", _hours),
        (rf"(?P<sign>[{_SIGNS}])(?P<low>{NUMBER})-[{_SIGNS}]?(?P<high>{NUMBER})(?P<scale>[km])?", _amounts),
        (rf"(?P<sign>[{_SIGNS}])(?P<number>{NUMBER})(?P<scale>[kmb])?", _amount),
        (rf"-([{_SIGNS}].+)", lambda m: f"minus {_of_pattern(m[1])}"),
        (rf"({NUMBER})(?:st|nd|rd|th)", lambda m: ordinal(m[1])),
        (r"(\d{1,2})/(\d{1,2})/(\d{4}|\d\d)", lambda m: _calendar(m[1], m[2], m[3], m[0])),
        (rf"({_LAST_YEAR_DIGITS})-(\d\d)-(\d\d)", lambda m: _calendar(m[2], m[3], m[1], m[0])),
        (rf"({_LAST_YEAR_DIGITS})", lambda m: year(m[1])),
        (rf"({_LAST_YEAR_DIGITS})-({_LAST_YEAR_DIGITS})", lambda m: f"{year(m[1])} to {year(m[2])}"),
        (r"((?:1[1-9]|20)\d0)'?s", lambda m: plural(year(m[1]))),
        (r"'?([2-9]0)'?s", lambda m: plural(cardinal(m[1]))),
        (r"(\d+)'s", lambda m: plural(cardinal(m[1]))),
        (r"(?:1-)?\d{3}-\d{3}-\d{4}|\d{3}-\d{4}|\d-\d{3}-\d{4}", lambda m: _groups(m[0])),
        (r"(\d)'(1[01]|\d)", lambda m: f"{cardinal(m[1])} foot {cardinal(m[2])}"),
        (rf"({NUMBER})-({NUMBER})", _range),
        (r"(?:(?P<whole>\d+)\+)?(?P<top>\d{1,2})/(?P<bottom>\d{1,2})", _fraction),
        (rf"#({NUMBER})", lambda m: f"number {cardinal(m[1])}"),
        (rf"x({NUMBER})", lambda m: f"times {cardinal(m[1])}"),
        (rf"({NUMBER})x", lambda m: f"{cardinal(m[1])} times"),
        (rf"({NUMBER})x({NUMBER})", lambda m: f"{cardinal(m[1])} by {cardinal(m[2])}"),
        (rf"-(({NUMBER})\D*)", lambda m: f"minus {_of_pattern(m[1])}"),
        (rf"({NUMBER})-({_UNIT_SIGNS})", _measured),
        (rf"({NUMBER})-?ish", lambda m: f"{cardinal(m[1])}-ish"),
        (rf"({NUMBER})-([a-z]+(?:-[a-z]+)*)", lambda m: f"{cardinal(m[1])}-{m[2]}"),
        (r"(\d+)k", _times_k),
        (rf"({NUMBER})({_UNIT_SIGNS}|b)", _measure),
        (rf"({NUMBER})", lambda m: cardinal(m[1])),
        (r"\d+(?:\.\d+){2,}", lambda m: " point ".join(cardinal(part) for part in m[0].split("."))),
    )
)  # fmt: skip
