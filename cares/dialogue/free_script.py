"""Reads a script as a large model writes it: one line a turn, sounds as markers, a dash where a sentence breaks off.

What is not the asked-for script is refused with a named reason and never mended by a guess. Only what means nothing is
left aside: blank lines, a code fence around the script, bold speakers, typographic quotes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from cares.dialogue.cues import words_of
from cares.records.dialogue import Segment, Turn
from cares.records.scene import Event, Scene

REACH = 16  # words after a sound in which the broken sentence may be taken up again
LEAST_REPEATED = 60  # characters of a passage that repeats itself without end

_LINE = re.compile(r"^(?:\*\*)?([AB])(?:\*\*)?\s*:(?:\*\*)?\s*(.*)$")
_LABEL = re.compile(r"^[\s*#\d.)-]*(?:speaker\s+)?([a-z]{1,20})[\s*]*:", re.I)
_MARKER = re.compile(r"\[\s*sound\b\s*:?\s*([^\[\]]*)\]", re.I)
_INSIDE_A_WORD = re.compile(r"[A-Za-z0-9']\[\s*sound\b[^\[\]]*\][A-Za-z0-9']", re.I)
_DIRECTION = re.compile(r"\([^)]*\)|\[[^\]]*\]|\*[^*]+\*|<[^>]*>")
_BREAK = re.compile(r"(?:\s*(?:-{1,3}|[\u2013\u2014]|\.{2,}|\u2026))+$")
_BREAK_FIRST = re.compile(r"^(?:(?:-{1,3}|[\u2013\u2014]|\.{2,}|\u2026)\s*)+")
_REFUSAL = re.compile(
    r"^\W*(?:i(?:'m| am) (?:sorry|afraid|unable|not able)|sorry,? (?:but )?i|i (?:can't|cannot|can not|won't|must) "
    r"|unfortunately,? i|as an ai|my apologies)",
    re.I,
)
_REPEATED = re.compile(r"(.{1,300}?)\1{3,}", re.S)
_PLAIN = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": "", "\u201d": "", '"': "", "\u00a0": " ", "\u2011": "-"}
)
# words without which hardly any English sentence of eight words is spoken, and which other languages do not share
_ENGLISH = frozenset(
    words_of(
        """
        the and you that it it's is isn't of to for with have haven't this these those but not my what we we're they
        he she i i'm i'd i'll i've don't didn't can't won't just like your yours our their his her are were was be
        been do did does would could should will can at on in if so then there there's here when where who how why
        from about out up than them him us all some any never only know think get got one let's that's what's you're
        he's she's as by or
        """
    )
)
_LEAST_ENGLISH = 0.2  # share of these words in a script, in which about half of the words are
_LONG_LINE = 8  # words from which a line without a single one of them is in another language


class ScriptFault(Exception):
    """An answer that is not the asked-for script; `reason` is a short name, `str()` the detail."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def runs_on(text: str) -> bool:
    """Whether the last 3,000 characters hold one passage four times in a row or more, 60 characters at least in all."""
    return any(len(found.group()) >= LEAST_REPEATED for found in _REPEATED.finditer(text[-3000:]))


def read_script(text: str, scene: Scene) -> tuple[Turn, ...]:
    """The turns of a script with the scene's sounds in place.

    Raises:
        ScriptFault: `endless_repetition`, `refusal`, `other_language`, `narration` (words of nobody), `wrong_speaker`,
            `wrong_turns`, `marker_in_word`, `unknown_marker`, `missing_marker`, `doubled_marker`, `marker_order`,
            `marker_in_wrong_turn`, `marker_at_edge`, `unwanted_break`, `no_break`, `stage_direction`,
            `odd_character`, `cut_text`, `empty_text`.
    """
    if runs_on(text):
        raise ScriptFault("endless_repetition", text.strip()[-60:])
    lines = _lines(text)
    _check_language([line for _, line in lines])
    if len(lines) != scene.n_turns:
        raise ScriptFault("wrong_turns", f"{len(lines)}, not {scene.n_turns}")
    for number, (speaker, _) in enumerate(lines):
        if speaker != "AB"[number % 2]:
            raise ScriptFault("wrong_speaker", f"turn {number}: {speaker}")
    _check_markers([line for _, line in lines], scene.events)
    at_slot = {event.slot: index for index, event in enumerate(scene.events)}
    turns = []
    for number, (speaker, line) in enumerate(lines):
        where = f"turn {number}"
        index = at_slot.get(number)
        segments = (
            (Segment(text=_ended(_clean(line, where), where)),)
            if index is None
            else _around(line, index, scene.events[index], where)
        )
        turns.append(Turn(speaker="A" if speaker == "A" else "B", segments=segments))
    return tuple(turns)


def _lines(text: str) -> list[tuple[str, str]]:
    """Speaker and words of every line."""
    rows = [row.strip() for row in text.translate(_PLAIN).strip().splitlines()]
    rows = [row for row in rows if row and not re.fullmatch(r"```\w*", row)]
    found = []
    for number, row in enumerate(rows):
        match = _LINE.match(row)
        if match is None:
            if number == 0 and _REFUSAL.match(row):
                raise ScriptFault("refusal", row[:80])
            if labelled := _LABEL.match(row):
                raise ScriptFault("wrong_speaker", f"line {number}: {labelled.group(0)[:40]}")
            _check_language([row])
            raise ScriptFault("narration", f"line {number}: {row[:60]}")
        found.append((match[1], match[2].strip()))
    return found


def _check_language(lines: Sequence[str]) -> None:
    counted = english = 0
    for number, line in enumerate(lines):
        spoken = _DIRECTION.sub(" ", line)
        foreign = sum(character.isalpha() and ord(character) > 0x24F for character in spoken)
        words = words_of(spoken)
        known = sum(word in _ENGLISH for word in words)
        if foreign or (len(words) >= _LONG_LINE and not known):
            raise ScriptFault("other_language", f"line {number}: {line[:60]}")
        counted, english = counted + len(words), english + known
    if counted >= _LONG_LINE and english < _LEAST_ENGLISH * counted:
        raise ScriptFault("other_language", f"{english} of {counted} words")


def _check_markers(lines: Sequence[str], events: Sequence[Event]) -> None:
    """Every sound once, in its order and turn; the first fault in the order of the names above."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        if inside := _INSIDE_A_WORD.search(line):
            raise ScriptFault("marker_in_word", f"turn {number}: {inside.group()}")
        found += [(number, re.sub(r"[\s-]+", "_", name.strip().lower())) for name in _MARKER.findall(line)]
    wanted = [event.sound for event in events]
    for number, name in found:
        if name not in wanted:
            raise ScriptFault("unknown_marker", f"turn {number}: {name or 'no name'}")
    counts, due = Counter(name for _, name in found), Counter(wanted)
    for name in wanted:
        if counts[name] != due[name]:
            reason = "missing_marker" if counts[name] < due[name] else "doubled_marker"
            raise ScriptFault(reason, f"{name}: {counts[name]}, not {due[name]}")
    if [name for _, name in found] != wanted:
        raise ScriptFault("marker_order", ", ".join(name for _, name in found))
    for (number, name), event in zip(found, events, strict=True):
        if number != event.slot:
            raise ScriptFault("marker_in_wrong_turn", f"{name}: turn {number}, not {event.slot}")


def _around(line: str, index: int, event: Event, where: str) -> tuple[Segment, ...]:
    """The words before the sound, the sound, the words after it."""
    first, second = _MARKER.split(line)[::2]
    breaks = _BREAK.search(first.rstrip()) is not None or _BREAK_FIRST.match(second.lstrip()) is not None
    before = _clean(_BREAK.sub("", first.rstrip()), where)
    after = _ended(_clean(_BREAK_FIRST.sub("", second.lstrip()), where), where)
    if not words_of(before) or not words_of(after):
        raise ScriptFault("marker_at_edge", f"{where}: {event.sound}")
    heard = Segment(event=index)
    if event.reaction == "behavioral":
        if not breaks or before[-1] in ".?!":
            raise ScriptFault("no_break", f"{where}: {before[-30:]}")
        before = before.rstrip(",;:- ")
        return (
            Segment(text=before, delivery="cut", spoken_as=f"{before} {_rest(before, after)}"),
            heard,
            Segment(text=after[0].upper() + after[1:]),
        )
    if event.reaction == "ambient":
        if breaks:
            raise ScriptFault("unwanted_break", f"{where}: {before[-30:]} ({event.sound}, ambient)")
        return Segment(text=before), heard, Segment(text=after, delivery="joined")
    if breaks or before[-1] not in ".?!":
        raise ScriptFault("unwanted_break", f"{where}: {before[-30:]} ({event.sound}, {event.reaction})")
    return Segment(text=before), heard, Segment(text=after[0].upper() + after[1:])


def _rest(before: str, after: str) -> str:
    """How the broken sentence would have gone on: what follows its last words where they are said again.

    Only its beginning is heard; the rest gives the voice a sentence to be in the middle of. Where no word is said
    again, the first sentence of four words after the sound stands for it.
    """
    heard, spoken = words_of(before), after.split()
    again = [" ".join(words_of(word)) for word in spoken]
    for size in range(min(len(heard), REACH), 0, -1):
        for start in range(min(len(again) - size, REACH)):
            if again[start : start + size] == heard[-size:] and (rest := _sentence(spoken[start + size :])):
                return rest
    sentences = [part for part in re.split(r"(?<=[.?!])\s+", after) if len(part.split()) >= 4] or [after]
    return sentences[0][0].lower() + sentences[0][1:]


def _sentence(words: Sequence[str]) -> str:
    taken: list[str] = []
    for word in words:
        taken.append(word)
        if word[-1] in ".?!":
            break
    return " ".join(taken)


def _clean(text: str, where: str) -> str:
    """Words as they are spoken; ScriptFault for a stage direction or a character that no voice can say."""
    if direction := _DIRECTION.search(text):
        raise ScriptFault("stage_direction", f"{where}: {direction.group()}")
    text = re.sub(r"\s*(?:[\u2013\u2014]|--+)\s*", ", ", text).replace("\u2026", "...").strip(" ,")
    text = re.sub(r"\s+", " ", re.sub(r",(?:\s*,)+", ",", text))
    odd = next(
        (
            c
            for c in text
            if not (c.isascii() and c.isprintable()) and not c.isalpha() and c not in "\u00a3\u20ac\u00b0"
        ),
        None,
    )
    if odd is not None:
        raise ScriptFault("odd_character", f"{where}: {odd!r}")
    return text


def _ended(text: str, where: str) -> str:
    if not words_of(text):
        raise ScriptFault("empty_text", where)
    if text[-1] not in ".?!" or text.endswith(".."):
        raise ScriptFault("cut_text", f"{where}: {text[-30:]}")
    return text
