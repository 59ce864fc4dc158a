"""Alignment of a set: the same words from one and two workers; the cross-check against the engine's own timing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cares.core.pcm import samples_digest, write_samples
from cares.models.ensure import ensure
from cares.records.speech import SceneSpeech, SpokenSegment, Utterance
from cares.speech.crosscheck import cross_check, known_clip
from cares.speech.engines import Speech, TimedWord, load_engine
from cares.speech.params import AlignParams
from cares.speech.signal import to_samples
from cares.speech.work import align_scenes

TEXTS = (
    ("My neighbour borrowed the ladder last month.", "And he never brought it back?"),
    ("There is a small bakery next to the bank.", "Then we should go there on Sunday."),
)


def utterance(index: int, text: str, start: int, n_samples: int) -> Utterance:
    return Utterance(
        index=index,
        turn=index,
        speaker="AB"[index % 2],
        text=text,
        segments=(SpokenSegment(turn=index, segment=0, n_words=len(text.split())),),
        cut=False,
        voice="joe",
        engine="piper",
        tries=1,
        word_error_rate=0.0,
        start_sample=start,
        n_samples=n_samples,
    )


def spoken_set(root: Path) -> list[SceneSpeech]:
    engine = load_engine("piper", "piper-joe", ensure("piper-joe"))
    scenes = []
    for number, texts in enumerate(TEXTS):
        clips = [to_samples(speech.samples, speech.rate) for speech in (engine.speak(t, "", 1.0, 7) for t in texts)]
        samples = np.concatenate(clips)
        write_samples(root / f"{number}.flac", samples)
        starts = [0, len(clips[0])]
        scenes.append(
            SceneSpeech(
                scene_id=f"t0000{number}-0",
                split="train",
                path=f"{number}.flac",
                pcm_sha256=samples_digest(samples),
                voices=("joe", "joe"),
                utterances=tuple(utterance(i, texts[i], starts[i], len(clips[i])) for i in range(2)),
            )
        )
    return scenes


def test_an_engines_times_become_samples_of_ours_and_unknown_ones_stay_unknown() -> None:
    speech = Speech(np.full(24_000, 0.1, np.float32), 24_000, (TimedWord(0, None), TimedWord(None, 12_000)))
    clip = known_clip(speech, "of the")
    assert clip is not None
    assert (clip.starts, clip.ends) == ((0, None), (None, 22_050)) and len(clip.samples) == 44_100
    assert known_clip(speech._replace(words=None), "of the") is None


def test_nothing_to_cross_check_gives_no_figures() -> None:
    assert cross_check([], AlignParams(recogniser="whisper-base", cross_checks=5)) == {}


@pytest.mark.models
def test_a_set_is_aligned_the_same_by_one_and_two_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speech = spoken_set(tmp_path)
    params = AlignParams(recogniser="whisper-base", cross_checks=2)
    made = []
    for workers in ("1", "2"):
        monkeypatch.setenv("CARES_WORKERS", workers)
        monkeypatch.setenv("CARES_STORE", str(tmp_path / workers))
        made.append((list(align_scenes(speech, params, tmp_path)), cross_check(speech, params)))
    assert made[0] == made[1]
    for scene, aligned in zip(speech, made[0][0], strict=True):
        for one in scene.utterances:
            words = [word for word in aligned.words if word.utterance == one.index]
            flat = [sample for word in words for sample in (word.start_sample, word.end_sample)]
            assert flat == sorted(flat)
            assert one.start_sample <= flat[0] and flat[-1] <= one.start_sample + one.n_samples
    figures = made[0][1]["piper"]
    assert figures["utterances"] == 2
    assert figures["starts"]["median_ms"] <= 60


@pytest.mark.models
def test_what_a_cross_check_speaks_is_spoken_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speech = spoken_set(tmp_path)
    params = AlignParams(recogniser="whisper-base", cross_checks=1)
    monkeypatch.setenv("CARES_WORKERS", "1")
    monkeypatch.setenv("CARES_STORE", str(tmp_path / "store"))
    first = cross_check(speech, params)

    def refused(*_: object) -> None:
        raise AssertionError("a voice was loaded")

    monkeypatch.setattr("cares.speech.crosscheck.load_engine", refused)
    assert cross_check(speech, params) == first
