"""Transcripts of mixes and word error rates against counts made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cares.asr.types import RecognisedWord
from cares.bench.hearing import dry_errors, hear_scenes, mix_errors
from cares.core.errors import InputError
from cares.core.pcm import Samples
from cares.records.speech import SceneSpeech, SpokenSegment, Utterance
from cares.records.timeline import MixedScene
from cares.records.transcript import HeardWord, Transcript


def test_every_file_is_read_whole_and_in_order(scenes: list[MixedScene], scene_files: Path) -> None:
    lengths: list[int] = []

    def recognise(samples: Samples) -> Sequence[RecognisedWord]:
        lengths.append(len(samples))
        return [RecognisedWord(text="Hello,", start_sample=0, end_sample=10, confidence=1.0)]

    heard = list(hear_scenes(scenes, recognise, "whisper-base", scene_files))
    assert [transcript.scene_id for transcript in heard] == [scene.scene_id for scene in scenes]
    assert [transcript.audio_sha256 for transcript in heard] == [scene.sha256 for scene in scenes]
    assert set(lengths) == {44_100}
    assert heard[0].words == (HeardWord(word="Hello,", start_sample=0, end_sample=10),)


def test_a_missing_file_is_an_error_with_its_name(scenes: list[MixedScene], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=scenes[0].path):
        list(hear_scenes(scenes, lambda samples: [], "whisper-base", tmp_path))


def test_the_rate_on_mixes_is_that_of_the_corpus(scenes: list[MixedScene]) -> None:
    plain = ["Paint,", "the", "old", "fence", "before"]
    scenes = [
        scene.model_copy(
            update={
                "words": tuple(
                    word.model_copy(update={"word": plain[n % len(plain)]}) for n, word in enumerate(scene.words)
                )
            }
        )
        for scene in scenes
    ]

    def heard(scene: MixedScene, lost: int) -> Transcript:
        words = tuple(
            HeardWord(word=word.word, start_sample=word.start_sample, end_sample=word.end_sample)
            for word in scene.words[lost:]
        )
        return Transcript(scene_id=scene.scene_id, audio_sha256=scene.sha256, recogniser="w", words=words)

    found = mix_errors(scenes[:2], [heard(scenes[0], 9), heard(scenes[1], 0)], 200, 1)
    assert found["word_error_rate"] == round(9 / 72, 4)
    assert (found["deletions"], found["words"]) == (9, 72)
    assert found["ci95"] == [0.0, 0.25]
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
        scene("t00000-0", utterance(0, "Paint the old fence.", 0.25), utterance(1, "yes", 1.0)),
        scene("t00001-0", utterance(0, "not in the data set", 1.0)),
    ]
    assert dry_errors(speech, {"t00000-0": "t00000"}, 50, 1) == {"word_error_rate": 0.4, "ci95": None, "words": 5}
    assert dry_errors([], {"t00000-0": "t00000"}, 50, 1) == {"word_error_rate": None, "ci95": None, "words": 0}
    both = dry_errors(speech, {"t00000-0": "t00000", "t00001-0": "t00001"}, 200, 1)
    assert both["ci95"] is not None and both["ci95"][0] <= both["word_error_rate"] <= both["ci95"][1]
