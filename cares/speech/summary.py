"""What the metrics say of many spoken scenes: failures and faults by name, word errors, voices, pace and pauses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cares.asr.wer import WordErrors
from cares.core.canonical import Json
from cares.core.errors import CaresError
from cares.records.speech import SceneSpeech
from cares.speech.studio import NO_ERRORS

SHARES = {"lowest": 0, "p5": 5, "median": 50, "p95": 95, "highest": 100}


class Spoken(NamedTuple):
    """What a worker hands back of a scene; the samples are in the scene's file.

    `faults` counts the faults of all tries by name; `speakers_likeness` is the cosine of the two voices, None after a
    failure or when a speaker says less than a second.
    """

    record: SceneSpeech
    errors: WordErrors
    tries: int
    casts: int
    faults: Counter[str]
    speakers_likeness: float | None = None


def speech_metrics(spoken: Sequence[Spoken]) -> Json:
    """Counts over all scenes; rates, voices and paces are those of the scenes without failure.

    The word error rate is that of all words together. `faults` counts tries, mended or not; `failures` counts scenes.
    """
    errors = sum((scene.errors for scene in spoken), NO_ERRORS)
    utterances = [utterance for scene in spoken for utterance in scene.record.utterances]
    failures = Counter(scene.record.failure.split(":")[0] for scene in spoken if scene.record.failure)
    faults = sum((scene.faults for scene in spoken), Counter[str]())
    voices = Counter(voice for scene in spoken if not scene.record.failure for voice in scene.record.voices)
    return {
        "scenes": len(spoken),
        "failed_scenes": sum(failures.values()),
        "failures": dict(sorted(failures.items())),
        "faults": dict(sorted(faults.items())),
        "scenes_with_other_voices": sum(scene.casts > 1 for scene in spoken),
        "utterances": len(utterances),
        "utterances_spoken_again": sum(utterance.tries > 1 for utterance in utterances),
        "tries": sum(scene.tries for scene in spoken),
        "words": errors.n_reference,
        "word_errors": errors.substitutions + errors.deletions + errors.insertions,
        "word_error_rate": round(errors.rate, 4),
        "samples": sum(utterance.n_samples for utterance in utterances),
        "scenes_by_voice": dict(sorted(voices.items())),
        "letters_per_s": spread([utterance.letters_per_s for utterance in utterances]),
        "longest_pause_ms": spread([utterance.pause_ms for utterance in utterances]),
        "likeness_of_a_speakers_utterances": spread(
            [utterance.voice_likeness for utterance in utterances if utterance.voice_likeness is not None]
        ),
        "likeness_of_two_speakers": spread(
            [scene.speakers_likeness for scene in spoken if scene.speakers_likeness is not None]
        ),
    }


def check_spoken(spoken: Sequence[Spoken]) -> None:
    """CaresError when every scene failed: then an engine, the recogniser or a threshold is at fault, not a text."""
    failures = [scene.record.failure for scene in spoken]
    if failures and all(failures):
        kinds = Counter(failure.split(":")[0] for failure in failures)
        told = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
        raise CaresError(
            f"speech: none of {len(failures)} scenes could be spoken ({told}); the first: {failures[0]}. "
            "docs/speech.md says what each fault means and which threshold it has"
        )


def spread(values: Sequence[float]) -> Json:
    """Lowest, 5th percentile, median, 95th and highest of some values, to three digits; nothing of none."""
    if not values:
        return {}
    return {name: round(float(np.percentile(values, share)), 3) for name, share in SHARES.items()}
