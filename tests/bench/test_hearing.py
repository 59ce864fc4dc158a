"""Transcripts of mixes and word error rates against counts made by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from cares.bench.hearing import count_errors, dry_errors, hear_scenes, mix_errors
from cares.core.errors import InputError
from cares.core.pcm import Samples
from cares.records.speech import SceneSpeech, SpokenSegment, Utterance
from cares.records.timeline import MixedScene
from cares.records.transcript import HeardWord, Transcript


class Recognised(NamedTuple):
    """A word as a recogniser gives it."""

    text: str
    start_sample: int
    end_sample: int


def lower(text: str) -> str:
    return re.sub(r"[^\w' ]", "", text.lower()).strip()


def test_every_file_is_read_whole_and_in_order(scenes: list[MixedScene], scene_files: Path) -> None:
    lengths: list[int] = []

    def recognise(samples: Samples) -> Sequence[Recognised]:
        lengths.append(len(samples))
        return [Recognised(" Hello,", 0, 10)]

    heard = hear_scenes(scenes, recognise, "whisper-base", scene_files)
    assert [transcript.scene_id for transcript in heard] == [scene.scene_id for scene in scenes]
    assert [transcript.audio_sha256 for transcript in heard] == [scene.sha256 for scene in scenes]
    assert set(lengths) == {44_100}
    assert heard[0].words == (HeardWord(word="Hello,", start_sample=0, end_sample=10),)


def test_a_missing_file_is_an_error_with_its_name(scenes: list[MixedScene], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=scenes[0].path):
        hear_scenes(scenes, lambda samples: [], "whisper-base", tmp_path)


@pytest.mark.parametrize(
    ("reference", "heard", "errors"),
    [
        ("So, what now?", "so what now", (0, 0, 0, 3)),
        ("one two three", "one too three", (1, 0, 0, 3)),
        ("one two three", "one three", (0, 1, 0, 3)),
        ("one three", "one two three", (0, 0, 1, 2)),
        ("one two", "", (0, 2, 0, 2)),
        ("...", "thank you", (0, 0, 2, 0)),
    ],
)
def test_counts_of_edits(reference: str, heard: str, errors: tuple[int, int, int, int]) -> None:
    assert tuple(count_errors(reference, heard, lower)) == errors


def test_the_rate_on_mixes_is_that_of_the_corpus(scenes: list[MixedScene]) -> None:
    def heard(scene: MixedScene, lost: int) -> Transcript:
        words = tuple(
            HeardWord(word=word.word, start_sample=word.start_sample, end_sample=word.end_sample)
            for word in scene.words[lost:]
        )
        return Transcript(scene_id=scene.scene_id, audio_sha256=scene.sha256, recogniser="w", words=words)

    found = mix_errors(scenes[:2], [heard(scenes[0], 9), heard(scenes[1], 0)], lower)
    assert found["word_error_rate"] == round(9 / 72, 4)
    assert (found["deletions"], found["words"]) == (9, 72)
    assert found["worst_scene"] == {"scene_id": "t00000-0", "word_error_rate": 0.25}


def test_the_rate_on_dry_speech_weighs_utterances_by_their_words() -> None:
    def utterance(index: int, text: str, rate: float) -> Utterance:
        return Utterance(
            index=index,
            turn=index,
            speaker="A",
            text=text,
            segments=(SpokenSegment(turn=index, segment=0, n_words=len(text.split())),),
            cut=False,
            voice="jf_alpha",
            engine="kokoro",
            tries=1,
            word_error_rate=rate,
            start_sample=0,
            n_samples=1,
        )

    def scene(scene_id: str, *utterances: Utterance) -> SceneSpeech:
        return SceneSpeech(
            scene_id=scene_id,
            split="train",
            path="data/speech/x.flac",
            pcm_sha256="0" * 64,
            voices=("jf_alpha", "jm_kumo"),
            utterances=utterances,
        )

    speech = [
        scene("t00000-0", utterance(0, "one two three four", 0.25), utterance(1, "yes", 1.0)),
        scene("t00001-0", utterance(0, "not in the data set", 1.0)),
    ]
    assert dry_errors(speech, {"t00000-0"}, lower) == {"word_error_rate": 0.4, "words": 5}
    assert dry_errors([], {"t00000-0"}, lower) == {"word_error_rate": None, "words": 0}
