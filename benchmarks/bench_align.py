"""Accuracy of alignment on speech whose word times are known, and its speed.

Three kinds of truth: phrases, and single words, that were spoken apart and joined with gaps of 0 to 600 ms; the
engines' own timing of whole sentences; and the cuts that the speech stage makes in them, against that timing.

    python benchmarks/bench_align.py
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from align_items import CHOSEN_WITH, HELD_OUT, Items

from cares.asr.aligner import Aligner
from cares.asr.truth import (
    NO_TIMING_ERRORS,
    KnownClip,
    KnownPart,
    TimingErrors,
    joined,
    spread,
    timing_errors,
    without_silence,
)
from cares.asr.types import AlignBackend
from cares.core.canonical import Json
from cares.core.pcm import SAMPLE_RATE
from cares.core.store import ItemStore
from cares.models.ensure import ensure
from cares.speech.crosscheck import known_clip
from cares.speech.engines import Engine, Speech, load_engine
from cares.speech.signal import cut_after, to_samples
from cares.speech.voices import read_table

GAPS_MS = (0, 50, 150, 300, 600)
AROUND = SAMPLE_RATE // 25
CUT_SEARCH_MS, CUT_FADE_MS = 40, 20
MODELS: dict[AlignBackend, str] = {"whisper-timestamped": "whisper-base", "faster-whisper": "whisper-base-ct2"}

VOICES = read_table()


@cache
def engine(model: str, name: str) -> Engine:
    return load_engine(name, model, ensure(model))


@cache
def spoken(voice_id: str, text: str) -> Speech:
    voice = VOICES[voice_id]
    return engine(voice.model, voice.engine).speak(text, voice.voice, 1.0, 1)


def part(voice: str, text: str) -> KnownPart:
    speech = spoken(voice, text)
    return KnownPart(without_silence(to_samples(speech.samples, speech.rate)), tuple(text.split()))


def gaps(clip: int, count: int) -> list[int]:
    """Each gap at each place once over the clips."""
    return [GAPS_MS[(clip + place) % len(GAPS_MS)] * SAMPLE_RATE // 1000 for place in range(count)]


def phrase_clips(items: Items) -> Iterator[tuple[str, KnownClip]]:
    """Phrases joined; the last one ends its sentence."""
    for voice in items.voices:
        for index, phrases in enumerate(items.clips):
            parts = [part(voice, phrase) for phrase in (*phrases[:-1], f"{phrases[-1]}.")]
            yield voice, joined(parts, gaps(index, len(parts) - 1), AROUND)


def word_clips(items: Items) -> Iterator[tuple[str, KnownClip]]:
    """Words of the first three sentences, each spoken alone."""
    for voice in items.voices:
        for index, sentence in enumerate(items.sentences[:3]):
            parts = [part(voice, word.strip(".,?")) for word in sentence.split()]
            yield voice, joined(parts, gaps(index, len(parts) - 1), AROUND)


def sentence_clips(items: Items) -> Iterator[tuple[str, KnownClip]]:
    """Whole sentences with the engine's own timing."""
    for voice in items.voices:
        for sentence in items.sentences:
            if (clip := known_clip(spoken(voice, sentence), sentence)) is not None:
                yield voice, clip


def joints(pairs: Sequence[tuple[int, int]], gap_ms: int) -> list[int]:
    return [error for gap, error in pairs if gap == gap_ms * SAMPLE_RATE // 1000]


def joined_figures(aligner: Aligner, clips: Sequence[tuple[str, KnownClip]]) -> Json:
    total = sum((errors(aligner, clip) for _, clip in clips), NO_TIMING_ERRORS)
    broken = [error for gap, error in (*total.before, *total.after) if gap]
    return {
        "starts": spread(total.starts),
        "ends": spread(total.ends),
        "at breaks": spread(total.at_breaks),
        "at breaks with a gap": spread(broken),
        "by gap": {f"{gap} ms": spread(joints((*total.before, *total.after), gap)) for gap in GAPS_MS},
        "words without a time": total.missed,
    }


def errors(aligner: Aligner, clip: KnownClip) -> TimingErrors:
    return timing_errors(clip, aligner.align(clip.samples, " ".join(clip.words)))


def sentence_figures(aligner: Aligner, clips: Sequence[tuple[str, KnownClip]]) -> Json:
    figures: dict[str, Json] = {}
    for name in sorted({engine_of(voice) for voice, _ in clips}):
        own = [clip for voice, clip in clips if engine_of(voice) == name]
        total = sum((errors(aligner, clip) for clip in own), NO_TIMING_ERRORS)
        cuts = [error for clip in own for error in cut_errors(aligner, clip)]
        figures[name] = {"starts": spread(total.starts), "ends": spread(total.ends), "cuts": spread(cuts)}
    return figures


def cut_errors(aligner: Aligner, clip: KnownClip) -> list[int]:
    """How far each possible cut of a sentence lies outside the engine's own gap between two words."""
    found = aligner.align(clip.samples, " ".join(clip.words))
    result = []
    for last in range(1, len(found) - 2):
        end, start = clip.ends[last], clip.starts[last + 1]
        if end is None or start is None:
            continue
        word, following = found[last], found[last + 1]
        cut = len(cut_after(clip.samples, word.end_sample, following.start_sample, CUT_SEARCH_MS, CUT_FADE_MS))
        result.append(min(0, cut - end) or max(0, cut - start))
    return result


def engine_of(voice: str) -> str:
    return VOICES[voice].engine


def measure(backend: AlignBackend, items: Items) -> Json:
    """All figures of one backend; what it aligned is forgotten."""
    sentences, clips = list(sentence_clips(items)), list(phrase_clips(items))
    with tempfile.TemporaryDirectory() as folder:
        aligner = Aligner(MODELS[backend], backend, ItemStore("asr", Path(folder)))
        aligner.align(sentences[0][1].samples[: SAMPLE_RATE // 2], "loads")
        begun = time.process_time()
        phrases = joined_figures(aligner, clips)
        seconds = sum(len(clip.samples) for _, clip in clips) / SAMPLE_RATE
        return {
            "phrases": phrases,
            "real-time factor (processor)": round((time.process_time() - begun) / seconds, 3),
            "words": joined_figures(aligner, list(word_clips(items))),
            "engine timing": sentence_figures(aligner, sentences),
        }


def main() -> None:
    """Print the figures as JSON."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--backends", nargs="+", choices=sorted(MODELS), default=sorted(MODELS))
    options.add_argument("--items", choices=("held-out", "chosen-with"), default="held-out")
    chosen = options.parse_args()
    items = HELD_OUT if chosen.items == "held-out" else CHOSEN_WITH
    figures = {backend: measure(backend, items) for backend in chosen.backends}
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 1)
    print(json.dumps({"items": chosen.items, **figures, "peak memory GiB": peak}, indent=1))


if __name__ == "__main__":
    main()
