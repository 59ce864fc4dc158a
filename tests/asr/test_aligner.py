"""Forced alignment: what is refused, what is flagged, and with real models both backends' errors on known speech."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from cares.asr import aligner as module
from cares.asr.align import align_words
from cares.asr.aligner import Aligner
from cares.asr.attention_ct2 import Ct2Attention
from cares.asr.boundaries import Span
from cares.asr.pieces import Pieces, timed_pieces
from cares.asr.truth import NO_TIMING_ERRORS, KnownClip, KnownPart, joined, spread, timing_errors, without_silence
from cares.asr.types import AlignBackend, AlignedWord
from cares.core.errors import CaresError
from cares.core.pcm import SAMPLE_RATE, Samples
from cares.core.store import ItemStore
from cares.models.ensure import ensure
from cares.speech.engines import load_engine
from cares.speech.signal import to_samples

GAPS_MS = (50, 150, 300, 600)
CLIPS = (
    ("They promised to repair", "the heating on Friday", "although honestly", "I doubt it", "all the time"),
    ("So the doctor told", "me to rest", "excuse me", "the doctor told me", "that walking helps"),
)
VOICES = (("kokoro", "kokoro-82m", "jf_nezumi"), ("kokoro", "kokoro-82m", "jm_kumo"), ("piper", "piper-joe", ""))
MODELS: dict[AlignBackend, str] = {"whisper-timestamped": "whisper-base", "faster-whisper": "whisper-base-ct2"}
HAS_CT2 = importlib.util.find_spec("ctranslate2") is not None


class Evenly:
    """Attention that gives every word the same time."""

    def __init__(self, probability: float = 1.0) -> None:
        self.probability = probability

    def attend(self, samples: Samples, words: Sequence[str]) -> list[tuple[Span, float]]:
        step = len(samples) / SAMPLE_RATE / len(words)
        return [(Span(place * step, (place + 1) * step), self.probability) for place in range(len(words))]


def noise(seconds: float) -> Samples:
    return np.random.default_rng(1).integers(-8000, 8000, round(seconds * SAMPLE_RATE), dtype=np.int16)


def test_a_word_that_is_all_but_impossible_too_short_or_too_long_is_flagged() -> None:
    assert not any(word.timed for word in align_words(Evenly(1e-6), noise(2), ["no", "such", "words"]))
    assert all(word.timed for word in align_words(Evenly(), noise(2), ["three", "long", "words"]))
    assert not align_words(Evenly(), noise(5), ["eternity"])[0].timed
    crowd = align_words(Evenly(), noise(0.2), ["word"] * 30)
    assert [word.timed for word in crowd].count(False) >= 25


def test_silence_is_flagged_without_any_attention() -> None:
    class Never(Evenly):
        def attend(self, samples: Samples, words: Sequence[str]) -> list[tuple[Span, float]]:
            raise AssertionError

    assert align_words(Never(), np.zeros(9000, np.int16), ["a", "b"])[1].timed is False
    assert align_words(Never(), noise(1), []) == ()


def test_a_path_becomes_spans_with_punctuation_left_out() -> None:
    pieces = Pieces(("so", ",", "what"), ((1,), (2,), (3, 4)), (0, None, 1))
    path = [(0, 0), (0, 1), (1, 5), (2, 20), (2, 21), (3, 25), (4, 30)]
    spans = timed_pieces(pieces, path, [0.5, 0.1, 0.8, 0.6])
    assert spans == [(Span(0.0, 0.1), 0.5), (Span(0.4, 0.6), pytest.approx(0.7))]


def test_a_missing_library_is_told_with_the_extra_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(module, "model_digest", lambda model_id: "digest")
    monkeypatch.setattr(metadata, "version", version)
    with pytest.raises(CaresError, match=r"openai-whisper is not installed.*\[build\]"):
        Aligner("toy", "faster-whisper", ItemStore("asr", tmp_path))


def test_backends_keep_their_results_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []

    class Told(Evenly):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def attend(self, samples: Samples, words: Sequence[str]) -> list[tuple[Span, float]]:
            asked.append(self.name)
            return super().attend(samples, words)

    monkeypatch.setattr(module, "model_digest", lambda model_id: "digest")
    monkeypatch.setattr(module, "_version", lambda name: "1")
    monkeypatch.setattr(module, "ensure", lambda model_id: tmp_path)
    monkeypatch.setattr(module, "Ct2Attention", lambda folder: Told("ct2"))
    monkeypatch.setattr(module, "TorchAttention", lambda load: Told("torch"))
    backends: tuple[AlignBackend, ...] = ("whisper-timestamped", "faster-whisper", "whisper-timestamped")
    for backend in backends:
        Aligner("toy", backend, ItemStore("asr", tmp_path / "store")).align(noise(1), "one two")
    assert asked == ["torch", "ct2"]


@pytest.mark.skipif(not HAS_CT2, reason="needs the extra faster-whisper")
def test_a_folder_of_another_form_is_told(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(CaresError, match="whisper-base-ct2"):
        Ct2Attention(tmp_path).attend(noise(1), ["yes"])


def test_a_model_in_the_other_backends_form_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "model_digest", lambda model_id: "digest")
    monkeypatch.setattr(module, "ensure", lambda model_id: tmp_path)
    aligner = Aligner("whisper-base-ct2", "whisper-timestamped", ItemStore("asr", tmp_path / "store"))
    with pytest.raises(CaresError, match=r"align\.backend to faster-whisper"):
        aligner.align(noise(1), "one two")


@cache
def known_clips() -> tuple[KnownClip, ...]:
    """Phrases that were spoken apart, joined with each gap at some place."""
    clips = []
    for name, model, voice in VOICES:
        engine = load_engine(name, model, ensure(model))
        for index, phrases in enumerate(CLIPS):
            parts = []
            for phrase in phrases:
                speech = engine.speak(phrase, voice, 1.0, 1)
                sound = without_silence(to_samples(speech.samples, speech.rate))
                parts.append(KnownPart(sound, tuple(phrase.split())))
            gaps = [GAPS_MS[(index + place) % 4] * SAMPLE_RATE // 1000 for place in range(len(parts) - 1)]
            clips.append(joined(parts, gaps, around=1764))
    return tuple(clips)


def aligned(aligner: Aligner, clip: KnownClip) -> tuple[AlignedWord, ...]:
    return aligner.align(clip.samples, " ".join(clip.words))


@pytest.mark.models
@pytest.mark.parametrize("backend", sorted(MODELS))
def test_break_boundaries_are_within_the_bounds_on_known_speech(backend: AlignBackend, tmp_path: Path) -> None:
    if backend == "faster-whisper" and not HAS_CT2:
        pytest.skip("needs the extra faster-whisper")
    aligner = Aligner(MODELS[backend], backend, ItemStore("asr", tmp_path))
    errors = sum((timing_errors(clip, aligned(aligner, clip)) for clip in known_clips()), NO_TIMING_ERRORS)
    figures = spread(errors.at_breaks)
    assert figures["n"] == 2 * 4 * len(VOICES) * len(CLIPS)
    assert figures["median_ms"] <= 40 and figures["p95_ms"] <= 120
    assert errors.missed == 0


@pytest.mark.models
@pytest.mark.skipif(not HAS_CT2, reason="needs the extra faster-whisper")
def test_the_backends_agree_where_there_is_a_pause(tmp_path: Path) -> None:
    clip = known_clips()[0]
    one, other = (aligned(Aligner(MODELS[b], b, ItemStore("asr", tmp_path)), clip) for b in MODELS)
    near = [abs(a.start_sample - b.start_sample) <= 0.05 * SAMPLE_RATE for a, b in zip(one, other, strict=True)]
    assert np.mean(near) >= 0.8


@pytest.mark.models
@pytest.mark.parametrize("backend", sorted(MODELS))
def test_thread_counts_move_no_word(backend: AlignBackend, tmp_path: Path) -> None:
    if backend == "faster-whisper" and not HAS_CT2:
        pytest.skip("needs the extra faster-whisper")
    clip = known_clips()[0]
    made = [
        aligned(Aligner(MODELS[backend], backend, ItemStore("asr", tmp_path / str(n)), threads=n), clip) for n in (1, 2)
    ]
    for one, two in zip(*made, strict=True):
        # sums of other parts: the last digits of a probability differ on some processors, so a worker has one thread
        assert one.to_json() == pytest.approx(two.to_json(), abs=1e-4)


@pytest.mark.models
def test_bad_input_gives_flags_or_a_message_and_always_rising_words(tmp_path: Path) -> None:
    aligner = Aligner(store=ItemStore("asr", tmp_path))
    clip = known_clips()[-1]
    half, text = clip.samples[: len(clip.samples) // 2], " ".join(clip.words)
    other = "Seven green elephants quietly borrowed my new umbrella again"
    for sound, words in ((half, text), (clip.samples, other), (clip.samples, "They"), (noise(2), text)):
        found = aligner.align(sound, words)
        flat = [sample for word in found for sample in (word.start_sample, word.end_sample)]
        assert flat == sorted(flat) and flat[-1] <= len(sound)
        assert len(found) == len(words.split())
        sure = np.mean([word.probability for word in aligner.align(clip.samples, text)])
        assert np.mean([word.probability for word in found]) < sure
    with pytest.raises(ValueError, match="tokens to align"):
        aligner.align(clip.samples, "word " * 500)
    with pytest.raises(ValueError, match="30 s"):
        aligner.align(noise(31), "too long")
