"""How varied the wording of the accepted dialogues is, beside the hand-written probes at equal size.

distinct-n is the share of different n-grams among all n-grams (Li et al., "A Diversity-Promoting Objective Function for
Neural Conversation Models", NAACL 2016). It falls with the length of a text, so both sets are cut to the same number of
words: texts in a keyed order, up to that number, the mean over several such draws. Self-BLEU is the mean BLEU-4 of each
line against all other lines (Zhu et al., "Texygen", SIGIR 2018; BLEU by sacrebleu), here over equally many drawn lines
of both sets, a line's references being lines of other texts. Low is varied.

A text of the probes is about half as long as a scene, so equally many words of theirs tell of more situations: the
ratios are rather too hard on the dialogues than too kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from cares.core.canonical import Json
from cares.core.rng import KeyedRandom
from cares.dialogue.cues import words_of
from cares.dialogue.marked import Pieces, from_turns, spoken_turns
from cares.dialogue.probes import Probe
from cares.records.dialogue import Dialogue

Line = tuple[str, ...]
Text = tuple[Line, ...]

ORDERS = (1, 2, 3)
DRAWS = 20
LEAST_WORDS = 5  # shorter lines, such as "I think so too", are said again by anybody
BLEU_LINES = 200  # the work grows with the square; 200 lines take half a second


class Repeated(NamedTuple):
    """A line or a run of words that several scenes hold; `words` are in lower case, without punctuation."""

    kind: str
    words: str
    scenes: int


def bare_words(text: str) -> Line:
    """The words of a text in lower case; an apostrophe is kept within a word, and left out at its ends."""
    return tuple(bare for word in words_of(text) if (bare := word.strip("'")))


def text_of(pieces: Pieces) -> Text:
    """The words of each turn, sounds left out."""
    return tuple(bare_words(turn) for turn in spoken_turns(pieces))


def dialogue_pieces(dialogue: Dialogue) -> Pieces:
    """The pieces of a dialogue without its scene: sounds are called by their number, since no word depends on them."""
    events = [segment.event for turn in dialogue.turns for segment in turn.segments if segment.event is not None]
    return from_turns(dialogue.turns, [f"event_{number}" for number in range(max(events, default=-1) + 1)])


def distinct(text: Iterable[Line], order: int) -> float | None:
    """Different n-grams over all n-grams of `order` words, none across lines; None when there is no n-gram."""
    grams = [line[at : at + order] for line in text for at in range(len(line) - order + 1)]
    return len(set(grams)) / len(grams) if grams else None


def cut_to(texts: Sequence[Text], words: int, random: KeyedRandom) -> list[Line]:
    """Lines of texts in drawn order, the last one cut so that there are `words` words; all when there are fewer."""
    lines: list[Line] = []
    left = words
    for text in random.shuffled(texts):
        for line in text:
            if not left:
                return lines
            lines.append(line[:left])
            left -= len(lines[-1])
    return lines


def distinct_at(texts: Sequence[Text], words: int, seed: int, name: str) -> dict[int, float | None]:
    """distinct-n of each order, the mean over `DRAWS` keyed draws of `words` words; None where there is no n-gram."""
    found: dict[int, list[float]] = {order: [] for order in ORDERS}
    for draw in range(DRAWS):
        lines = cut_to(texts, words, KeyedRandom(seed, "distinct", name, draw))
        for order, values in found.items():
            if (value := distinct(lines, order)) is not None:
                values.append(value)
    return {order: fmean(values) if values else None for order, values in found.items()}


def self_bleu(texts: Sequence[Text], lines: int, seed: int, name: str) -> float | None:
    """Mean BLEU-4, 0 to 100, of `lines` drawn lines of at least 5 words, each against those of the other texts.

    None when there are not `lines` such lines, or they are of one text.
    """
    from sacrebleu.metrics.bleu import BLEU

    usable = _long_lines(texts)
    if not 2 <= lines <= len(usable):
        return None
    drawn = KeyedRandom(seed, "self_bleu", name).sample(usable, lines)
    bleu = BLEU(effective_order=True, tokenize="none")
    scores = []
    for place, line in drawn:
        others = [" ".join(other) for other_place, other in drawn if other_place != place]
        if others:
            scores.append(bleu.sentence_score(" ".join(line), others).score)
    return fmean(scores) if scores else None


def diversity(dialogues: Sequence[Dialogue], probes: Sequence[Probe], seed: int) -> dict[str, Json]:
    """distinct-1, -2, -3 and self-BLEU of the dialogues and of the probes at equal size, and dialogues over probes.

    Returns:
        `words`: how many words of each set were compared; `bleu_lines`: how many lines; then `accepted`, `probes` and
        `ratio` with `distinct_1`, `distinct_2`, `distinct_3` and `self_bleu` each, None where nothing can be measured.
    """
    sets = {
        "accepted": [text_of(dialogue_pieces(dialogue)) for dialogue in dialogues],
        "probes": [text_of(probe.pieces) for probe in probes],
    }
    words = min(sum(len(line) for text in texts for line in text) for texts in sets.values())
    lines = min(BLEU_LINES, *(len(_long_lines(texts)) for texts in sets.values()))
    figures: dict[str, dict[str, float | None]] = {}
    for name, texts in sets.items():
        figures[name] = {f"distinct_{order}": value for order, value in distinct_at(texts, words, seed, name).items()}
        figures[name]["self_bleu"] = self_bleu(texts, lines, seed, name)
    ratio = {key: _ratio(value, figures["probes"][key]) for key, value in figures["accepted"].items()}
    rounded = {
        name: {key: _rounded(value, 2 if key == "self_bleu" else 4) for key, value in values.items()}
        for name, values in figures.items()
    }
    return {"words": words, "bleu_lines": lines, **rounded, "ratio": {k: _rounded(v, 4) for k, v in ratio.items()}}


def repeated(dialogues: Sequence[Dialogue]) -> list[Repeated]:
    """Lines and runs of five words that at least two scenes hold, the most frequent first.

    A line is a turn of at least 5 words, or a sentence of at least 5 words in a turn. Runs lie within a sentence; one
    that is part of a line which as many scenes hold is left out: it says nothing new.
    """
    lines: Counter[Line] = Counter()
    grams: Counter[Line] = Counter()
    for dialogue in dialogues:
        turns = spoken_turns(dialogue_pieces(dialogue))
        sentences = {bare_words(sentence) for turn in turns for sentence in re.split(r"(?<=[.?!])\s+", turn)}
        lines.update(line for line in sentences | {bare_words(turn) for turn in turns} if len(line) >= LEAST_WORDS)
        grams.update({gram for sentence in sentences for gram in _runs(sentence)})
    found = [Repeated("line", " ".join(line), scenes) for line, scenes in lines.items() if scenes > 1]
    within = {(gram, scenes) for line, scenes in lines.items() if scenes > 1 for gram in _runs(line)}
    found += [
        Repeated("5-gram", " ".join(gram), scenes)
        for gram, scenes in grams.items()
        if scenes > 1 and (gram, scenes) not in within
    ]
    return sorted(found, key=lambda one: (-one.scenes, one.kind != "line", one.words))


def repetition(found: Sequence[Repeated], scenes: int) -> dict[str, Json]:
    """How much is said again across `scenes` scenes.

    `most_frequent_line` is the share of scenes that hold the line of 5 words or more which most scenes hold, 0 when no
    two scenes share one. `lines` that two scenes or more hold are counted, and those that more than 1 % of all hold.
    """
    lines = [one for one in found if one.kind == "line"]
    return {
        "lines": len(lines),
        "lines_over_1_percent": sum(one.scenes * 100 > scenes for one in lines),
        "most_frequent_line": round(lines[0].scenes / scenes, 4) if lines else 0.0,
        "most_frequent_line_scenes": lines[0].scenes if lines else 0,
    }


def _long_lines(texts: Sequence[Text]) -> list[tuple[int, Line]]:
    return [(place, line) for place, text in enumerate(texts) for line in text if len(line) >= LEAST_WORDS]


def _runs(line: Line) -> list[Line]:
    return [line[at : at + LEAST_WORDS] for at in range(len(line) - LEAST_WORDS + 1)]


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
