"""What the recogniser hears in the mixes, and its word error rate there and on the dry speech."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from cares.asr.types import RecognisedWord
from cares.asr.wer import WordErrors, normalised, word_errors
from cares.bench.scores_wer import word_error_figure
from cares.core.canonical import Json
from cares.core.executor import progress
from cares.core.pcm import Samples, read_samples
from cares.records.speech import SceneSpeech, Utterance
from cares.records.timeline import MixedScene, PlacedWord
from cares.records.transcript import HeardWord, Transcript

NO_ERRORS = WordErrors(n_reference=0, substitutions=0, deletions=0, insertions=0)
Recognise = Callable[[Samples], Sequence[RecognisedWord]]


def hear_scenes(
    scenes: Sequence[MixedScene], recognise: Recognise, recogniser: str, root: Path
) -> Iterator[Transcript]:
    """Every scene's mix as recognised, one after the other, in the order of the scenes.

    Args:
        scenes: finished scenes; their files lie under `root`.
        recognise: from 44.1 kHz samples [T] to words with times in the same samples.
        recogniser: its name, kept in the record.
        root: the repository.

    Raises:
        InputError: a file is missing or is not 44.1 kHz mono 16-bit.
    """
    return (
        Transcript(
            scene_id=scene.scene_id,
            audio_sha256=scene.sha256,
            recogniser=recogniser,
            words=tuple(
                HeardWord(word=word.text, start_sample=word.start_sample, end_sample=word.end_sample)
                for word in recognise(read_samples(root / scene.path))
            ),
        )
        for scene in progress(scenes, desc="transcribe", unit="scene")
    )


def mix_errors(scenes: Iterable[MixedScene], transcripts: Iterable[Transcript], resamples: int, seed: int) -> Json:
    """Word error rate over all mixes as one corpus, its interval and counts, and the scene that was heard worst.

    `ci95` is from `resamples` resamples of templates; None where there is only one.
    """
    counts: list[WordErrors] = []
    templates: list[str] = []
    total = NO_ERRORS
    worst = ("", -1.0)
    for scene, transcript in zip(scenes, transcripts, strict=True):
        found = word_errors(_text(scene.words), _text(transcript.words))
        counts.append(found)
        templates.append(scene.template_id)
        total += found
        if found.rate > worst[1]:
            worst = (scene.scene_id, found.rate)
    return {
        "word_error_rate": round(total.rate, 4),
        "ci95": word_error_figure(counts, templates, resamples, seed)["ci95"],
        "words": total.n_reference,
        "substitutions": total.substitutions,
        "deletions": total.deletions,
        "insertions": total.insertions,
        "worst_scene": {"scene_id": worst[0], "word_error_rate": round(worst[1], 4)},
    }


def dry_errors(speech: Iterable[SceneSpeech], templates: Mapping[str, str], resamples: int, seed: int) -> Json:
    """Word error rate on the dry utterances of the same scenes, as measured when they were accepted, and its interval.

    Each utterance's rate counts as so many errors, to the nearest whole one, in the words of its normalised text. It is
    the rate after bad takes were spoken again, and utterance by utterance: a floor for the mixes, not the same
    measurement without the sounds.

    Args:
        speech: the spoken scenes; those that are not in `templates` are left out.
        templates: template of each scene by its id.
        resamples: resamples of templates for `ci95`, which is None where there is only one.
        seed: the data set's seed.
    """
    counts: list[WordErrors] = []
    blocks: list[str] = []
    for scene in speech:
        if scene.scene_id in templates:
            counts.append(sum(map(_utterance_errors, scene.utterances), NO_ERRORS))
            blocks.append(templates[scene.scene_id])
    total = sum(counts, NO_ERRORS)
    if not total.n_reference:
        return {"word_error_rate": None, "ci95": None, "words": 0}
    return {
        "word_error_rate": round(total.rate, 4),
        "ci95": word_error_figure(counts, blocks, resamples, seed)["ci95"],
        "words": total.n_reference,
    }


def _utterance_errors(utterance: Utterance) -> WordErrors:
    """An utterance's rate as a count; of which kind the errors were is not recorded."""
    words = len(normalised(utterance.text).split())
    errors = round(utterance.word_error_rate * words)
    return WordErrors(n_reference=words, substitutions=errors, deletions=0, insertions=0)


def _text(words: Sequence[PlacedWord | HeardWord]) -> str:
    return " ".join(word.word for word in sorted(words, key=lambda word: word.start_sample))
