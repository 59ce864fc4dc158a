"""How much of what an engine can do wrong is found: good clips of a finished data set, damaged in known ways.

Run it from the repository's root with a finished data/speech:

    python benchmarks/bench_quality.py            # sound and voices, a minute
    python benchmarks/bench_quality.py --words 20 # and what a recogniser hears in every 20th clip
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soxr

from cares.asr.recogniser import Recogniser
from cares.core.params import Params
from cares.core.pcm import SAMPLE_RATE, Samples, read_samples
from cares.core.record import read_records
from cares.records.speech import SceneSpeech
from cares.speech.checks import fault_of_measures, fault_of_words
from cares.speech.company import SHORTEST_SAMPLES, Voiced, fault_of_standing, standings
from cares.speech.hearing import heard_errors
from cares.speech.measures import measure
from cares.speech.params import SpeechParams
from cares.speech.signal import speech_span
from cares.speech.spoken import spoken_text
from cares.speech.voiceprint import SpeakerEncoder

SPEECH = Path("data/speech/speech.jsonl")
SWAPS = 8


class Clip(NamedTuple):
    """An utterance that is not cut."""

    scene: str
    speaker: str
    voice: str
    words: list[str]
    samples: Samples


def clips() -> list[Clip]:
    """Every utterance of the data set that is not cut."""
    found: list[Clip] = []
    for scene in read_records(SceneSpeech, SPEECH):
        if scene.failure:
            continue
        sound = read_samples(Path(scene.path))
        for one in scene.utterances:
            if not one.cut:
                samples = sound[one.start_sample : one.start_sample + one.n_samples]
                found.append(Clip(scene.scene_id, one.speaker, one.voice, spoken_text(one.text).split(), samples))
    return found


def silence(seconds: float) -> Samples:
    """Zeros."""
    return np.zeros(round(seconds * SAMPLE_RATE), np.int16)


def faster(samples: Samples, factor: float) -> Samples:
    """The clip at another speed, its pitch changed with it."""
    sound = soxr.resample(samples.astype(np.float64), SAMPLE_RATE * factor, SAMPLE_RATE)
    changed: Samples = np.clip(np.rint(sound), -32768, 32767).astype(np.int16)
    return changed


def damaged_sounds(clip: Samples, params: SpeechParams) -> Iterator[tuple[str, Samples]]:
    """The clip and what was made of it, each with its name."""
    lead, tail = SAMPLE_RATE * params.lead_ms // 1000, SAMPLE_RATE * params.tail_ms // 1000
    middle = len(clip) // 2
    yield "none", clip
    for seconds in (0.02, 0.05, 0.1, 0.2):
        yield f"start cut off by {seconds} s", clip[lead + round(seconds * SAMPLE_RATE) :]
    for seconds in (0.05, 0.1, 0.2, 0.4):
        yield f"end cut off by {seconds} s", clip[: len(clip) - tail - round(seconds * SAMPLE_RATE)]
    for seconds in (1.0, 1.5, 2.0, 3.0):
        yield f"pause of {seconds} s", np.concatenate([clip[:middle], silence(seconds), clip[middle:]])
    for factor in (0.5, 0.6, 0.7, 1.5, 1.8, 2.0, 2.5):
        yield f"speed {factor}", faster(clip, factor)
    yield "half", np.concatenate([clip[:middle], silence(0.1)])
    yield "twice", np.concatenate([clip, silence(0.2), clip])
    yield "ten times", np.concatenate([clip] * 10)


def damaged_texts(clip: Samples, other: Samples) -> Iterator[tuple[str, Samples]]:
    """The clip and what was made of it for the recogniser; `other` is another clip of the voice."""
    low, high = len(clip) * 3 // 10, len(clip) * 6 // 10
    yield "none", clip
    yield "all twice", np.concatenate([clip, silence(0.2), clip])
    yield "a part twice", np.concatenate([clip[:high], clip[low:]])
    yield "another text behind", np.concatenate([clip, silence(0.1), other[: SAMPLE_RATE * 6 // 5]])
    yield "first half", clip[: len(clip) // 2]
    yield "last fifth cut off", np.concatenate([clip[: len(clip) * 8 // 10], silence(0.04)])


def sounds(good: list[Clip], params: SpeechParams) -> None:
    """Print how often each damage of the sound is found, and as what."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for clip in good:
        for name, samples in damaged_sounds(clip.samples, params):
            start, end = speech_span(samples, params.trim_db, params.lead_ms, params.tail_ms)
            trimmed = samples[start:end]
            found[name][fault_of_measures(measure(trimmed, clip.words), len(trimmed), clip.words, params)] += 1
    for name, faults in found.items():
        caught = sum(count for fault, count in faults.items() if fault)
        print(f"{name:22} {caught / len(good):6.1%} of {len(good)}  {dict(faults)}")


def voices(good: list[Clip], params: SpeechParams) -> None:
    """Print how often an utterance in another voice is found, by pair of voices, and false alarms."""
    encoder = SpeakerEncoder(params.speaker_encoder)
    known = [clip for clip in good if len(clip.samples) >= SHORTEST_SAMPLES]
    voiced = [Voiced(clip.speaker, encoder.voiceprint(clip.samples), 0.0) for clip in known]
    by_voice: dict[str, list[Voiced]] = defaultdict(list)
    for clip, one in zip(known, voiced, strict=True):
        by_voice[clip.voice].append(one)
    alarms, pairs = 0, defaultdict(list)
    for scene in sorted({clip.scene for clip in known}):
        places = [index for index, clip in enumerate(known) if clip.scene == scene]
        company = [voiced[index] for index in places]
        alarms += sum(bool(one and fault_of_standing(one, params)) for one in standings(company))
        for place, index in enumerate(places):
            for voice, others in by_voice.items():
                if voice == known[index].voice:
                    continue
                for other in others[:SWAPS]:
                    swapped = [*company]
                    swapped[place] = other._replace(speaker=known[index].speaker)
                    standing = standings(swapped)[place]
                    pairs[tuple(sorted((voice, known[index].voice)))].append(
                        bool(standing and fault_of_standing(standing, params))
                    )
    print(f"voices, false alarms: {alarms} of {len(known)}")
    for pair, caught in sorted(pairs.items()):
        print(f"{' for '.join(pair):32} {np.mean(caught):6.1%} of {len(caught)}")


def texts(good: list[Clip], params: SpeechParams, step: int) -> None:
    """Print how often each damage of the text is found, and how often by the word error rate alone."""
    recogniser = Recogniser(params.recogniser)
    found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for index in range(0, len(good), step):
        clip = good[index]
        other = next(one for one in good[index + 1 :] + good if one.voice == clip.voice and one is not clip)
        for name, samples in damaged_texts(clip.samples, other.samples):
            heard = recogniser.text(samples)
            errors = heard_errors(clip.words, heard)
            wrong = errors.substitutions + errors.deletions + errors.insertions
            alone = wrong > max(1.0, params.max_word_error_rate * errors.n_reference)
            found[name].append((bool(fault_of_words(clip.words, heard, errors, cut=False, params=params)), alone))
    for name, pairs in found.items():
        caught, by_errors = (sum(pair[place] for pair in pairs) for place in (0, 1))
        print(f"{name:22} {caught} of {len(pairs)}; by word errors alone {by_errors}")


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=0, metavar="N", help="hear every Nth clip and its damages")
    words = parser.parse_args().words
    params, good = Params().section("speech", SpeechParams), clips()
    sounds(good, params)
    voices(good, params)
    if words:
        texts(good, params, words)


if __name__ == "__main__":
    main()
