"""What the recogniser hears in the mixes, and its word error rate there and on the dry speech."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import jiwer

from cares.core.canonical import Json
from cares.core.executor import progress
from cares.core.pcm import Samples, read_samples
from cares.records.speech import SceneSpeech
from cares.records.timeline import MixedScene, PlacedWord
from cares.records.transcript import HeardWord, Transcript


class _RecognisedWord(Protocol):
    text: str
    start_sample: int
    end_sample: int


Recognise = Callable[[Samples], Sequence[_RecognisedWord]]


class Errors(NamedTuple):
    """Edits that turn a reference into what was heard, and the reference's length, in words."""

    substitutions: int
    deletions: int
    insertions: int
    words: int


def hear_scenes(scenes: Sequence[MixedScene], recognise: Recognise, recogniser: str, root: Path) -> list[Transcript]:
    """Every scene's mix as recognised, in the order of the scenes.

    Args:
        scenes: finished scenes; their files lie under `root`.
        recognise: from 44.1 kHz samples [T] to words with times in the same samples.
        recogniser: its name, kept in the record.
        root: the repository.

    Raises:
        InputError: a file is missing or is not 44.1 kHz mono 16-bit.
    """
    return [
        Transcript(
            scene_id=scene.scene_id,
            audio_sha256=scene.sha256,
            recogniser=recogniser,
            words=tuple(
                HeardWord(word=word.text.strip(), start_sample=word.start_sample, end_sample=word.end_sample)
                for word in recognise(read_samples(root / scene.path))
            ),
        )
        for scene in progress(scenes, desc="transcribe", unit="scene")
    ]


def count_errors(reference: str, heard: str, normalise: Callable[[str], str]) -> Errors:
    """Word edits between two texts, both normalised (Levenshtein alignment, jiwer)."""
    truth, guess = normalise(reference), normalise(heard)
    if not truth:
        return Errors(0, 0, len(guess.split()), 0)
    if not guess:
        return Errors(0, len(truth.split()), 0, len(truth.split()))
    found = jiwer.process_words(truth, guess)
    return Errors(found.substitutions, found.deletions, found.insertions, len(truth.split()))


def mix_errors(
    scenes: Sequence[MixedScene], transcripts: Sequence[Transcript], normalise: Callable[[str], str]
) -> Json:
    """Word error rate over all mixes as one corpus, and scene by scene."""
    by_scene = {
        scene.scene_id: count_errors(_text(scene.words), _text(transcript.words), normalise)
        for scene, transcript in zip(scenes, transcripts, strict=True)
    }
    worst = max(by_scene, key=lambda scene_id: (_rate(by_scene[scene_id]) or 0.0, scene_id))
    return {
        **_summary(list(by_scene.values())),
        "worst_scene": {"scene_id": worst, "word_error_rate": _rate(by_scene[worst])},
    }


def dry_errors(speech: Sequence[SceneSpeech], scene_ids: set[str], normalise: Callable[[str], str]) -> Json:
    """Word error rate on the dry utterances of the same scenes, as measured when they were accepted.

    Each utterance's rate is weighted by the words of its normalised text. It is the rate after bad takes were spoken
    again, and utterance by utterance: a floor for the mixes, not the same measurement without the sounds.
    """
    words, errors = 0, 0.0
    for scene in speech:
        for utterance in scene.utterances if scene.scene_id in scene_ids else ():
            length = len(normalise(utterance.text).split())
            words += length
            errors += utterance.word_error_rate * length
    return {"word_error_rate": round(errors / words, 4) if words else None, "words": words}


def _text(words: Sequence[PlacedWord | HeardWord]) -> str:
    return " ".join(word.word for word in sorted(words, key=lambda word: word.start_sample))


def _rate(errors: Errors) -> float | None:
    if not errors.words:
        return None
    return round((errors.substitutions + errors.deletions + errors.insertions) / errors.words, 4)


def _summary(parts: Sequence[Errors]) -> Json:
    total = Errors(*(sum(column) for column in zip(*parts, strict=True)))
    return {"word_error_rate": _rate(total), **total._asdict()}
