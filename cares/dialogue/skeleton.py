"""The skeleton: a JSON schema whose keys are the plan of a dialogue, and the lines that an answer to it holds.

The keys are constants that the decoder is forced to write, so that it reads its own plan: "3 A, asks what it costs".
The text that follows is bounded by a pattern that must close with a full stop, a question or an exclamation mark
(`maxLength` would cut in mid-word). Where a sound must be referred to, the text is one of the register's listed
remarks, or begins with words that lead to a name of the sound; a name always stands as words of its own.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cares.core.canonical import Json
from cares.dialogue.breaks import split_sentences
from cares.dialogue.params import DialoguesParams
from cares.dialogue.plan import TurnPlan

SHORTEST_LINE = 20  # characters
SHORTEST_NAMED = 15  # behind a name
BREAKABLE = 45  # characters of a sentence that can break: seven words or more
BREAKABLE_MOST = 80  # characters that one sentence is made to have; a small model does not get further without a mark
BREAKABLE_ENDS = 110  # characters within which it has to end
SHORTEST_AMBIENT = 40
QUOTES = 6  # characters of JSON around a key and a text
CHARS_OF_A_TOKEN = 3.3  # at least; whole answers had 3.8 to 4.1
GOES_ON = "goes on about it"
# a mark is followed by a blank; an apostrophe stands in a word: a small model takes it for a quotation mark elsewhere
_CHAR = r"([A-Za-z0-9 -]|[,.?!] |[A-Za-z]'[a-z]|s' )"
_SOFT = r"([A-Za-z0-9 -]|, |[A-Za-z]'[a-z]|s' )"
_UNIT = re.compile(r"[A-Za-z]'[a-z]|s' |[,.?!] |.")

Line = dict[str, str]
"""What a turn holds: "says", and by kind "remark" and "then" (verbal), or "remark" (pivot)."""


class SkeletonFault(Exception):
    """An answer that is not what was asked for; `reason` is a short name, `str()` the detail, `turn` where it is."""

    def __init__(self, reason: str, detail: str, turn: int | None = None) -> None:
        super().__init__(detail)
        self.reason, self.turn = reason, turn


@dataclass(frozen=True)
class Form:
    """The schema of a text, and how to tell that the pattern ended it: `longest` units of it after its `lead`."""

    schema: Json
    lead: str = ""
    longest: int | None = None

    def is_full(self, said: str) -> bool:
        """Whether a text fills its pattern to the last character."""
        if self.longest is None:
            return False
        lead = re.match(self.lead, said)
        return len(_UNIT.findall(said, lead.end() if lead else 0)) >= self.longest


def free_text(longest: int, shortest: int = SHORTEST_LINE) -> Form:
    """A spoken line of `shortest` to `longest` characters that ends as a sentence."""
    return _form("", f"[A-Z]{_CHAR}{{{shortest - 3},{longest - 3}}}[a-z0-9][.?!]", longest)


def breakable_text(longest: int, shortest: int = BREAKABLE) -> Form:
    """One sentence that is long enough to break off and to resume."""
    return _form("", f"[A-Z]{_SOFT}{{{shortest - 3},{longest - 3}}}[a-z0-9][.?!]", longest)


def opened_text(openers: Sequence[str], longest: int, shortest: int = SHORTEST_LINE) -> Form:
    """A line that begins with one of `openers`, which bring their own blank; lengths count from there."""
    return _form(f"({_either(openers)})", f"[A-Za-z0-9']{_CHAR}{{{shortest - 3},{longest - 3}}}[a-z0-9][.?!]", longest)


def naming_text(openers: Sequence[str], names: Sequence[str], longest: int, shortest: int = SHORTEST_NAMED) -> Form:
    """A line that begins with an opener and a name; lengths count from there."""
    lead = f"({_either(openers)}) ({_either(names)})"
    return _form(lead, f"( |, ){_CHAR}{{{shortest - 3},{longest - 3}}}[a-z0-9][.?!]", longest)


def one_of(texts: Sequence[str]) -> Form:
    """One of the given texts."""
    return Form({"type": "string", "enum": list(texts)})


def _form(lead: str, rest: str, longest: int) -> Form:
    return Form({"type": "string", "pattern": f"^{lead}{rest}$"}, lead, longest)


def _either(texts: Sequence[str]) -> str:
    # only what is special in a pattern: the decoder's grammar knows no escaped blank or apostrophe
    return "|".join(re.sub(r"([.?*+()\[\]{}|^$\\])", r"\\\1", text) for text in texts)


def fields(plan: TurnPlan, params: DialoguesParams) -> dict[str, Form]:
    """The form of each text of a turn, in the order in which it is spoken."""
    if plan.bounds is not None:
        return _bounded(plan, *plan.bounds)
    if plan.kind == "verbal":
        short = free_text(params.short_chars)
        return {"says": short, "remark": one_of(plan.remarks), "then": short}
    if plan.kind == "pivot":
        return {"says": free_text(params.short_chars), "remark": one_of(plan.remarks)}
    if plan.kind == "behavioral":
        return {"says": breakable_text(params.short_chars)}
    if plan.kind == "ambient":
        return {"says": free_text(params.says_chars, SHORTEST_AMBIENT)}
    if plan.names:
        return {"says": naming_text(plan.openers, plan.names, params.short_chars)}
    if plan.openers:
        return {"says": opened_text(plan.openers, params.short_chars)}
    return {"says": free_text(params.says_chars)}


def _bounded(plan: TurnPlan, shortest: int, longest: int) -> dict[str, Form]:
    """The same with the turn's own bounds."""
    if plan.kind == "verbal":
        each = free_text(longest, shortest)
        return {"says": each, "remark": one_of(plan.remarks), "then": each}
    if plan.kind == "pivot":
        return {"says": free_text(longest, shortest), "remark": one_of(plan.remarks)}
    if plan.kind == "behavioral":
        return {"says": breakable_text(max(longest, BREAKABLE_ENDS), max(min(shortest, BREAKABLE_MOST), BREAKABLE))}
    if plan.names:
        return {"says": naming_text(plan.openers, plan.names, longest, shortest)}
    if plan.openers:
        return {"says": opened_text(plan.openers, longest, shortest)}
    return {"says": free_text(longest, max(shortest, SHORTEST_AMBIENT) if plan.kind == "ambient" else shortest)}


def most_tokens(plans: Sequence[TurnPlan], params: DialoguesParams) -> int:
    """More tokens than any answer to a skeleton has: its keys, and texts that fill their bounds."""
    size = sum(
        len(key(number, plan, field)) + QUOTES + (form.longest or max(map(len, plan.remarks), default=0)) + _lead(plan)
        for number, plan in enumerate(plans)
        for field, form in fields(plan, params).items()
    )
    return math.ceil(size / CHARS_OF_A_TOKEN)


def _lead(plan: TurnPlan) -> int:
    return max(map(len, plan.openers), default=0) + max(map(len, plan.names), default=0)


def key(number: int, plan: TurnPlan, field: str) -> str:
    """The key of a text in the skeleton: the number of the turn, from 1, and what it does."""
    does = {"says": plan.who, "remark": plan.hears, "then": GOES_ON}[field]
    return f"{number + 1} {does}"


def schema(plans: Sequence[TurnPlan], params: DialoguesParams, only: int | None = None) -> Json:
    """The JSON schema of a dialogue, or of turn `only` of it: one object, its keys in order, all of them needed."""
    keys = {
        key(number, plan, field): form.schema
        for number, plan in enumerate(plans)
        if only is None or number == only
        for field, form in fields(plan, params).items()
    }
    return {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}


def write_lines(lines: Sequence[Line], plans: Sequence[TurnPlan], only: int | None = None) -> str:
    """Lines as the skeleton that `read_lines` reads."""
    return json.dumps(
        {
            key(number, plan, field): text
            for number, (line, plan) in enumerate(zip(lines, plans, strict=True))
            if only is None or number == only
            for field, text in line.items()
        },
        ensure_ascii=False,
    )


def read_lines(text: str, plans: Sequence[TurnPlan], params: DialoguesParams, only: int | None = None) -> list[Line]:
    """The lines of an answer, one a turn, or the one of turn `only`.

    A text that fills its pattern to the last character was ended by the pattern, not by the writer: its last sentence
    is left out where it has another one; see `cut_texts` for where it has not.

    Raises:
        SkeletonFault: the answer is not what was asked for.
    """
    try:
        value = json.loads(text)
    except ValueError:
        raise SkeletonFault("broken_json", text[-60:]) from None
    if not isinstance(value, dict):
        raise SkeletonFault("wrong_turns", type(value).__name__)
    lines = []
    for number, plan in enumerate(plans):
        if only is not None and number != only:
            continue
        line: Line = {}
        for field, form in fields(plan, params).items():
            said = value.pop(key(number, plan, field), None)
            if said is None:
                raise SkeletonFault("wrong_turns", f"no {key(number, plan, field)!r}", number)
            if not isinstance(said, str) or not said.strip():
                raise SkeletonFault("empty_text", f"turn {number}: {field}", number)
            line[field] = _whole(re.sub(r"\s+", " ", said).strip(), form)
        lines.append(line)
    if value:
        raise SkeletonFault("wrong_turns", f"unasked {sorted(value)[0]!r}")
    return lines


def cut_texts(lines: Sequence[Line], plans: Sequence[TurnPlan], params: DialoguesParams) -> list[tuple[int, str]]:
    """The turns with a text that its pattern ended, and the end of that text."""
    return [
        (number, line[field][-30:])
        for number, (line, plan) in enumerate(zip(lines, plans, strict=True))
        for field, form in fields(plan, params).items()
        if form.is_full(line[field])
    ]


def _whole(said: str, form: Form) -> str:
    if not form.is_full(said):
        return said
    shorter = " ".join(split_sentences(said)[:-1])
    return shorter if len(shorter) >= SHORTEST_LINE else said
