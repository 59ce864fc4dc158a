"""Cheap, deterministic checks before any judging; each has a name that is kept as the reason of a refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from cares.catalog.load import Catalog
from cares.records.dialogue import Turn
from cares.records.scene import Scene

MIN_TURNS, MAX_TURNS = 6, 13
SHORTEST_LINE, LONGEST_LINE = 2, 60  # words of a turn
NEAR_REPEAT = 88.0  # rapidfuzz ratio, 0 to 100, of two lines of five words or more
SHARED_PHRASE = 5  # words in a row that a dialogue may not share with its worked example

_PLACEHOLDER = re.compile(r"[\[\]{}<>|_*#@\\/]|\b(?:insert|placeholder|lorem|xxx)\b", re.I)
_NARRATION = re.compile(
    r"\b(?:A|B|Speaker [AB])(?:'s\b|,? (?:asks?|says?|replies|suggests?|laughs?|sighs?|nods?|agrees|disagrees|explains?"
    r"|mentions?|makes|goes on|who|stays|starts|is|was)\b)"
    r"|\b(?:he|she|they) (?:said|replied|asked) (?:quietly|softly|loudly)\b"
)
_ASSISTANT = re.compile(
    r"\b(?:as an ai|i'm sorry,? but i can|could you please provide|how can i (?:help|assist)"
    r"|is there anything (?:else )?i can|i(?:'d| would) be happy to (?:help|assist)|feel free to|let me know if you"
    r"|here(?:'s| is) (?:the|a) (?:dialogue|script)|happy to help|can i help you)\b",
    re.I,
)
_PHONE = re.compile(
    r"\b(?:call(?:ing)? you back|hang(?:ing)? up now|on the line with you|can you hear me|bad connection)\b", re.I
)
_STUTTER = re.compile(r"\b(\w+)(?: \1\b){2,}", re.I)


@dataclass(frozen=True)
class Fault:
    """Why a dialogue is refused: the check's name, and where."""

    reason: str
    detail: str


def lint(turns: Sequence[Turn], scene: Scene, catalog: Catalog, example_lines: Sequence[str]) -> Fault | None:
    """The first fault of a dialogue, or None.

    Checked in this order: form (number of turns, both speak, length of a turn), text (placeholders, narration, an
    assistant's phrases, phone calls, unpronounceable words, stutter, a text without an end), repetition (of a line, or
    of the worked example), the references that each label demands or forbids.
    """
    lines = [spoken_line(turn) for turn in turns]
    return (
        _form(turns, lines)
        or _text(lines)
        or _repetition(lines, turns, example_lines)
        or _references(turns, lines, scene, catalog)
    )


def spoken_line(turn: Turn) -> str:
    """All that is said in a turn, in order, without the sounds."""
    return " ".join(segment.text for segment in turn.segments if segment.event is None)


def _form(turns: Sequence[Turn], lines: Sequence[str]) -> Fault | None:
    if not MIN_TURNS <= len(turns) <= MAX_TURNS:
        return Fault("number_of_turns", str(len(turns)))
    if {turn.speaker for turn in turns} != {"A", "B"}:
        return Fault("one_speaker", turns[0].speaker)
    for number, line in enumerate(lines):
        if not SHORTEST_LINE <= len(line.split()) <= LONGEST_LINE:
            return Fault("length_of_turn", f"turn {number}: {len(line.split())} words")
    return None


def _text(lines: Sequence[str]) -> Fault | None:
    checks = (
        ("placeholder", _PLACEHOLDER),
        ("narration", _NARRATION),
        ("assistant_phrase", _ASSISTANT),
        ("phone_call", _PHONE),
        ("stutter", _STUTTER),
    )
    for number, line in enumerate(lines):
        for reason, pattern in checks:
            if found := pattern.search(line):
                return Fault(reason, f"turn {number}: {found.group(0)}")
        for word in line.split():
            if not pronounceable(word):
                return Fault("unpronounceable", f"turn {number}: {word}")
        if re.search(r"(?<![A-Za-z'])(?![AaIiOo]\b)[A-Za-z][.?!]$", line) or re.search(
            r"\b(?:a|an|the|to|of|my|your|and|or)[.?!]$", line
        ):
            return Fault("cut_text", f"turn {number}: {line[-30:]}")
    return None


def pronounceable(word: str) -> bool:
    """False for a word that a voice would stumble over: no vowel, five consonants in a row, or mixed with digits."""
    letters = re.sub(r"[^a-z0-9]", "", word.lower())
    if not letters or letters.isdigit() or re.fullmatch(r"[A-Z]{2,4}'?s?[.,?!]*", word):
        return True  # capitals such as GPS are spelled out
    if re.fullmatch(r"\d+(?:st|nd|rd|th|s|am|pm|k)", letters):
        return True
    if re.search(r"\d", letters) and re.search(r"[a-z]", letters):
        return False
    if re.search(r"(.)\1\1", letters):
        return False
    if (
        len(letters) > 2
        and not re.search(r"[aeiouy]", letters)
        and letters not in {"hmm", "mmm", "shh", "pfft", "psst", "tsk", "mrs", "nth", "grr", "brr"}
    ):
        return False
    return re.search(r"[bcdfghjklmnpqrstvwxz]{6}", letters) is None


def _repetition(lines: Sequence[str], turns: Sequence[Turn], example_lines: Sequence[str]) -> Fault | None:
    sentences = [
        (number, sentence)
        for number, turn in enumerate(turns)
        for sentence in re.findall(r"[^.?!]+[.?!]", _without_restart(turn))
        if len(sentence.split()) >= 5
    ]
    for at, (number, sentence) in enumerate(sentences):
        for earlier, other in sentences[:at]:
            if fuzz.ratio(sentence.lower(), other.lower()) >= NEAR_REPEAT:
                return Fault("repeated_line", f"turns {earlier} and {number}: {sentence.strip()}")
    shown = {gram for line in example_lines for gram in _grams(line)}
    for number, line in enumerate(lines):
        for gram in _grams(line):
            if gram in shown:
                return Fault("copies_example", f"turn {number}: {' '.join(gram)}")
    return None


def _without_restart(turn: Turn) -> str:
    # the words before a break come again after it, as they should
    return " ".join(s.text for s in turn.segments if s.event is None and s.delivery != "cut")


def _grams(line: str) -> list[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9']+", line.lower())
    return [tuple(words[i : i + SHARED_PHRASE]) for i in range(len(words) - SHARED_PHRASE + 1)]


def _references(turns: Sequence[Turn], lines: Sequence[str], scene: Scene, catalog: Catalog) -> Fault | None:
    where = {
        s.event: (n, k) for n, turn in enumerate(turns) for k, s in enumerate(turn.segments) if s.event is not None
    }
    if sorted(where) != list(range(len(scene.events))):
        return Fault("sound_missing", f"events {sorted(where)} of {len(scene.events)}")
    for index, event in enumerate(scene.events):
        sound = catalog.sounds[event.sound]
        turn, segment = where[index]
        if event.reaction in ("behavioral", "ambient"):
            for number, line in enumerate(lines):
                if found := sound.mention_in(line):
                    return Fault("unwanted_reference", f"turn {number}: {found} ({event.sound}, {event.reaction})")
            if event.reaction == "behavioral" and turns[turn].segments[segment - 1].delivery != "cut":
                return Fault("no_break", f"turn {turn}: {event.sound}")
            continue
        after = " ".join(s.text for s in turns[turn].segments[segment + 1 :])
        if not sound.mention_in(after):
            return Fault("no_reference", f"turn {turn}: {after} ({event.sound}, {event.reaction})")
        before = [*lines[:turn], " ".join(s.text for s in turns[turn].segments[:segment])]
        for number, line in enumerate(before):
            if found := sound.mention_in(line):
                return Fault("early_reference", f"turn {number}: {found} ({event.sound})")
        if event.reaction == "verbal":
            for number in range(turn + 1, len(lines)):
                if found := sound.mention_in(lines[number]):
                    return Fault("remark_goes_on", f"turn {number}: {found} ({event.sound})")
    return None
