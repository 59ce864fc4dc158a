"""Spoken utterances and where their words lie."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cares.core.record import Record
from cares.records.bank import Sha256
from cares.records.names import DataPath, Name
from cares.records.scene import Speaker, Split

Sample = Annotated[int, Field(ge=0)]


class SpokenSegment(Record):
    """Which segment of the dialogue an utterance speaks, and how many of its words."""

    turn: Annotated[int, Field(ge=0)]
    segment: Annotated[int, Field(ge=0)]
    n_words: Annotated[int, Field(ge=1)]


class Utterance(Record):
    """One utterance in a scene's speech file: `n_samples` from `start_sample`, 44.1 kHz.

    `text` is what is heard. An utterance with a sound between two of its words speaks two segments ("joined").
    `level_cdb` is the level of its speech in centi-dB of full scale, `pause_ms` its longest pause, `letters_per_s` its
    pace with pauses left out, `voice_likeness` the cosine of its voiceprint with those of the speaker's others in the
    scene (null for less than a second, or when there are none).
    """

    index: Annotated[int, Field(ge=0)]
    turn: Annotated[int, Field(ge=0)]
    speaker: Speaker
    text: str
    segments: Annotated[tuple[SpokenSegment, ...], Field(min_length=1)]
    cut: bool
    voice: str
    engine: str
    tries: Annotated[int, Field(ge=1)]
    word_error_rate: Annotated[float, Field(ge=0)]
    start_sample: Sample
    n_samples: Annotated[int, Field(ge=1)]
    level_cdb: int = 0
    pause_ms: Annotated[int, Field(ge=0)] = 0
    letters_per_s: Annotated[float, Field(ge=0)] = 0.0
    voice_likeness: Annotated[float, Field(ge=-1, le=1)] | None = None


class SceneSpeech(Record):
    """One line of speech.jsonl. A scene that could not be spoken has a `failure` and no utterances."""

    scene_id: Name
    split: Split
    path: DataPath | Literal[""]
    pcm_sha256: Sha256 | None
    voices: tuple[str, str]
    utterances: tuple[Utterance, ...]
    failure: str = ""


class Word(Record):
    """One word of an utterance, in samples from the start of the scene's speech file.

    `interpolated` marks a time that the aligner did not give; such a word never places an event.
    """

    utterance: Annotated[int, Field(ge=0)]
    word: str
    start_sample: Sample
    end_sample: Sample
    confidence: Annotated[float, Field(ge=0, le=1)]
    interpolated: bool


class SceneAlignment(Record):
    """One line of alignment.jsonl."""

    scene_id: Name
    words: tuple[Word, ...]
