"""The recogniser's store, its bounds, and with real weights its words, its times and its sameness."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cares.asr import aligner as aligner_module
from cares.asr import recogniser as module
from cares.asr.recogniser import Recogniser
from cares.asr.types import AlignedWord, RecognisedWord
from cares.asr.wer import word_error_rate
from cares.asr.whisper_model import as_heard, to_sample
from cares.core.pcm import SAMPLE_RATE, Samples, write_samples
from cares.core.store import ItemStore

TEXT = "We could paint the fence on Sunday, if the rain stays away."


@pytest.fixture
def store(tmp_path: Path) -> ItemStore:
    return ItemStore("asr", tmp_path / "store")


@pytest.fixture
def heard(store: ItemStore, monkeypatch: pytest.MonkeyPatch) -> tuple[Recogniser, list[int]]:
    """A recogniser that hears one word in everything, and the lengths that it was asked to hear."""
    asked: list[int] = []

    def transcribe(self: Recogniser, samples: Samples) -> tuple[RecognisedWord, ...]:
        asked.append(len(samples))
        return (RecognisedWord(text="yes", start_sample=10, end_sample=20, confidence=0.5),)

    for part in (module, aligner_module):
        monkeypatch.setattr(part, "model_digest", lambda model_id: f"digest of {model_id}")
    monkeypatch.setattr(Recogniser, "_transcribe", transcribe)
    return Recogniser("toy", store), asked


def test_the_same_sound_is_heard_once(heard: tuple[Recogniser, list[int]], store: ItemStore, tmp_path: Path) -> None:
    recogniser, asked = heard
    sound = np.arange(9000, dtype=np.int16)
    path = tmp_path / "sound.flac"
    write_samples(path, sound)
    assert recogniser.words(sound) == recogniser.words(path) == Recogniser("toy", store).words(sound)
    assert asked == [9000]
    recogniser.words(sound[::-1].copy())
    Recogniser("other", store).words(sound)
    assert len(asked) == 3


def test_a_text_is_decoded_once_and_a_long_sound_has_the_text_of_its_words(
    heard: tuple[Recogniser, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    recogniser, asked = heard
    decoded: list[int] = []
    monkeypatch.setattr(Recogniser, "_decode", lambda self, samples: decoded.append(len(samples)) or "no")
    short, long = np.full(9000, 500, np.int16), np.full(31 * SAMPLE_RATE, 500, np.int16)
    assert [recogniser.text(short), recogniser.text(short), recogniser.text(long)] == ["no", "no", "yes"]
    assert decoded == [9000] and asked == [31 * SAMPLE_RATE]
    assert recogniser.text(np.zeros(10, np.int16)) == ""


def test_next_to_nothing_is_heard_as_nothing(heard: tuple[Recogniser, list[int]]) -> None:
    recogniser, asked = heard
    assert recogniser.words(np.zeros(0, np.int16)) == ()
    assert recogniser.words(np.full(4000, 500, np.int16)) == ()
    assert recogniser.words(np.full(90000, 30, np.int16)) == ()
    assert asked == []


def test_silence_and_no_text_need_no_model(heard: tuple[Recogniser, list[int]]) -> None:
    recogniser, _ = heard
    assert recogniser.align(np.ones(9000, np.int16), "  ") == ()
    silent = recogniser.align(np.zeros(9000, np.int16), "no sound")
    assert [word.timed for word in silent] == [False, False]


def test_more_than_a_window_is_refused(heard: tuple[Recogniser, list[int]]) -> None:
    with pytest.raises(ValueError, match="30 s"):
        heard[0].align(np.ones(31 * SAMPLE_RATE, np.int16), "too long")


def test_only_our_kind_of_samples_is_heard() -> None:
    with pytest.raises(TypeError):
        as_heard(np.zeros(100, np.float32))  # type: ignore[arg-type]
    assert as_heard(np.full(441, -32768, np.int16)).dtype == np.float32


@pytest.mark.parametrize(("seconds", "sample"), [(0.02, 882), (1.0, 44100), (-0.1, 0), (9.0, 50000)])
def test_times_become_samples_inside_the_file(seconds: float, sample: int) -> None:
    assert to_sample(seconds, 50000) == sample


@pytest.fixture(scope="module")
def speech() -> Samples:
    """The text, spoken by a Piper voice without noise, so that it is the same at every run."""
    import soxr
    from piper import PiperVoice, SynthesisConfig

    from cares.models.ensure import ensure

    voice = PiperVoice.load(str(ensure("piper-joe") / "en_US-joe-medium.onnx"))
    config = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0)
    spoken = np.concatenate([chunk.audio_float_array for chunk in voice.synthesize(TEXT, config)])
    resampled = soxr.resample(spoken, 22050, SAMPLE_RATE)
    return np.round(np.clip(resampled, -1, 1) * 32767).astype(np.int16)


@pytest.mark.models
def test_words_and_times_are_the_same_with_one_and_two_threads(speech: Samples, tmp_path: Path) -> None:
    import torch

    before = torch.get_num_threads()
    made: list[tuple[tuple[RecognisedWord, ...], tuple[AlignedWord, ...]]] = []
    for threads in (1, 2):
        recogniser = Recogniser(store=ItemStore("asr", tmp_path / str(threads)), threads=threads)
        made.append((recogniser.words(speech), recogniser.align(speech, TEXT)))
        assert word_error_rate(TEXT, recogniser.text(speech)) == 0
    for one, two in zip(*made, strict=True):
        # the last digits of a probability differ on some processors, so a worker has one thread
        for word, other in zip(one, two, strict=True):
            assert word.to_json() == pytest.approx(other.to_json(), abs=1e-4)
    assert torch.get_num_threads() == before
    words, aligned = made[0]
    assert word_error_rate(TEXT, " ".join(word.text for word in words)) == 0
    assert [word.text for word in aligned] == TEXT.split()
    assert all(word.timed for word in aligned)
    for found in (words, aligned):
        flat = [sample for word in found for sample in (word.start_sample, word.end_sample)]
        assert flat == sorted(flat) and flat[-1] <= len(speech)


@pytest.mark.models
def test_a_pause_in_known_words_is_found(speech: Samples, store: ItemStore) -> None:
    twice = np.concatenate([speech, np.zeros(SAMPLE_RATE, np.int16), speech])
    aligned = Recogniser(store=store).align(twice, f"{TEXT} {TEXT}")
    last, first = aligned[len(TEXT.split()) - 1], aligned[len(TEXT.split())]
    assert abs(last.end_sample - len(speech)) < 0.3 * SAMPLE_RATE
    assert abs(first.start_sample - len(speech) - SAMPLE_RATE) < 0.3 * SAMPLE_RATE
    assert first.start_sample - last.end_sample >= SAMPLE_RATE


@pytest.mark.models
def test_words_that_were_not_said_have_a_low_probability(speech: Samples, store: ItemStore) -> None:
    recogniser = Recogniser(store=store)
    said = recogniser.align(speech, TEXT)
    other = recogniser.align(speech, "Seven green elephants quietly borrowed my new umbrella again yesterday night.")
    mean = [float(np.mean([word.probability for word in found])) for found in (said, other)]
    assert mean[0] > 0.8 > 0.4 > mean[1]


@pytest.mark.models
def test_silence_is_heard_as_nothing(store: ItemStore) -> None:
    silence = np.zeros(3 * SAMPLE_RATE, np.int16)
    assert Recogniser(store=store).words(silence) == ()
    assert Recogniser(store=store).text(silence) == ""
