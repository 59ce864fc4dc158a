"""Named numbers that tell how the talk goes on across a sound.

They come from three sources: words (names of the sound, repairs, exclamations, words said again), marks (an unfinished
sentence, a question) and the meaning of what is said before and after, as cosines of a sentence encoder. Every feature
is a plain property of the transcript; nothing knows the label, the scene's plan or the writer.
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
        stems = [_stem(word) for word in re.split(r"[_-]+", sound) if len(word) > 2]
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
    head, rest = head_and_rest(place.after)
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
    noticing = min(counts(head, cues.noticing), 3)
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
        "notices": noticing,
        "notices_in_next_turns": min(counts(f"{next_turn} {second_turn}", cues.noticing), 3),
        "exclaims": min(counts(" ".join(words_of(head)[:4]), cues.exclaiming), 2),
        "remark_asks": "?" in head,
        "remark_shouts": "!" in head,
        "next_turn_shouts": "!" in next_turn,
        "remark_words": np.log1p(len(words_of(head))),
        "rest_words": np.log1p(len(words_of(rest))),
        "resumes": place.resumes,
    }


def head_and_rest(after: str) -> tuple[str, str]:
    """What follows a sound, in two: the first sentence (or two, if the first has at most three words), and the rest."""
    parts = sentences_of(after)
    size = 2 if len(parts) > 1 and len(words_of(parts[0])) <= 3 else 1
    return " ".join(parts[:size]), " ".join(parts[size:])


def _falters(after: str, cues: Cues) -> bool:
    first = words_of(after)[:3]
    return any(word in cues.hesitations for word in first) or counts(after, cues.repairs) > 0


def _meaning_features(place: Around, names: SoundNames, cues: Cues, encoder: Encoder) -> dict[str, float]:
    head, rest = head_and_rest(place.after)
    next_turn, second_turn, _ = (*place.later, "", "", "")[:3]
    context = [*place.earlier, place.tail]
    texts = [names.display(place.heard.sound), head, rest, place.after, next_turn, second_turn, place.tail]
    name, v_head, v_rest, v_after, v_next, v_second, v_tail = encoder.encode(texts)
    said = encoder.encode(context)
    topic = _unit(said.mean(axis=0))
    later = _unit(v_next + v_second)
    meanings = _meanings(cues.meanings, encoder)
    found = {
        "name~remark": name @ v_head,
        "name~rest": name @ v_rest,
        "name~next_turns": name @ later,
        "name~before": name @ topic,
        "name~next_turns_over_before": name @ later - max(said @ name),
        "name~remark_over_before": name @ v_head - max(said @ name),
        "topic~remark": topic @ v_head,
        "topic~after": topic @ v_after,
        "topic~rest": topic @ v_rest if rest else topic @ v_head,
        "topic~next_turn": topic @ v_next,
        "topic~next_turns": topic @ later,
        "tail~remark": v_tail @ v_head,
        "remark~next_turn": v_head @ v_next,
        "next_turn~remark_over_topic": v_head @ v_next - topic @ v_next,
    }
    for label, vectors in meanings.items():
        found[f"remark_{label}"] = max(vectors @ v_head)
        found[f"next_turns_{label}"] = max(max(vectors @ v_next), max(vectors @ v_second))
    return {key: float(value) for key, value in found.items()}


def _meanings(sentences: Mapping[str, tuple[str, ...]], encoder: Encoder) -> dict[str, Vectors]:
    return {label: encoder.encode(listed) for label, listed in sentences.items()}


def _unit(vector: Vectors) -> Vectors:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
