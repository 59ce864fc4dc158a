"""What the metrics say of many spoken scenes: failures and faults by name, word errors, voices, pace and pauses."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cares.asr.wer import WordErrors
from cares.core.canonical import Json
from cares.core.errors import CaresError
from cares.records.speech import SceneSpeech
from cares.speech.studio import NO_ERRORS

SHARES = {"lowest": 0, "p5": 5, "median": 50, "p95": 95, "highest": 100}
SPREADS = ("letters_per_s", "longest_pause_ms", "likeness_of_a_speakers_utterances", "likeness_of_two_speakers")


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


@dataclass
class SpeechTally:
    """What the metrics say of scenes that are told one by one; of an utterance only a few numbers are kept.

    `failures` are the scenes that failed: id and fault, in the order in which they were told.
    """

    counts: Counter[str] = field(default_factory=Counter)
    errors: WordErrors = NO_ERRORS
    faults: Counter[str] = field(default_factory=Counter)
    voices: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)
    spreads: dict[str, array[float]] = field(default_factory=lambda: {name: array("d") for name in SPREADS})

    def counted(self, spoken: Iterable[Spoken]) -> Iterator[SceneSpeech]:
        """The scenes' records, counted."""
        for scene in spoken:
            self._count(scene)
            yield scene.record

    def figures(self) -> Json:
        """Counts over all scenes; rates, voices and paces are those of the scenes without failure.

        The word error rate is that of all words together. `faults` counts tries, mended or not; `failures` counts
        scenes.
        """
        errors, counts = self.errors, self.counts
        return {
            "scenes": counts["scenes"],
            "failed_scenes": len(self.failures),
            "failures": self._kinds(),
            "faults": dict(sorted(self.faults.items())),
            "scenes_with_other_voices": counts["scenes_with_other_voices"],
            "utterances": counts["utterances"],
            "utterances_spoken_again": counts["utterances_spoken_again"],
            "tries": counts["tries"],
            "words": errors.n_reference,
            "word_errors": errors.substitutions + errors.deletions + errors.insertions,
            "word_error_rate": round(errors.rate, 4),
            "samples": counts["samples"],
            "scenes_by_voice": dict(sorted(self.voices.items())),
            **{name: spread(values) for name, values in self.spreads.items()},
        }

    def check(self) -> None:
        """CaresError when every scene failed: then an engine, the recogniser or a threshold is at fault, not a text."""
        if self.failures and len(self.failures) == self.counts["scenes"]:
            told = ", ".join(f"{kind} {count}" for kind, count in self._kinds().items())
            raise CaresError(
                f"speech: none of {len(self.failures)} scenes could be spoken ({told}); the first: "
                f"{self.failures[0][1]}. docs/speech.md says what each fault means and which threshold it has"
            )

    def _kinds(self) -> dict[str, int]:
        return dict(sorted(Counter(fault.split(":")[0] for _, fault in self.failures).items()))

    def _count(self, scene: Spoken) -> None:
        record = scene.record
        self.errors += scene.errors
        self.faults += scene.faults
        self.counts.update(scenes=1, tries=scene.tries, scenes_with_other_voices=scene.casts > 1)
        if record.failure:
            self.failures.append((record.scene_id, record.failure))
        else:
            self.voices.update(record.voices)
        if scene.speakers_likeness is not None:
            self.spreads["likeness_of_two_speakers"].append(scene.speakers_likeness)
        for utterance in record.utterances:
            self.counts.update(utterances=1, utterances_spoken_again=utterance.tries > 1, samples=utterance.n_samples)
            self.spreads["letters_per_s"].append(utterance.letters_per_s)
            self.spreads["longest_pause_ms"].append(utterance.pause_ms)
            if utterance.voice_likeness is not None:
                self.spreads["likeness_of_a_speakers_utterances"].append(utterance.voice_likeness)


def spread(values: Sequence[float]) -> Json:
    """Lowest, 5th percentile, median, 95th and highest of some values, to three digits; nothing of none."""
    if not values:
        return {}
    return {name: round(float(np.percentile(values, share)), 3) for name, share in SHARES.items()}
