"""Cheap, deterministic checks before any judging; each has a name that is kept as the reason of a refusal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rapidfuzz import fuzz

from cares.catalog.load import Catalog
from cares.dialogue.cues import words_of
from cares.records.dialogue import Turn, planned_turns
from cares.records.scene import MOST_TURNS, Scene, Speaker

MIN_TURNS, MAX_TURNS = 6, MOST_TURNS
SHORTEST_LINE, LONGEST_LINE = 2, 60  # words of a turn
NEAR_REPEAT = 88.0  # rapidfuzz ratio, 0 to 100, of two lines of five words or more
SHARED_PHRASE = 5  # words in a row that a dialogue may not share with its worked example
REPEATED_PHRASE = 6  # words in a row that two turns may not share
LOOPED_PHRASE = 4  # words in a row that one utterance may not hold twice

_PLACEHOLDER = re.compile(r"[\[\]{}<>|_*#@\\/]|\b(?:insert|placeholder|lorem|xxx)\b", re.I)
_VERBS = (
    "adds|admits|agrees|answers|asks|blames|brings|changes|compares|complains|decides|disagrees|doubts|explains|gives|goes"
    "|laughs|looks|makes|mentions|names|nods|offers|promises|proposes|puts|remembers|replies|says|sets|shrugs|sighs|smiles"
    "|starts|stays|suggests|takes|teases|tells|thinks|turns|wants|warns|wonders|worries"
)
_LETTERED = r"(?<!plan )(?<!Plan )(?<!option )(?<!Option )"  # "plan B is better" tells of no speaker
_NARRATION = re.compile(
    rf"{_LETTERED}\b(?:A|B|Speaker [AB])(?:'s\b|,? (?:{_VERBS}|who|is|was)\b)|(?:^|[.?!] )[AB],"
    r"|\b(?:he|she|they) (?:said|replied|asked) (?:quietly|softly|loudly)\b"
)
_ASSISTANT = re.compile(
    r"\b(?:as an ai|i'm sorry,? but i can|could you please provide|how can i (?:help|assist)|i apologi[sz]e"
    r"|is there anything (?:else )?i can|is there anything else(?=[?.,]| you(?:'d| need| want| would))"
    r"|i can (?:help|assist)(?: you)? with (?:that|this)|i(?:'d| would) be happy to (?:help|assist)|feel free to"
    r"|let me know if you|here(?:'s| is) (?:the|a) (?:dialogue|script)|happy to help|can i help you)\b",
    re.I,
)
_CALLED = r"(?! (?:(?:an?|names|crazy|old)\b|(?-i:[A-Z])))"  # "you can call me Ann", "call me crazy"
_MAY = (
    r"(?: (?:am|can|could|don't|going|had|have|just|may|might|must|need|never|not|only|rather|really|should|still|then"
    r"|try|want|wanted|will|would|to|better)){0,4}"
)
_DIGIT = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
_PHONE = re.compile(
    r"\b(?:call(?:ing)? you back|hang(?:ing)? up now|on the line with you|can you hear me|bad connection"
    rf"|(?:i(?:'[a-z]+)?{_MAY}|let me) (?:call|phone)(?:ing)? you{_CALLED}"
    rf"|you(?:'[a-z]+)?{_MAY} (?:call|phone)(?:ing)? me{_CALLED}|you call (?:right )?now"
    r"|(?:call|phone) me (?:back|later|again|now|right now|tonight|tomorrow|soon|when|if|once|as soon|any ?time)"
    r"|my (?:phone|mobile|cell|home) number(?:'s| is))\b"
    r"|(?<!\d)\d{3}[-. ]\d{4}(?!\d)|\d{7}|(?<!\d)0\d{2,4}[-/ ]\d{3}"
    rf"|\b{_DIGIT}(?:,? {_DIGIT}){{6}}\b",
    re.I,
)
_STUTTER = re.compile(r"\b(\w+)(?: \1\b){2,}", re.I)
_TEXT_CHECKS = (
    ("placeholder", _PLACEHOLDER),
    ("narration", _NARRATION),
    ("assistant_phrase", _ASSISTANT),
    ("phone_call", _PHONE),
    ("stutter", _STUTTER),
)
_NAME = re.compile(r"(?<=[a-z0-9,;] )[A-Z][a-z]{2,}")
_NO_NAMES = re.compile(
    "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August"
    "|(?:Septem|Octo|Novem|Decem)ber|Christmas|Easter"
)


@dataclass(frozen=True)
class Fault:
    """Why a dialogue is refused: the check's name, where, and the turn to write again, if one turn is to blame."""

    reason: str
    detail: str
    turn: int | None = None


def lint(turns: Sequence[Turn], scene: Scene, catalog: Catalog, example_lines: Sequence[str]) -> Fault | None:
    """The first fault of a dialogue, or None; see `faults`."""
    return next(faults(turns, scene, catalog, example_lines), None)


def faults(
    turns: Sequence[Turn],
    scene: Scene,
    catalog: Catalog,
    example_lines: Sequence[str],
    names: Mapping[Speaker, str] = MappingProxyType({}),
) -> Iterator[Fault]:
    """All faults of a dialogue; `names` are the speakers' names, if the writer gave them any.

    Turns are counted and numbered as planned: what an interruption adds belongs to the turn that it breaks.

    Checked in this order: form (number of turns, both speak, length of a turn), text (placeholders, narration, an
    assistant's phrases, phone calls, unpronounceable words, stutter, a text without an end), repetition (of a line or
    phrase, or of the worked example), the references that each label demands or forbids.
    """
    lines = [spoken_line(turn) for turn in turns]
    numbers = planned_turns(turns)
    yield from _form(turns, lines, numbers)
    for number, line, turn in zip(numbers, lines, turns, strict=True):
        if found := text_fault(line):
            yield Fault(found[0], f"turn {number}: {found[1]}", number)
        elif told := _told_of(line, turn.speaker, names):
            yield Fault("narration", f"turn {number}: {told}", number)
    yield from _repetition(turns, lines, numbers, example_lines)
    yield from _references(turns, lines, numbers, scene, catalog)


def _told_of(line: str, speaker: Speaker, names: Mapping[Speaker, str]) -> str | None:
    """Words in which a speaker is told of: somebody's own name, or a name and what its bearer does."""
    own = names.get(speaker)
    if own and re.search(rf"\b{own}\b", line):
        return f"{own} speaks of {own}"
    found = names and re.search(rf"\b(?:{'|'.join(names.values())}),? (?:{_VERBS})\b", line)
    return found.group(0) if found else None


def spoken_line(turn: Turn) -> str:
    """All that is said in a turn, in order, without the sounds."""
    return " ".join(segment.text for segment in turn.segments if segment.event is None)


def _form(turns: Sequence[Turn], lines: Sequence[str], numbers: Sequence[int]) -> Iterator[Fault]:
    planned = len(set(numbers))
    if not MIN_TURNS <= planned <= MAX_TURNS:
        yield Fault("number_of_turns", str(planned))
    if {turn.speaker for turn in turns} != {"A", "B"}:
        yield Fault("one_speaker", ", ".join(sorted({turn.speaker for turn in turns})))
    for number, line in zip(numbers, lines, strict=True):
        if not SHORTEST_LINE <= len(line.split()) <= LONGEST_LINE:
            yield Fault("length_of_turn", f"turn {number}: {len(line.split())} words", number)


def text_fault(line: str) -> tuple[str, str] | None:
    """The first fault that a line has by itself: the check's name, and what it found."""
    for reason, pattern in _TEXT_CHECKS:
        if found := pattern.search(line):
            return reason, found.group(0)
    for word in line.split():
        if not pronounceable(word):
            return "unpronounceable", word
    if re.search(r"(?<![A-Za-z'])(?![aio]\b)[a-z][.?!]$", line) or re.search(  # "plan B." is whole
        r"\b(?:a|an|the|my|your|and|or|because|than)[.?!]$", line
    ):
        return "cut_text", line[-30:]
    return None


def pronounceable(word: str) -> bool:
    """False for a word that a voice would stumble over: no vowel, six consonants in a row, or mixed with digits.

    Of "20-year-old" each part is looked at; "GPS" is spelled out, and "M25" or "A4" is said as it stands.
    """
    return all(_can_be_said(part) for part in word.split("-"))


def _can_be_said(word: str) -> bool:
    letters = re.sub(r"[^a-z0-9]", "", word.lower())
    if not letters or letters.isdigit() or re.fullmatch(r"(?:[A-Z]{2,4}|[A-Z]\d{1,4})'?s?[.,?!]*", word):
        return True
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


def are_alike(sentence: str, other: str) -> bool:
    """Whether two sentences, both of five words or more, are the same or nearly so; of three or more, the same."""
    shorter = min(len(sentence.split()), len(other.split()))
    if shorter < 5:
        return shorter >= 3 and sentence.strip().lower() == other.strip().lower()
    return fuzz.ratio(sentence.lower(), other.lower()) >= NEAR_REPEAT


def loops(text: str) -> str | None:
    """A phrase that an utterance holds twice, as a small model does when it goes round in circles."""
    seen: set[tuple[str, ...]] = set()
    for gram in _grams(text, LOOPED_PHRASE):
        if gram in seen:
            return " ".join(gram)
        seen.add(gram)
    return None


def _repetition(
    turns: Sequence[Turn], lines: Sequence[str], numbers: Sequence[int], example_lines: Sequence[str]
) -> Iterator[Fault]:
    # the words before a break come again after it, as they should; what interrupts is none of the writer's words
    said = [
        " ".join(s.text for s in turn.segments if s.event is None and s.delivery != "cut" and not turn.interrupts)
        for turn in turns
    ]
    numbered = list(zip(numbers, said, strict=True))
    sentences = [(n, sentence.strip()) for n, text in numbered for sentence in re.findall(r"[^.?!]+[.?!]", text)]
    for at, (number, sentence) in enumerate(sentences):
        for earlier, other in sentences[:at]:
            if are_alike(sentence, other):
                yield Fault("repeated_line", f"turns {earlier} and {number}: {sentence}", number)
    for number, turn in zip(numbers, turns, strict=True):
        if looped := next((found for s in turn.segments if (found := loops(s.text))), None):
            yield Fault("repeated_phrase", f"turn {number}, twice: {looped}", number)
    first: dict[tuple[str, ...], int] = {}
    for number, text in numbered:
        for gram in _grams(text, REPEATED_PHRASE):
            if first.setdefault(gram, number) != number:
                yield Fault("repeated_phrase", f"turns {first[gram]} and {number}: {' '.join(gram)}", number)
                break
    for number, line in zip(numbers, lines, strict=True):
        if copied := copied_phrase(line, example_lines):
            yield Fault("copies_example", f"turn {number}: {copied}", number)


def copied_phrase(line: str, example_lines: Sequence[str]) -> str | None:
    """A phrase or a name that a line shares with the worked example it was shown."""
    shown = {gram for other in example_lines for gram in _grams(other, SHARED_PHRASE)}
    names = {name for other in example_lines for name in _NAME.findall(other) if not _NO_NAMES.fullmatch(name)}
    phrases = (" ".join(gram) for gram in _grams(line, SHARED_PHRASE) if gram in shown)
    return next(phrases, None) or next((name for name in _NAME.findall(line) if name in names), None)


def _grams(line: str, size: int) -> list[tuple[str, ...]]:
    words = words_of(line)
    return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]


def _references(
    turns: Sequence[Turn], lines: Sequence[str], numbers: Sequence[int], scene: Scene, catalog: Catalog
) -> Iterator[Fault]:
    where = {
        s.event: (n, k) for n, turn in enumerate(turns) for k, s in enumerate(turn.segments) if s.event is not None
    }
    if sorted(where) != list(range(len(scene.events))):
        yield Fault("sound_missing", f"events {sorted(where)} of {len(scene.events)}")
        return
    for index, event in enumerate(scene.events):
        sound = catalog.sounds[event.sound]
        turn, segment = where[index]
        if event.reaction in ("behavioral", "ambient"):
            for number, line in zip(numbers, lines, strict=True):
                if found := sound.mention_in(line):
                    detail = f"turn {number}: {found} ({event.sound}, {event.reaction})"
                    yield Fault("unwanted_reference", detail, number)
            if event.reaction == "behavioral" and turns[turn].segments[segment - 1].delivery != "cut":
                yield Fault("no_break", f"turn {numbers[turn]}: {event.sound}", numbers[turn])
            continue
        after = " ".join(s.text for s in turns[turn].segments[segment + 1 :])
        if not sound.mention_in(after):
            detail = f"turn {numbers[turn]}: {after} ({event.sound}, {event.reaction})"
            yield Fault("no_reference", detail, numbers[turn])
        before = [*lines[:turn], " ".join(s.text for s in turns[turn].segments[:segment])]
        for number, line in zip(numbers, before, strict=False):
            if found := sound.mention_in(line):
                yield Fault("early_reference", f"turn {number}: {found} ({event.sound})", number)
        if event.reaction == "verbal":
            for number, line in zip(numbers[turn + 1 :], lines[turn + 1 :], strict=True):
                if found := sound.mention_in(line):
                    yield Fault("remark_goes_on", f"turn {number}: {found} ({event.sound})", number)
