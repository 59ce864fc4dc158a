"""Where each written word lies in a scene's speech."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cares.asr.types import AlignedWord
from cares.core.pcm import Samples
from cares.records.speech import SceneAlignment, SceneSpeech, Utterance, Word
from cares.speech.packing import WordPlacer, align_together
from cares.speech.spoken import spoken_words

Span = tuple[int, int]


def align_scene(speech: SceneSpeech, samples: Samples, placer: WordPlacer) -> SceneAlignment:
    """The time of every word of every utterance, in samples of the scene's file.

    Words are those of the text as written, split at white space. A written word that is said as several ("$180") spans
    them all. Times rise and stay within the utterance; a word that the aligner gave no time, wholly or in part, or that
    has no sound of its own, is marked `interpolated`.

    Args:
        speech: a scene without failure.
        samples: its file, int16 [T] at 44,100 Hz.
        placer: finds the places of known words.
    """
    clips = [samples[u.start_sample : u.start_sample + u.n_samples] for u in speech.utterances]
    said = [spoken_words(utterance.text) for utterance in speech.utterances]
    texts = [" ".join(word for words in spoken for word in words) for spoken in said]
    found = align_together(clips, texts, placer)
    words = [
        word
        for utterance, spoken, parts in zip(speech.utterances, said, found, strict=True)
        for word in place_words(utterance, spoken, parts)
    ]
    return SceneAlignment(scene_id=speech.scene_id, words=tuple(words))


def place_words(utterance: Utterance, said: Sequence[Sequence[str]], found: Sequence[AlignedWord]) -> list[Word]:
    """The written words of one utterance.

    Args:
        utterance: its text and place.
        said: for each written word the words that are said.
        found: for each of these in turn its place from the utterance's start.
    """
    spans: list[Span | None] = []
    surely: list[bool] = []
    confidences: list[float] = []
    place = 0
    for words in said:
        parts = found[place : place + len(words)]
        place += len(words)
        timed = [part for part in parts if part.timed]
        spans.append((timed[0].start_sample, timed[-1].end_sample) if timed else None)
        surely.append(bool(parts) and len(timed) == len(parts))
        confidences.append(sum(part.probability for part in parts) / max(1, len(parts)))
    filled = fill_spans(spans, [sum(map(len, words)) for words in said], utterance.n_samples)
    return [
        Word(
            utterance=utterance.index,
            word=word,
            start_sample=utterance.start_sample + first,
            end_sample=utterance.start_sample + last,
            confidence=round(confidence, 4),
            interpolated=not sure,
        )
        for word, (first, last), confidence, sure in zip(
            utterance.text.split(), filled, confidences, surely, strict=True
        )
    ]


def fill_spans(spans: Sequence[Span | None], letters: Sequence[int], n_samples: int) -> list[Span]:
    """Spans that rise within [0, n_samples]; missing ones share the gap they lie in by their numbers of letters."""
    filled: list[Span] = []
    index = 0
    while index < len(spans):
        reached = filled[-1][1] if filled else 0
        if (span := spans[index]) is not None:
            first = min(max(span[0], reached), n_samples)
            filled.append((first, min(max(span[1], first), n_samples)))
            index += 1
            continue
        stop = next((i for i in range(index, len(spans)) if spans[i] is not None), len(spans))
        following = spans[stop] if stop < len(spans) else None
        room = max(0, min(following[0] if following else n_samples, n_samples) - reached)
        weights = letters[index:stop]
        bounds = [reached + room * sum(weights[:i]) // max(1, sum(weights)) for i in range(len(weights) + 1)]
        filled += pairwise(bounds)
        index = stop
    return filled
