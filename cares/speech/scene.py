"""A scene spoken: utterances tried until they pass, voices changed when one cannot, a failure told when none can."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from cares.asr.wer import WordErrors
from cares.core.pcm import Samples, samples_digest
from cares.records.dialogue import Dialogue
from cares.records.scene import Scene
from cares.records.speech import SceneSpeech, Utterance
from cares.speech.company import speakers_likeness
from cares.speech.script import Line, ScriptError, script
from cares.speech.studio import NO_ERRORS, Studio, Take
from cares.speech.voices import Cast, other_casts, speaking_rate


class SpokenScene(NamedTuple):
    """A scene's record, its samples (none after a failure) and what the metrics count."""

    record: SceneSpeech
    samples: Samples
    errors: WordErrors
    tries: int
    casts: int
    faults: Counter[str]
    speakers_likeness: float | None = None


class _Performance(NamedTuple):
    """A dialogue spoken by one cast: the last take of each line, its number of tries, and the line that failed.

    `faults` counts every fault of a take, mended or not; `likeness` is that of the two speakers' voices.
    """

    cast: Cast
    takes: tuple[Take, ...]
    tries: tuple[int, ...]
    failed: int | None
    faults: Counter[str]
    likeness: float | None = None


def speak_scene(scene: Scene, dialogue: Dialogue, first_cast: Cast, studio: Studio, path: str) -> SpokenScene:
    """Speak a dialogue, its utterances one behind the other without gaps.

    An utterance that fails a check, by itself or beside the speaker's others, is spoken again with another seed and
    pace, up to `tries` times; then the whole scene is spoken with other voices, those first that keep the other
    speaker's, up to `casts` pairs. So it is when the two voices are too much alike. What still fails is recorded in
    `failure`: the name of the fault, then where.

    Args:
        scene: genders and split.
        dialogue: the words.
        first_cast: the voices of A and B to begin with.
        studio: speaks and checks.
        path: where the sound file will lie, for the record.
    """
    try:
        lines = script(dialogue)
    except ScriptError as error:
        return _failed(scene, first_cast, str(error), 0, 1, Counter())
    waiting = other_casts(scene, first_cast, studio.voices, studio.seed)
    cast, tries, casts = first_cast, 0, 0
    faults: Counter[str] = Counter()
    while True:
        performance = _perform(lines, scene.scene_id, cast, studio)
        tries, casts = tries + sum(performance.tries), casts + 1
        faults += performance.faults
        failed = performance.failed
        if failed is None:
            return _finished(scene, lines, performance, path, tries, casts, faults)
        better = _preferred(waiting, cast, lines[failed].speaker)
        if not better or casts == studio.params.casts:
            failure = _describe(performance.takes[failed], lines[failed], failed)
            return _failed(scene, cast, failure, tries, casts, faults)
        cast = better[0]
        waiting.remove(cast)


def _perform(lines: Sequence[Line], scene_id: str, cast: Cast, studio: Studio) -> _Performance:
    """Every line spoken once and heard together; then those with a fault again, until all pass or one cannot."""

    def speak(index: int, attempt: int) -> Take:
        line = lines[index]
        pace = speaking_rate(studio.seed, scene_id, line.speaker, studio.params.rate_spread_percent)
        return studio.speak(line, scene_id, index, _voice(cast, line), pace, attempt)

    takes = studio.hear_together([speak(index, 0) for index in range(len(lines))], lines)
    tries = [1] * len(lines)
    faults: Counter[str] = Counter()
    while True:
        takes = studio.compare(takes, lines)
        faulty = [index for index, take in enumerate(takes) if take.fault]
        faults.update(takes[index].fault for index in faulty)
        if not faulty:
            break
        for index in faulty:
            if tries[index] == studio.params.tries:
                return _Performance(cast, tuple(takes), tuple(tries), index, faults)
            takes[index] = studio.hear(speak(index, tries[index]), lines[index])
            tries[index] += 1
    likeness = speakers_likeness(studio.voiced(takes, lines))
    if likeness is None or likeness <= studio.params.max_speakers_likeness:
        return _Performance(cast, tuple(takes), tuple(tries), None, faults, likeness)
    second = next(index for index, line in enumerate(lines) if line.speaker != lines[0].speaker)
    takes[second] = takes[second]._replace(fault="voices_alike")
    faults["voices_alike"] += 1
    return _Performance(cast, tuple(takes), tuple(tries), second, faults, likeness)


def _voice(cast: Cast, line: Line) -> str:
    return cast["AB".index(line.speaker)]


def _preferred(casts: Sequence[Cast], failed: Cast, speaker: str) -> list[Cast]:
    """Casts that change the speaker's voice, first those that keep the other's."""
    who = "AB".index(speaker)
    changed = [cast for cast in casts if cast[who] != failed[who]]
    return sorted(changed, key=lambda cast: cast[1 - who] != failed[1 - who])


def _describe(take: Take, line: Line, index: int) -> str:
    heard = f", heard as {take.heard!r}" if take.heard else ""
    return f"{take.fault}: utterance {index} (turn {line.turn}, {line.speaker}): {line.text!r}{heard}"


def _failed(scene: Scene, cast: Cast, failure: str, tries: int, casts: int, faults: Counter[str]) -> SpokenScene:
    record = SceneSpeech(
        scene_id=scene.scene_id,
        split=scene.split,
        path="",
        pcm_sha256=None,
        voices=cast,
        utterances=(),
        failure=failure,
    )
    return SpokenScene(record, np.zeros(0, np.int16), NO_ERRORS, tries, casts, faults)


def _finished(
    scene: Scene,
    lines: Sequence[Line],
    performance: _Performance,
    path: str,
    tries: int,
    casts: int,
    faults: Counter[str],
) -> SpokenScene:
    takes = performance.takes
    samples: Samples = np.concatenate([take.samples for take in takes])
    lengths = [len(take.samples) for take in takes]
    utterances = tuple(
        Utterance(
            index=index,
            turn=line.turn,
            speaker=line.speaker,
            text=line.text,
            segments=line.segments,
            cut=line.cut,
            voice=_voice(performance.cast, line),
            engine=take.engine,
            tries=performance.tries[index],
            word_error_rate=round(take.errors.rate, 4),
            start_sample=sum(lengths[:index]),
            n_samples=lengths[index],
            level_cdb=round(100 * take.measures.level_db),
            pause_ms=take.measures.pause_ms,
            letters_per_s=round(take.measures.letters_per_s, 2),
            voice_likeness=None if take.likeness is None else round(take.likeness, 3),
        )
        for index, (line, take) in enumerate(zip(lines, takes, strict=True))
    )
    record = SceneSpeech(
        scene_id=scene.scene_id,
        split=scene.split,
        path=path,
        pcm_sha256=samples_digest(samples),
        voices=performance.cast,
        utterances=utterances,
    )
    errors = reduce(add, (take.errors for take in takes))
    return SpokenScene(record, samples, errors, tries, casts, faults, performance.likeness)
