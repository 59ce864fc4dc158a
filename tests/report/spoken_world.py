"""Speech, alignment, mixes and metrics for the build of conftest.py: every utterance is one constant value."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cares.core.canonical import Json, write_json
from cares.core.pcm import encode, write_samples
from cares.core.record import read_records, write_records
from cares.records.dialogue import Dialogue
from cares.records.speech import SceneAlignment, SceneSpeech, SpokenSegment, Utterance, Word
from cares.records.timeline import Clip, MixedScene, Timeline
from cares.speech.break_measures import MEASURES, Measured
from cares.speech.break_params import BreakParams
from cares.speech.break_report import describe

SPOKEN_WORD = 4_410
LOUD = 100
FAILURE = "misheard: utterance 3, <b>heard</b> nothing"
SPREAD = {"lowest": 9.5, "p5": 11.0, "median": 14.5, "p95": 19.0, "highest": 20.9}
TIMES = {"n": 124, "median_ms": 32.5, "p95_ms": 132.0, "bias_ms": -4.0}


def value_of(index: int) -> int:
    """The sample value that the utterance consists of."""
    return LOUD * (index + 1)


def speak(dialogue: Dialogue) -> tuple[SceneSpeech, SceneAlignment]:
    """An utterance for every segment with words, "joined" ones with the one before; words of a tenth of a second."""
    spoken: list[tuple[int, list[int]]] = []
    for number, turn in enumerate(dialogue.turns):
        for place, segment in enumerate(turn.segments):
            if segment.event is None and segment.delivery == "joined":
                spoken[-1][1].append(place)
            elif segment.event is None:
                spoken.append((number, [place]))
    utterances: list[Utterance] = []
    words: list[Word] = []
    at = 0
    for index, (number, places) in enumerate(spoken):
        turn = dialogue.turns[number]
        text = " ".join(turn.segments[place].text for place in places)
        for place, word in enumerate(text.split()):
            start = at + place * SPOKEN_WORD
            words.append(
                Word(
                    utterance=index,
                    word=word,
                    start_sample=start,
                    end_sample=start + SPOKEN_WORD,
                    confidence=0.9,
                    interpolated=place == 1,
                )
            )
        length = len(text.split()) * SPOKEN_WORD
        utterances.append(
            Utterance(
                index=index,
                turn=number,
                speaker=turn.speaker,
                text=text,
                segments=tuple(
                    SpokenSegment(turn=number, segment=place, n_words=len(turn.segments[place].text.split()))
                    for place in places
                ),
                cut=turn.segments[places[-1]].delivery == "cut",
                voice="jf_alpha" if turn.speaker == "A" else "jm_kumo",
                engine="kokoro",
                tries=2,
                word_error_rate=0.125,
                start_sample=at,
                n_samples=length,
                pause_ms=210,
                letters_per_s=14.2 if index else 0.0,
                voice_likeness=0.91 if index else None,
            )
        )
        at += length
    speech = SceneSpeech(
        scene_id=dialogue.scene_id,
        split="train",
        path=f"data/speech/{dialogue.scene_id}.flac",
        pcm_sha256="0" * 64,
        voices=("jf_alpha", "jm_kumo"),
        utterances=tuple(utterances),
    )
    return speech, SceneAlignment(scene_id=dialogue.scene_id, words=tuple(words))


def samples_of(speech: SceneSpeech) -> np.ndarray[Any, np.dtype[np.int16]]:
    """The scene's speech file as samples [T]."""
    return np.concatenate([np.full(one.n_samples, value_of(one.index), np.int16) for one in speech.utterances])


def clips_of(speech: SceneSpeech, scene: MixedScene) -> tuple[Clip, ...]:
    """Each utterance from the first of its turn's words on that no utterance before it has used."""
    clips, used = [], dict[int, int]()
    for one in speech.utterances:
        words = [word for word in scene.words if word.turn == one.turn]
        first = used.get(one.turn, 0)
        used[one.turn] = first + len(one.text.split())
        clips.append(
            Clip(
                track=one.speaker,
                path=speech.path,
                pcm_sha256="0" * 64,
                source_start=one.start_sample,
                n_samples=one.n_samples,
                at_sample=words[first].start_sample,
                gain_cdb=0,
            )
        )
    return tuple(clips)


def write_speech(root: Path, scenes: list[MixedScene], dialogues: list[Dialogue] | None = None) -> list[SceneSpeech]:
    """Speak the build's dialogues, mix nothing but a ramp, and write all metrics; one scene has failed."""
    dialogues = dialogues or read_records(Dialogue, root / "data/dialogues/accepted.jsonl")
    timelines = read_records(Timeline, root / "data/timelines.jsonl")
    spoken = [speak(dialogue) for dialogue in dialogues]
    failed = SceneSpeech(
        scene_id="t00003-0",
        split="train",
        path="data/speech/t00003-0.flac",
        pcm_sha256=None,
        voices=("jf_alpha", "jm_kumo"),
        utterances=(),
        failure=FAILURE,
    )
    write_records(root / "data/speech/speech.jsonl", [*(speech for speech, _ in spoken), failed])
    write_records(root / "data/alignment.jsonl", [aligned for _, aligned in spoken])
    placed = []
    for (speech, _), scene, timeline in zip(spoken, scenes, timelines, strict=True):
        write_samples(root / speech.path, samples_of(speech))
        ramp = (np.arange(scene.n_samples) // 100).astype(np.int16)
        (root / scene.path).write_bytes(encode(ramp, container="WAV"))
        placed.append(timeline.model_copy(update={"clips": clips_of(speech, scene)}))
    write_records(root / "data/timelines.jsonl", placed)
    write_metrics(root)
    return [speech for speech, _ in spoken]


@cache
def break_figures() -> Json:
    """What the stage `breaks` writes of four breaks that are easily told from four ambient turns."""
    turns = [
        Measured(f"t{n:05d}", f"t{n:05d}-0", "ab"[n % 2], label, register, (float(n + shift),) * len(MEASURES))
        for n in range(4)
        for label, register, shift in (("behavioral", "break_restart", 20), ("ambient", "ambient_run_on", 0))
    ]
    params = BreakParams(folds=2, repeats=1, bootstrap=100, regularisation=1.0)
    return describe(turns, params, 1)


def write_metrics(root: Path) -> None:
    """metrics of speech, breaks, alignment and word errors, in the form of their stages."""
    speech = {
        "scenes": 4,
        "failed_scenes": 1,
        "failures": {"misheard": 1},
        "faults": {"misheard": 9, "other_voice": 2},
        "scenes_with_other_voices": 1,
        "utterances": 26,
        "utterances_spoken_again": 26,
        "tries": 52,
        "letters_per_s": SPREAD,
        "longest_pause_ms": SPREAD,
        "likeness_of_a_speakers_utterances": SPREAD,
        "likeness_of_two_speakers": {},
    }
    write_json(root / "metrics/speech.json", speech)
    breaks = break_figures()
    write_json(root / "metrics/breaks.json", {"dry": breaks, "mix": breaks})
    counts = {"scenes": 3, "words": 300, "interpolated_words": 3, "interpolated_share": 0.01, "mean_confidence": 0.95}
    timing = {"piper": {"utterances": 8, "starts": TIMES, "ends": {**TIMES, "n": 0, "bias_ms": None}}}
    write_json(root / "metrics/alignment.json", {**counts, "against_engine_timing": timing})
    dry = {"word_error_rate": 0.0146, "ci95": [0.009, 0.022], "words": 1643}
    write_json(root / "metrics/wer.json", {"dry": dry, "mix": {**dry, "word_error_rate": 0.0475, "ci95": None}})
