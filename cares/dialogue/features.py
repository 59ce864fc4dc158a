"""Named numbers that tell how the talk goes on across a sound.

They come from three sources: words (names of the sound, repairs, exclamations, words said again), marks (an unfinished
sentence, a question) and the meaning of what is said before, after and elsewhere, as cosines of a sentence encoder.
Every feature is a plain property of the transcript; nothing knows the label, the scene's plan or the writer. What each
of them says stands in `EXPLAINED`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cares.catalog.catalog import Catalog
from cares.dialogue.cues import Cues, counts, is_unfinished, sentences_of, words_of
from cares.dialogue.marked import Around
from cares.dialogue.repeats import begins_again, longest_run, repeats_end, stutters, without_fillers

Vectors = NDArray[np.float64]

EXPLAINED = {
    "unfinished_before": "the speaker stops within a sentence at the sound, and goes on after it",
    "goes_on_in_lower_case": "and goes on as one does within a sentence",
    "goes_on_seamlessly": "and goes on with new words at once, without faltering",
    "run_said_again": "the longest run of words from before the sound that is said again after it",
    "begins_again": "how many first words of the broken sentence are said again in a row",
    "end_said_again": "how many last words before the sound are the first ones after it",
    "stutters": "words said twice in a row after the sound",
    "hesitates": "uh, um and the like after the sound",
    "repairs": "phrases with which a speaker looks for a lost thread",
    "named_in_remark": "the remark names the sound, and nobody had named it before",
    "named_after": "what the speaker says after the sound names it",
    "named_in_next_turns": "how many of the next two turns name the sound",
    "named_before": "the sound's name was said before it was heard, so that it belongs to the topic",
    "notices": "words of hearing, seeing and pointing in the remark",
    "notices_in_next_turns": "the same in the next two turns",
    "exclaims": "an exclamation begins the remark",
    "remark_asks": "the remark is a question",
    "remark_shouts": "the remark has an exclamation mark",
    "next_turn_shouts": "the next turn has one",
    "remark_words": "length of the remark (logarithm)",
    "rest_words": "length of what the speaker says after the remark (logarithm)",
    "rest_joins_on": "what the speaker says after the remark begins with and, but, so, anyway or the like",
    "resumes": "the speaker before the sound is the one after it",
    "name~remark": "the remark means something like the sound's name",
    "name~rest": "so does what the speaker says after the remark",
    "name~next_turns": "so do the next two turns",
    "name~talk": "so does the talk elsewhere",
    "name~next_turns_over_before": "the next two turns are nearer to the sound's name than anything before it",
    "name~remark_over_before": "the remark is nearer to the sound's name than anything before it",
    "talk~remark": "the remark is about what the talk elsewhere is about",
    "talk~rest": "so is what the speaker says after the remark, or the remark when that is all",
    "talk~next_turn": "so is the next turn",
    "talk~second_turn": "so is the turn after it",
    "talk~next_turns": "so are both of them together",
    "nearest~remark": "the one turn elsewhere that is most like the remark",
    "nearest~next_turn": "the one that is most like the next turn",
    "nearest~second_turn": "the one that is most like the turn after it",
    "tail~remark": "the remark goes on about what the speaker said just before the sound",
    "remark~next_turn": "the next turn answers the remark",
    "next_turn~remark_over_talk": "the next turn is nearer to the remark than to the talk elsewhere",
}
"""What each feature says; those of `Cues.meanings` are explained by their sentences (`remark_…`, `next_turns_…`).

The remark is the first sentence after the sound, or the first two if that one is short. The talk elsewhere is all that
is said before the sound and from the third turn after its own on. `a~b` is the cosine of two meanings.
"""


class Encoder(Protocol):
    """Whatever turns texts into unit vectors, [len(texts), dimension]; an empty text into the zero vector."""

    def encode(self, texts: Sequence[str]) -> Vectors: ...


class SoundNames:
    """How a sound is called: from the catalog if it knows the sound, else from the words of its id."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def display(self, sound: str) -> str:
        """A noun phrase for the encoder, such as "dog bark"."""
        known = self._catalog.sounds.get(sound)
        return known.display if known else re.sub(r"[_-]+", " ", sound)

    def is_named(self, sound: str, text: str) -> bool:
        """Whether a word of the text names the sound or its source."""
        if known := self._catalog.sounds.get(sound):
            return known.mention_in(text) is not None
        stems = [_stem(word) for word in re.split(r"[_-]+", sound.lower()) if len(word) > 2]
        return any(_stem(word) in stems for word in words_of(text))


def _stem(word: str) -> str:
    """A word without its commonest endings, for ids outside the catalog: barking, barks, bark."""
    short = re.sub(r"(ing|ed|es|er|s|e)$", "", word)
    return short if len(short) > 2 else word


def features(place: Around, names: SoundNames, cues: Cues, encoder: Encoder) -> dict[str, float]:
    """All features of one sound, by name, rounded to 5 decimals; the order of the names is always the same."""
    found = _word_features(place, names, cues) | _meaning_features(place, names, cues, encoder)
    return {name: round(float(value), 5) for name, value in found.items()}


def _word_features(place: Around, names: SoundNames, cues: Cues) -> dict[str, float]:
    head, rest = head_and_rest(place.after, cues.repairs)
    next_turn, second_turn = (*place.later, "", "")[:2]
    tail_words, after_words = words_of(place.tail), words_of(place.after)
    broken = words_of((sentences_of(place.tail) or [""])[-1])
    resumed = without_fillers(after_words, cues.fillers)
    unfinished = is_unfinished(place.tail) and place.resumes
    run = longest_run(tail_words, resumed)
    sound = place.heard.sound
    named_head, named_after = names.is_named(sound, head), names.is_named(sound, place.after)
    named_later = [names.is_named(sound, turn) for turn in (next_turn, second_turn)]
    named_before = names.is_named(sound, " ".join((*place.earlier, place.tail)))
    return {
        "unfinished_before": unfinished,
        "goes_on_in_lower_case": unfinished and place.after[:1].islower(),
        "goes_on_seamlessly": unfinished and run < 2 and not _falters(place.after, cues),
        "run_said_again": run,
        "begins_again": begins_again(without_fillers(broken, cues.fillers), resumed),
        "end_said_again": repeats_end(without_fillers(tail_words, cues.fillers), resumed),
        "stutters": stutters(resumed),
        "hesitates": min(sum(word in cues.hesitations for word in after_words[:8]), 3),
        "repairs": min(counts(place.after, cues.repairs), 2),
        "named_in_remark": named_head and not named_before,
        "named_after": named_after,
        "named_in_next_turns": sum(named_later),
        "named_before": named_before,
        "notices": min(counts(head, cues.noticing), 3),
        "notices_in_next_turns": min(counts(f"{next_turn} {second_turn}", cues.noticing), 3),
        "exclaims": min(counts(" ".join(words_of(head)[:4]), cues.exclaiming), 2),
        "remark_asks": "?" in head,
        "remark_shouts": "!" in head,
        "next_turn_shouts": "!" in next_turn,
        "remark_words": np.log1p(len(words_of(head))),
        "rest_words": np.log1p(len(words_of(rest))),
        "rest_joins_on": words_of(rest)[:1] in [[word] for word in cues.joining],
        "resumes": place.resumes,
    }


def head_and_rest(after: str, repairs: tuple[str, ...] = ()) -> tuple[str, str]:
    """What follows a sound, in two: the first sentence (or two, if the first has at most three words), and the rest.

    Sentences at the beginning that hold one of `repairs` are left out, so that a question for the lost thread is not
    taken for one about the sound.
    """
    parts = sentences_of(after)
    while len(parts) > 1 and counts(parts[0], repairs):
        parts = parts[1:]
    size = 2 if len(parts) > 1 and len(words_of(parts[0])) <= 3 else 1
    return " ".join(parts[:size]), " ".join(parts[size:])


def _falters(after: str, cues: Cues) -> bool:
    first = words_of(after)[:3]
    return any(word in cues.hesitations for word in first) or counts(after, cues.repairs) > 0


def _meaning_features(place: Around, names: SoundNames, cues: Cues, encoder: Encoder) -> dict[str, float]:
    head, rest = head_and_rest(place.after, cues.repairs)
    next_turn, second_turn = (*place.later, "", "")[:2]
    both = f"{next_turn} {second_turn}".strip()
    texts = [names.display(place.heard.sound), head, rest, next_turn, second_turn, both, place.tail]
    name, v_head, v_rest, v_next, v_second, v_both, v_tail = encoder.encode(texts)
    before = encoder.encode([*place.earlier, place.tail])
    elsewhere = encoder.encode([*place.earlier, place.tail, *place.beyond])
    talk, later = _unit(elsewhere.mean(axis=0)), _unit(v_next + v_second)
    found = {
        "name~remark": name @ v_head,
        "name~rest": name @ v_rest,
        "name~next_turns": name @ later,
        "name~talk": name @ talk,
        "name~next_turns_over_before": name @ later - max(before @ name),
        "name~remark_over_before": name @ v_head - max(before @ name),
        "talk~remark": talk @ v_head,
        "talk~rest": talk @ (v_rest if rest else v_head),
        "talk~next_turn": talk @ v_next,
        "talk~second_turn": talk @ v_second,
        "talk~next_turns": talk @ v_both,
        "nearest~remark": max(elsewhere @ v_head),
        "nearest~next_turn": max(elsewhere @ v_next),
        "nearest~second_turn": max(elsewhere @ v_second),
        "tail~remark": v_tail @ v_head,
        "remark~next_turn": v_head @ v_next,
        "next_turn~remark_over_talk": v_head @ v_next - talk @ v_next,
    }
    for meaning, vectors in _meanings(cues.meanings, encoder).items():
        found[f"remark_{meaning}"] = max(vectors @ v_head)
        found[f"next_turns_{meaning}"] = max(max(vectors @ v_next), max(vectors @ v_second))
    return {key: float(value) for key, value in found.items()}


def _meanings(sentences: Mapping[str, tuple[str, ...]], encoder: Encoder) -> dict[str, Vectors]:
    return {label: encoder.encode(listed) for label, listed in sentences.items()}


def _unit(vector: Vectors) -> Vectors:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
