"""Speed and accuracy of hearing and alignment: a Piper voice reports the durations of its own phonemes, the truth here.

Needs the package onnx, which Piper uses to read those durations; without it only the speed is measured.
"""

from __future__ import annotations

import importlib.util
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soxr
from piper import PiperVoice, SynthesisConfig

from cares.asr.recogniser import Recogniser
from cares.asr.types import AlignedWord
from cares.core.pcm import SAMPLE_RATE, Samples
from cares.core.store import ItemStore
from cares.models.ensure import ensure

TEXTS = (
    "We could paint the fence on Sunday, if the rain stays away.",
    "But what did Martha say about it when you told her yesterday?",
    "No, the whole panel is broken, and the gate won't close either.",
    "Wait, I thought we agreed to sell the old car before the winter starts.",
    "She keeps asking whether the children can swim well enough by now.",
    "The train was late again so I walked home through the park.",
)
BETWEEN_WORDS = frozenset(" ,.?!;:^$")


def speak(voice: PiperVoice, text: str, with_truth: bool) -> tuple[Samples, list[tuple[int, int]]]:
    """The text as 44.1 kHz samples, and start and end sample of each word if they are known."""
    config = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0)
    options = {"include_alignments": True} if with_truth else {}
    (chunk,) = voice.synthesize(text, config, **options)
    scale = SAMPLE_RATE / chunk.sample_rate
    words: list[tuple[int, int]] = []
    at, start = 0, None
    for phoneme in chunk.phoneme_alignments or [] if with_truth else []:
        if phoneme.phoneme in BETWEEN_WORDS and start is not None:
            words.append((round(start * scale), round(at * scale)))
            start = None
        elif phoneme.phoneme not in BETWEEN_WORDS and start is None:
            start = at
        at += phoneme.num_samples
    spoken = soxr.resample(chunk.audio_float_array, chunk.sample_rate, SAMPLE_RATE)
    return np.round(np.clip(spoken, -1, 1) * 32767).astype(np.int16), words


def spread(name: str, samples: list[int]) -> None:
    """Print median, median size, 90th percentile and largest of some errors, in milliseconds."""
    ms = np.array(samples) * 1000 / SAMPLE_RATE
    size = np.abs(ms)
    figures = (
        f"median {np.median(ms):+.0f}, median size {np.median(size):.0f}, 90 % within {np.percentile(size, 90):.0f}"
    )
    print(f"{name}: {figures}, largest {size.max():.0f} ms ({len(ms)} words)")


def timed(name: str, seconds: float, work: Callable[[], Any]) -> None:
    """Print wall and processor time of some work, as parts of the sound's length."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{name}: {seconds:.0f} s of sound, real-time factor {wall / seconds:.3f} (processor {cpu / seconds:.3f})")


Spoken = list[tuple[str, Samples, list[tuple[int, int]]]]


def measure(threads: int, spoken: Spoken) -> list[tuple[AlignedWord, ...]]:
    """Print the speed of each way of hearing with this many threads; returns what alignment found."""
    pause = np.zeros(SAMPLE_RATE // 2, np.int16)
    whole = np.concatenate([part for _, samples, _ in spoken * 2 for part in (samples, pause)])[: 60 * SAMPLE_RATE]
    seconds = sum(len(samples) for _, samples, _ in spoken) / SAMPLE_RATE
    with tempfile.TemporaryDirectory() as folder:
        recogniser = Recogniser(store=ItemStore("asr", Path(folder)), threads=threads)
        recogniser.align(whole[: 3 * SAMPLE_RATE], "loads the model")
        timed(f"text, threads: {threads}", seconds, lambda: [recogniser.text(part) for _, part, _ in spoken])
        timed(f"words, threads: {threads}", seconds, lambda: [recogniser.words(part) for _, part, _ in spoken])
        timed(f"words of one file, threads: {threads}", len(whole) / SAMPLE_RATE, lambda: recogniser.words(whole))
        timed(f"align, threads: {threads}", seconds, lambda: [recogniser.align(part, text) for text, part, _ in spoken])
        return [recogniser.align(samples, text) for text, samples, _ in spoken]


def main() -> None:
    """Measure with one and with two threads."""
    with_truth = importlib.util.find_spec("onnx") is not None
    voice = PiperVoice.load(str(ensure("piper-joe") / "en_US-joe-medium.onnx"), include_alignments=with_truth)
    spoken = [(text, *speak(voice, text, with_truth)) for text in TEXTS]
    found = measure(1, spoken)
    print(f"the same with two threads: {found == measure(2, spoken)}")
    if with_truth:
        truths = [truth for _, _, truth in spoken]
        pairs = [pair for words, truth in zip(found, truths, strict=True) for pair in zip(words, truth, strict=True)]
        spread("starts", [word.start_sample - start for word, (start, _) in pairs])
        spread("ends", [word.end_sample - end for word, (_, end) in pairs])
    else:
        print("no package onnx: accuracy was not measured")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")


if __name__ == "__main__":
    main()
